// The Inspector's command lines: `inspector.mjs MODE PLAN COMMAND…` does the steps of a plan and prints a line of JSON
// for each. MODE is `cli` (one process a step) or `do` (`mcpdo`: a connection that stays, and can be asked), with the
// era behind a colon: `cli:legacy`. The package is that of $TOOLSD_CLIENTS.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [mode, text, ...command] = process.argv.slice(2);
const [way, era] = mode.split(":");
const plan = JSON.parse(text);
const own = mkdtempSync(join(tmpdir(), "toolsd-inspector-"));
const bin = join(process.env.TOOLSD_CLIENTS, "insp/node_modules/.bin");
const environment = {
  ...process.env,
  HOME: own,
  MCP_INSPECTOR_SECRET_STORE: "file",
  MCP_INSPECTOR_DAEMON_DIR: join(own, "daemon"),
  MCP_INSPECTOR_DAEMON_TOKEN: "a-token-of-this-test-alone-0123456789",
};

/** What a program printed: its standard output as JSON, else its standard error. */
const run = (program, words) =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(bin, program), ...words], { env: environment }, (_, out, err) => {
      const lines = `${out}\n${err}`.split("\n").filter((line) => line.startsWith("{"));
      const whole = out.trim().startsWith("{") ? out : (lines[0] ?? "{}");
      try {
        resolve(JSON.parse(whole));
      } catch {
        resolve(JSON.parse(lines[0] ?? "{}"));
      }
    });
  });

const content = (blocks) => blocks.map((block) => (block.type === "text" ? block.text : block.type));
const shown = {
  tools: ({ tools }) => ({ names: tools.map((tool) => tool.name) }),
  call: ({ content: blocks, structuredContent, isError }) => ({
    content: content(blocks),
    structured: structuredContent,
    failed: !!isError,
  }),
  read: ({ contents }) => ({ parts: contents.map((part) => part.text ?? part.blob) }),
  prompt: ({ messages }) => ({ messages: content(messages.map((message) => message.content)) }),
  version: ({ protocolVersion }) => ({ version: protocolVersion }),
};
const pairs = (map, sign) => Object.entries(map ?? {}).map(([key, value]) => `${key}${sign}${value}`);

/** The words of one step for `mcp-inspector --cli`. */
const cli = {
  tools: () => ["--method", "tools/list"],
  call: (step) => [
    ...["--method", "tools/call", "--tool-name", step.tool],
    ...["--tool-args-json", JSON.stringify(step.arguments ?? {})],
  ],
  read: (step) => ["--method", "resources/read", "--uri", step.uri],
  prompt: (step) => {
    const given = pairs(step.arguments, "=");
    const all = given.length ? ["--prompt-args", ...given] : [];
    return ["--method", "prompts/get", "--prompt-name", step.name, ...all];
  },
};

/** The words of one step for `mcpdo`. */
const does = {
  version: () => ["connections/show"],
  call: (step) => ["tools/call", step.tool, JSON.stringify(step.arguments ?? {})],
  ...{ tools: () => ["tools/list"], read: (step) => ["resources/read", step.uri] },
};

const viaCli = async (step) => {
  const front = ["--cli", "-q", "--format", "json", "--protocol-era", era];
  return (await run("mcp-inspector", [...front, ...cli[step.do](step), "--", ...command])).result;
};

const viaDo = async (step) => {
  const at = ["--connection", "t", "--format", "json"];
  let came = await run("mcpdo", [...at, ...does[step.do](step)]);
  for (let pending = came.elicitationPending; pending; pending = came.elicitationPending) {
    const answer = plan.answers[pending.message];
    const said = answer ? [JSON.stringify(answer)] : ["--decline"];
    came = await run("mcpdo", [...at, "elicitation/respond", pending.elicitationId, ...said]);
  }
  return came;
};

if (way === "do") {
  await run("mcpdo", ["--format", "json", "connect", "--connection", "t", "--era", era, "--elicit", "form", "--", ...command]);
}
try {
  for (const step of plan.steps) {
    const came = await (way === "do" ? viaDo : viaCli)(step);
    let did;
    try {
      did = shown[step.do](came);
    } catch {
      did = { refused: came };
    }
    console.log(JSON.stringify(did));
  }
} finally {
  if (way === "do") {
    await run("mcpdo", ["--connection", "t", "disconnect"]);
    await run("mcpdo", ["daemon", "stop"]);
  }
  rmSync(own, { recursive: true, force: true });
}
