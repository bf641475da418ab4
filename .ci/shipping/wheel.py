"""A wheel for pip and uv: the binary is installed as a script of the Python environment."""

import base64
import hashlib

from archives import Entry, zipped
from binary import Binary
from project import LICENSE, NAME, REGISTRY_NAME, REPOSITORY, ROOT, SUMMARY, VERSION


def platform_tags(binary: Binary, others: list[Binary]) -> list[str]:
    machine = binary.architecture
    if binary.system == "darwin":
        # The oldest systems that Rust supports.
        return ["macosx_11_0_arm64" if machine == "aarch64" else "macosx_10_12_x86_64"]
    if binary.glibc:
        # The oldest version that pip knows on aarch64; on x86_64, no supported system has an older one.
        major, minor = max(binary.glibc, (2, 17))
        return [f"manylinux_{major}_{minor}_{machine}"]
    # A static binary also runs where there is a glibc, but the one that uses that glibc is faster.
    has_glibc_wheel = any(other.architecture == machine and other.glibc for other in others)
    return [*([] if has_glibc_wheel else [f"manylinux_2_17_{machine}"]), f"musllinux_1_2_{machine}"]


def make_wheel(binary: Binary, others: list[Binary], licenses: dict[str, bytes], epoch: int) -> tuple[str, bytes]:
    information = f"{NAME}-{VERSION}.dist-info"
    tags = platform_tags(binary, others)
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {VERSION}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {LICENSE}",
        *(f"License-File: {name}" for name in sorted(licenses)),
        f"Project-URL: Repository, {REPOSITORY}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        # The MCP registry looks for its name in the description.
        f"<!-- mcp-name: {REGISTRY_NAME} -->\n",
        (ROOT / "README.md").read_text(),
    ]
    wheel = ["Wheel-Version: 1.0", f"Generator: {NAME} .ci/ship", "Root-Is-Purelib: false"]
    entries = {
        f"{NAME}-{VERSION}.data/scripts/{binary.file_name}": Entry(binary.data, 0o755),
        f"{information}/METADATA": Entry("\n".join(metadata).encode()),
        f"{information}/WHEEL": Entry("\n".join([*wheel, *(f"Tag: py3-none-{tag}" for tag in tags), ""]).encode()),
        **{f"{information}/licenses/{name}": Entry(text) for name, text in licenses.items()},
    }
    rows = [f"{name},sha256={digest(entry.data)},{len(entry.data)}\n" for name, entry in sorted(entries.items())]
    entries[f"{information}/RECORD"] = Entry("".join([*rows, f"{information}/RECORD,,\n"]).encode())
    return f"{NAME}-{VERSION}-py3-none-{'.'.join(tags)}.whl", zipped(entries, epoch)


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
