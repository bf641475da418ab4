"""The Python SDK with a list that it keeps: `stale.py PLAN COMMAND…` calls tools, has the packs change, and calls again."""

import asyncio
import json
import subprocess
import sys

from mcp import Client, StdioServerParameters


async def main():
    plan, command, *arguments = sys.argv[1:]
    plan = json.load(open(plan))

    async def works(client, call):
        try:
            result = await client.call_tool(call["tool"], call["arguments"])
        except Exception as error:
            return str(error)
        return "failed" if result.is_error else ""

    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        await client.list_tools()
        before = [await works(client, call) for call in plan["calls"]]
        subprocess.run(plan["change"], shell=True, check=True)
        for _ in range(600):
            if (await client.call_tool("marker", {})).content[0].text == "new":
                break
            await asyncio.sleep(0.1)
        after = [await works(client, call) for call in plan["calls"]]
        print(json.dumps({"before": before, "after": after}))


asyncio.run(main())
