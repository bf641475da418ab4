"""fastmcp: `fast.py MODE PLAN COMMAND…` does the steps of a plan and prints a line of JSON for each."""

import asyncio
import json
import sys

import mcp.types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from mcp import MCPError


def content(blocks):
    return [block.text if block.type == "text" else block.type for block in blocks]


async def main():
    mode, plan, command, *arguments = sys.argv[1:]
    plan = json.loads(plan)
    seen = {}

    async def elicit(message, response_type, params, context):
        answer = plan["answers"].get(message)
        return ElicitResult(action="accept", content=answer) if answer else ElicitResult(action="decline")

    async def log(message):
        seen.setdefault("logs", []).append(message.data)

    async def progress(done, total, message):
        seen.setdefault("progress", []).append([done, total])

    async def do(client, step):
        match step["do"]:
            case "version":
                return {"version": client.protocol_version}
            case "tools":
                return {"names": [tool.name for tool in await client.list_tools()]}
            case "call":
                result = await client.call_tool(step["tool"], step.get("arguments", {}), raise_on_error=False)
                return {"content": content(result.content), "structured": result.structured_content,
                        "failed": bool(result.is_error)}
            case "read":
                parts = await client.read_resource(step["uri"])
                return {"parts": [getattr(part, "text", None) or part.blob for part in parts]}
            case "prompt":
                messages = (await client.get_prompt(step["name"], step.get("arguments", {}))).messages
                return {"messages": content(message.content for message in messages)}
            case "complete":
                prompt = types.PromptReference(type="ref/prompt", name=step["name"])
                result = await client.complete(prompt, {"name": step["argument"], "value": step["value"]})
                return {"values": result.values}
            case other:
                raise ValueError(other)

    options = {} if mode == "default" else {"mode": mode}
    server = StdioTransport(command=command, args=arguments)
    handlers = {"elicitation_handler": elicit, "log_handler": log, "progress_handler": progress}
    async with Client(server, **handlers, **options) as client:
        for step in plan["steps"]:
            seen.clear()
            try:
                did = await do(client, step)
            except MCPError as error:
                did = {"code": error.error.code}
            print(json.dumps({**did, **seen}), flush=True)


asyncio.run(main())
