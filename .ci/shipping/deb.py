"""A Debian package: an `ar` archive of a version, the control files, and the files to install."""

import hashlib

from archives import Entries, Entry, gzipped, tarred, xz_compressed
from binary import Binary
from project import NAME, REPOSITORY, SUMMARY, VERSION
from tarball import COMPLETIONS

DEBIAN_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
REVISION = "1"


def make_deb(
    binary: Binary, manual: dict[str, bytes], scripts: dict[str, bytes], licenses: dict[str, bytes], epoch: int
) -> tuple[str, bytes]:
    documents = f"usr/share/doc/{NAME}"
    entries: Entries = {
        f"usr/bin/{NAME}": Entry(binary.data, 0o755),
        **{f"usr/share/man/man1/{name}.gz": Entry(gzipped(page)) for name, page in manual.items()},
        **{COMPLETIONS[shell][1]: Entry(script) for shell, script in scripts.items()},
        # Debian's tools show this file as the licence of the package.
        f"{documents}/copyright": Entry(b"\n\n".join([licenses["LICENSE-MIT"], licenses["LICENSE-APACHE"]])),
        f"{documents}/THIRD-PARTY-NOTICES.txt.gz": Entry(gzipped(licenses["THIRD-PARTY-NOTICES.txt"])),
    }
    control = {
        "control": Entry(control_file(binary, entries).encode()),
        "md5sums": Entry("".join(f"{md5(entry.data)}  {name}\n" for name, entry in sorted(entries.items())).encode()),
    }
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": xz_compressed(tarred(control, epoch, {"": 0o755}, "./")),
        "data.tar.xz": xz_compressed(tarred(entries, epoch, parents(entries), "./")),
    }
    file_name = f"{NAME}_{VERSION}-{REVISION}_{DEBIAN_PROCESSORS[binary.architecture]}.deb"
    return file_name, b"!<arch>\n" + b"".join(member(name, data, epoch) for name, data in members.items())


def control_file(binary: Binary, entries: Entries) -> str:
    fields = {
        "Package": NAME,
        "Version": f"{VERSION}-{REVISION}",
        "Architecture": DEBIAN_PROCESSORS[binary.architecture],
        "Maintainer": f"The {NAME} authors",
        "Installed-Size": str(sum(len(entry.data) for entry in entries.values()) // 1024),
        "Section": "devel",
        "Priority": "optional",
        "Homepage": REPOSITORY,
        "Description": f"MCP server whose tools are files\n {SUMMARY}.",
    }
    if binary.glibc:
        fields["Depends"] = f"libc6 (>= {binary.glibc[0]}.{binary.glibc[1]}), libgcc-s1"
    # The primitives of git need it; everything else works without.
    fields["Recommends"] = "git (>= 1:2.37)"
    return "".join(f"{key}: {value}\n" for key, value in fields.items())


def parents(entries: Entries) -> dict[str, int]:
    """All directories, which dpkg wants listed."""
    paths = [name.split("/")[:-1] for name in entries]
    return {"/".join(path[:count]): 0o755 for path in paths for count in range(len(path) + 1)}


def member(name: str, data: bytes, epoch: int) -> bytes:
    header = f"{name:<16}{epoch:<12}{0:<6}{0:<6}{0o100644:<8o}{len(data):<10}`\n"
    return header.encode() + data + b"\n" * (len(data) % 2)


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
