// The echo tool of the bench on the TypeScript SDK; benches/run copies it beside the SDK that it installs.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "typescript-server", version: "0.1.0" });
const echo = { description: "Returns the text unchanged.", inputSchema: { text: z.string().describe("Any text") } };
server.registerTool("echo", echo, async ({ text }) => ({ content: [{ type: "text", text }] }));
await server.connect(new StdioServerTransport());
