"""The Python SDK `mcp`: `python.py MODE PLAN COMMAND…` does the steps of a plan and prints a line of JSON for each."""

import asyncio
import json
import sys

import mcp.types as types
from mcp import Client, StdioServerParameters


def content(blocks):
    return [block.text if block.type == "text" else block.type for block in blocks]


async def main():
    mode, plan, command, *arguments = sys.argv[1:]
    plan = json.loads(plan)
    seen = {}

    async def elicit(context, params):
        answer = plan["answers"].get(params.message)
        return types.ElicitResult(action="accept", content=answer) if answer else types.ElicitResult(action="decline")

    async def log(params):
        seen.setdefault("logs", []).append(params.data)

    async def progress(done, total, message):
        seen.setdefault("progress", []).append([done, total])

    async def do(client, step):
        match step["do"]:
            case "version":
                return {"version": client.protocol_version}
            case "tools":
                return {"names": [tool.name for tool in (await client.list_tools()).tools]}
            case "call":
                result = await client.call_tool(step["tool"], step.get("arguments", {}), progress_callback=progress)
                return {"content": content(result.content), "structured": result.structured_content,
                        "failed": bool(result.is_error)}
            case "read":
                parts = (await client.read_resource(step["uri"])).contents
                return {"parts": [getattr(part, "text", None) or part.blob for part in parts]}
            case "prompt":
                messages = (await client.get_prompt(step["name"], step.get("arguments", {}))).messages
                return {"messages": content(message.content for message in messages)}
            case "complete":
                prompt = types.PromptReference(type="ref/prompt", name=step["name"])
                result = await client.complete(prompt, {"name": step["argument"], "value": step["value"]})
                return {"values": result.completion.values}
            case other:
                raise ValueError(other)

    options = {} if mode == "default" else {"mode": mode}
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server, elicitation_callback=elicit, logging_callback=log, **options) as client:
        for step in plan["steps"]:
            seen.clear()
            try:
                did = await do(client, step)
            except mcp_error() as error:
                did = {"code": error.error.code}
            print(json.dumps({**did, **seen}), flush=True)


def mcp_error():
    from mcp import MCPError

    return MCPError


asyncio.run(main())
