"""An MCP client that drives a server over standard streams and prints one line of JSON: `client.py COMMAND…`.

It is the Python SDK `mcp` where that is installed, otherwise a minimal client of its own."""

import asyncio
import importlib.metadata
import json
import os
import subprocess
import sys
import time

TOOL, ARGUMENTS = "greet_hello", {"name": "Ada"}


async def drive_with_sdk(command: list[str]) -> dict:
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    start = time.monotonic()
    async with Client(server) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        seconds = time.monotonic() - start
        result = (await client.call_tool(TOOL, ARGUMENTS)).structured_content
    name = f"Python SDK {importlib.metadata.version('mcp')}"
    return {"client": name, "seconds": seconds, "tools": tools, "result": result}


def drive_alone(command: list[str]) -> dict:
    start = time.monotonic()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(message: dict) -> None:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def ask(method: str, parameters: dict) -> dict:
        send({"id": method, "method": method, "params": parameters})
        for line in server.stdout:
            if (message := json.loads(line)).get("id") == method:
                return message["result"]
        raise SystemExit(f"the server ended before its response to {method}")

    client = {"name": "ship", "version": "1"}
    ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    send({"method": "notifications/initialized"})
    tools = [tool["name"] for tool in ask("tools/list", {})["tools"]]
    seconds = time.monotonic() - start
    result = ask("tools/call", {"name": TOOL, "arguments": ARGUMENTS})["structuredContent"]
    server.stdin.close()
    server.wait(10)
    return {"client": "minimal client", "seconds": seconds, "tools": tools, "result": result}


if __name__ == "__main__":
    try:
        print(json.dumps(asyncio.run(drive_with_sdk(sys.argv[1:]))))
    except ModuleNotFoundError:
        print(json.dumps(drive_alone(sys.argv[1:])))
