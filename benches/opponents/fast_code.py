"""The tools of benches/packs/tools.d/code.toml on FastMCP; with --code-mode behind its code mode. benches/run installs it."""

import asyncio
import sys

from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode
from typing_extensions import TypedDict


class Row(TypedDict):
    id: str
    title: str
    body: str


server = FastMCP("fast-code", transforms=[CodeMode()] if "--code-mode" in sys.argv else [])


@server.tool
def echo(text: str) -> str:
    """Returns the text unchanged."""
    return text


@server.tool
def rows(count: int) -> list[Row]:
    """Returns rows with an id, a title and a body; a thousand of them have about 70 kB."""
    return [
        {
            "id": f"row-{i}",
            "title": f"The teapot, part {i}" if i % 200 == 17 else f"Chapter {i}",
            "body": f"What is said here: {i}.",
        }
        for i in range(count)
    ]


@server.tool
async def nap(number: int) -> int:
    """Sleeps for fifty milliseconds, then returns the number."""
    await asyncio.sleep(0.05)
    return number


server.run(show_banner=False)
