"""Packages for npm: one for each system with its binary, and `toolsd` with the shim that starts the right one."""

import json
from pathlib import Path

from archives import Entries, Entry, gzipped, tarred
from binary import Binary
from project import LICENSE, NAME, REGISTRY_NAME, REPOSITORY, ROOT, SUMMARY, VERSION

NODE_SYSTEMS = {"linux": "linux", "darwin": "darwin"}
NODE_PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}
SHIM = Path(__file__).parent / "toolsd.js"


def package_name(binary: Binary) -> str:
    return f"@{NAME}/{NODE_SYSTEMS[binary.system]}-{NODE_PROCESSORS[binary.architecture]}"


def make_platform_package(binary: Binary, licenses: dict[str, bytes], epoch: int) -> tuple[str, bytes]:
    manifest = {
        "name": package_name(binary),
        "version": VERSION,
        "description": f"The binary of {NAME} for {binary.target}",
        "license": LICENSE,
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        "os": [NODE_SYSTEMS[binary.system]],
        "cpu": [NODE_PROCESSORS[binary.architecture]],
        # A static binary runs with every C library.
        **({"libc": ["glibc"]} if binary.glibc else {}),
        "preferUnplugged": True,
    }
    entries = {f"bin/{binary.file_name}": Entry(binary.data, 0o755), **texts(licenses)}
    return packed(manifest, entries, epoch)


def make_main_package(binaries: list[Binary], epoch: int) -> tuple[str, bytes]:
    manifest = {
        "name": NAME,
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        "mcpName": REGISTRY_NAME,
        "bin": {NAME: f"bin/{NAME}.js"},
        "engines": {"node": ">=18"},
        # Exact versions: the shim and the binary are released together.
        "optionalDependencies": {package_name(binary): VERSION for binary in binaries},
    }
    # The binary is not here, and neither are the notices of what it contains.
    own = {name: (ROOT / name).read_bytes() for name in ("LICENSE-APACHE", "LICENSE-MIT", "README.md")}
    return packed(manifest, {f"bin/{NAME}.js": Entry(SHIM.read_bytes(), 0o755), **texts(own)}, epoch)


def texts(files: dict[str, bytes]) -> Entries:
    return {name: Entry(text) for name, text in files.items()}


def packed(manifest: dict, entries: Entries, epoch: int) -> tuple[str, bytes]:
    entries = {**entries, "package.json": Entry((json.dumps(manifest, indent=2) + "\n").encode())}
    file_name = f"{manifest['name'].removeprefix('@').replace('/', '-')}-{VERSION}.tgz"
    return file_name, gzipped(tarred(entries, epoch, prefix="package/"))
