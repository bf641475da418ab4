"""Asks the server of elspais: a line with a folder and calls comes in, a line with their results goes out.

The tools are called through the server object that `elspais mcp serve` runs, without its framing: importing it takes
seconds, which one process spends once for all projects.
"""
import asyncio
import contextlib
import io
import json
import os
import sys
from pathlib import Path

from elspais.mcp.server import create_server


async def answers(server, calls):
    found = []
    for tool, arguments in calls:
        try:
            _, structured = await server.call_tool(tool, arguments)
            found.append(structured)
        except Exception as error:
            found.append({"raised": f"{type(error).__name__}: {error}"})
    return found


def ask(folder, calls):
    os.chdir(folder)
    try:
        server = create_server(working_dir=Path.cwd())
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}
    return asyncio.run(answers(server, calls))


for line in sys.stdin:
    wanted = json.loads(line)
    # What the original prints on the way is none of the answers.
    with contextlib.redirect_stdout(io.StringIO()):
        answer = ask(wanted["folder"], wanted["calls"])
    print(json.dumps(answer), flush=True)
