"""`server.json`, which announces the packages to the MCP registry."""

import hashlib
import json

from project import IMAGE, NAME, REGISTRY_NAME, REPOSITORY, SUMMARY, VERSION

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def make_server_json(bundles: dict[str, bytes], has_image: bool) -> tuple[str, bytes]:
    workspace = {"description": "Absolute path of the project", "format": "filepath", "isRequired": True}
    packages = [package(kind, identifier=NAME, version=VERSION) for kind in ("npm", "pypi")]
    if has_image:
        packages.append({
            **package("oci", identifier=IMAGE),
            # The image sees no files of its host unless a folder is mounted.
            "runtimeHint": "docker",
            "runtimeArguments": [{
                "type": "named",
                "name": "--mount",
                "description": "The project whose packs and files are served",
                "value": "type=bind,src={workspace},dst=/workspace",
                "isRequired": True,
                "variables": {"workspace": workspace},
            }],
        })
    for name, data in sorted(bundles.items()):
        address = f"{REPOSITORY}/releases/download/v{VERSION}/{name}"
        # A bundle starts with the arguments of its manifest.
        bundle = package("mcpb", identifier=address, fileSha256=hashlib.sha256(data).hexdigest())
        del bundle["packageArguments"]
        packages.append(bundle)
    server = {
        "$schema": SCHEMA,
        "name": REGISTRY_NAME,
        "title": NAME,
        "description": SUMMARY,
        "repository": {"url": REPOSITORY, "source": "github"},
        "version": VERSION,
        "packages": packages,
    }
    return "server.json", (json.dumps(server, indent=2) + "\n").encode()


def package(registry: str, **fields: str) -> dict:
    return {
        "registryType": registry,
        **fields,
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "serve"}],
    }
