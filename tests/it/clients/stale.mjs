// The TypeScript SDK with a list that it keeps: `stale.mjs PLAN COMMAND…` calls tools, has the packs change, and calls again.
import { execSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [file, command, ...args] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file));
const load = createRequire(`${process.env.TOOLSD_CLIENTS}/insp/`);
const { Client } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
const client = new Client({ name: "stale", version: "0" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args }));
const works = async ({ tool, arguments: given }) => {
  try {
    return (await client.callTool({ name: tool, arguments: given })).isError ? "failed" : "";
  } catch (error) {
    return String(error);
  }
};
const all = async () => {
  const outcomes = [];
  for (const call of plan.calls) outcomes.push(await works(call));
  return outcomes;
};
for (let cursor; ; ) {
  const page = await client.listTools(cursor ? { cursor } : undefined);
  if (!(cursor = page.nextCursor)) break;
}
const before = await all();
execSync(plan.change);
for (let tries = 0; tries < 600; tries++) {
  if ((await client.callTool({ name: "marker", arguments: {} })).content[0].text === "new") break;
  await new Promise((done) => setTimeout(done, 100));
}
console.log(JSON.stringify({ before, after: await all() }));
await client.close();
