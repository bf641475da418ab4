// The TypeScript SDKs: `typescript.mjs MODE PLAN COMMAND…` does the steps of a plan and prints a line of JSON for each.
// MODE is `v1` for the old package, else what the new one negotiates. The packages are those of $TOOLSD_CLIENTS.
import { createRequire } from "node:module";

const [mode, text, command, ...args] = process.argv.slice(2);
const plan = JSON.parse(text);
const load = createRequire(`${process.env.TOOLSD_CLIENTS}/insp/`);
let seen = {};
const note = (key, value) => (seen[key] ??= []).push(value);
const elicit = async ({ params }) => {
  const content = plan.answers[params.message];
  return content ? { action: "accept", content } : { action: "decline" };
};
const log = ({ params }) => note("logs", params.data);

let client;
let version;
if (mode === "v1") {
  const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
  const { ElicitRequestSchema, LoggingMessageNotificationSchema } = load("@modelcontextprotocol/sdk/types.js");
  client = new Client({ name: "v1", version: "0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, elicit);
  client.setNotificationHandler(LoggingMessageNotificationSchema, log);
  const transport = new StdioClientTransport({ command, args });
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (chosen) => ((version = chosen), told?.(chosen));
  await client.connect(transport);
} else {
  const { Client } = load("@modelcontextprotocol/client");
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
  const options = { capabilities: { elicitation: { form: {} } } };
  if (mode !== "default") options.versionNegotiation = { mode: /^\d/.test(mode) ? { pin: mode } : mode };
  client = new Client({ name: "v2", version: "0" }, options);
  client.setRequestHandler("elicitation/create", elicit);
  client.setNotificationHandler("notifications/message", log);
  await client.connect(new StdioClientTransport({ command, args }));
  version = client.getNegotiatedProtocolVersion();
}

const content = (blocks) => blocks.map((block) => (block.type === "text" ? block.text : block.type));
const actions = {
  version: async () => ({ version }),
  tools: async () => ({ names: (await client.listTools()).tools.map((tool) => tool.name) }),
  call: async ({ tool, arguments: given = {} }) => {
    const options = { onprogress: ({ progress, total }) => note("progress", [progress, total]) };
    const request = [{ name: tool, arguments: given }, ...(mode === "v1" ? [undefined] : []), options];
    const result = await client.callTool(...request);
    return { content: content(result.content), structured: result.structuredContent, failed: !!result.isError };
  },
  read: async ({ uri }) => {
    const { contents } = await client.readResource({ uri });
    return { parts: contents.map((part) => part.text ?? part.blob) };
  },
  prompt: async ({ name, arguments: given = {} }) => {
    const { messages } = await client.getPrompt({ name, arguments: given });
    return { messages: content(messages.map((message) => message.content)) };
  },
  complete: async ({ name, argument, value }) => {
    const request = { ref: { type: "ref/prompt", name }, argument: { name: argument, value } };
    return { values: (await client.complete(request)).completion.values };
  },
};
for (const step of plan.steps) {
  seen = {};
  const did = await actions[step.do](step).catch((error) => {
    if (typeof error.code !== "number") throw error;
    return { code: error.code };
  });
  console.log(JSON.stringify({ ...did, ...seen }));
}
await client.close();
