"""A built binary, and what its header says: the system, the processor, and the C library that it needs."""

import platform
import re
import shutil
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
MACH_O_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
PROGRAM_INTERPRETER = 3
VERSIONS_NEEDED = 0x6FFFFFFE


@dataclass(frozen=True)
class Binary:
    path: Path
    system: str
    architecture: str
    # The newest version of glibc that it needs; `None` if it needs no C library of its system.
    glibc: tuple[int, int] | None

    @cached_property
    def data(self) -> bytes:
        return self.path.read_bytes()

    @property
    def target(self) -> str:
        """The name that Rust uses."""
        if self.system == "darwin":
            return f"{self.architecture}-apple-darwin"
        return f"{self.architecture}-unknown-linux-{'gnu' if self.glibc else 'musl'}"

    @property
    def is_static(self) -> bool:
        return self.system == "linux" and self.glibc is None

    @property
    def file_name(self) -> str:
        return "toolsd"


def command_here(binary: Binary, path: Path | None = None) -> list[str] | None:
    """The command that starts a binary, or its installed copy at `path`, on this machine; `None` if it cannot run here."""
    path = str(path or binary.path)
    if binary.system != platform.system().lower():
        return None
    if binary.architecture == {"arm64": "aarch64"}.get(platform.machine(), platform.machine()):
        return [path]
    # An emulator of user programs has no loader and no C library for a dynamic binary.
    emulator = shutil.which(f"qemu-{binary.architecture}-static") or shutil.which(f"qemu-{binary.architecture}")
    return [emulator, path] if emulator and binary.is_static else None


def read_binary(path: Path) -> Binary:
    data = path.read_bytes()
    if data.startswith(b"\x7fELF\x02\x01"):
        machine = ELF_MACHINES[struct.unpack_from("<H", data, 18)[0]]
        return Binary(path, "linux", machine, newest_glibc(path, data) if is_dynamic(data) else None)
    if data.startswith(b"\xcf\xfa\xed\xfe"):
        return Binary(path, "darwin", MACH_O_MACHINES[struct.unpack_from("<I", data, 4)[0]], None)
    raise SystemExit(f"{path} is not a 64-bit ELF or Mach-O binary")


def is_dynamic(data: bytes) -> bool:
    """Whether an ELF binary is started by a dynamic loader."""
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    kinds = (struct.unpack_from("<I", data, start + at * size)[0] for at in range(count))
    return PROGRAM_INTERPRETER in kinds


def newest_glibc(path: Path, data: bytes) -> tuple[int, int]:
    """The newest version in the table of the symbol versions that an ELF binary needs."""
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    # Of a section: kind at 4, offset in the file at 24, index of the linked section (here of its names) at 40.
    sections = [start + at * size for at in range(count)]
    kind = lambda section: struct.unpack_from("<I", data, section + 4)[0]
    offset = lambda section: struct.unpack_from("<Q", data, section + 24)[0]
    needed = next((section for section in sections if kind(section) == VERSIONS_NEEDED), None)
    if needed is None:
        raise SystemExit(f"{path} is dynamic and needs no version of glibc: which wheel it may go into is unknown")
    names = offset(sections[struct.unpack_from("<I", data, needed + 40)[0]])
    found, library, more = set(), offset(needed), 1
    while more:
        versions, _, first, more = struct.unpack_from("<HIII", data, library + 2)
        version = library + first
        for _ in range(versions):
            name, following = struct.unpack_from("<II", data, version + 8)
            text = data[names + name:data.index(b"\0", names + name)].decode()
            if matched := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", text):
                found.add((int(matched[1]), int(matched[2])))
            version += following
        library += more
    return max(found)
