"""A bundle for Claude Desktop and other clients that install servers from one file. Its format has no architectures, so
there is a bundle for each system and processor."""

import json

from archives import Entry, zipped
from binary import Binary
from npm import NODE_SYSTEMS, SHIM
from project import LICENSE, NAME, REPOSITORY, SUMMARY, VERSION


def bundle_name(binary: Binary) -> str:
    return f"{NAME}-{VERSION}-{NODE_SYSTEMS[binary.system]}-{binary.architecture}.mcpb"


def make_bundle(binary: Binary, licenses: dict[str, bytes], epoch: int) -> tuple[str, bytes]:
    arguments = ["--workspace", "${user_config.workspace}", "serve"]
    entries = {
        f"server/{binary.file_name}": Entry(binary.data, 0o755),
        **{name: Entry(text) for name, text in licenses.items()},
    }
    path = f"server/{binary.file_name}"
    server = {
        "type": "binary",
        "entry_point": path,
        "mcp_config": {"command": f"${{__dirname}}/{path}", "args": arguments, "env": {}},
    }
    if binary.system == "darwin":
        # Claude Desktop for macOS unpacks every file without its mode; the shim makes the binary executable.
        path = f"server/{NAME}.js"
        entries[path] = Entry(SHIM.read_bytes(), 0o755)
        started = {"command": "node", "args": [f"${{__dirname}}/{path}", *arguments], "env": {}}
        server = {"type": "node", "entry_point": path, "mcp_config": started}
    manifest = {
        "manifest_version": "0.3",
        "name": NAME,
        "display_name": NAME,
        "version": VERSION,
        "description": SUMMARY,
        "author": {"name": f"The {NAME} authors"},
        "repository": {"type": "git", "url": REPOSITORY},
        "license": LICENSE,
        "server": server,
        # What is served depends on the workspace.
        "tools_generated": True,
        "prompts_generated": True,
        "user_config": {
            "workspace": {
                "type": "directory",
                "title": "Workspace",
                "description": "The project whose packs and files are served",
                "required": True,
            }
        },
        "compatibility": {"platforms": [NODE_SYSTEMS[binary.system]]},
    }
    entries["manifest.json"] = Entry((json.dumps(manifest, indent=2) + "\n").encode())
    return bundle_name(binary), zipped(entries, epoch)
