"""The licence notices of everything that is linked into a binary: crates, the Rust standard library, musl.

`notices.py TARGET` prints them. Fails if a crate has a licence that has not been considered here."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from project import NAME, ROOT, VERSION

# Licences whose terms are met by these notices.
CONSIDERED = {
    "MIT", "MIT-0", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "ISC", "Unicode-3.0", "Unlicense", "Zlib", "MPL-2.0", "MPL-2.0+",
}
LICENSE_FILE = re.compile(r"(?:UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE", re.IGNORECASE)
# Source code is named like a licence here and there: `license.rs`.
SOURCE_FILE = {".rs", ".c", ".h", ".py", ".js", ".sh"}
RULE = "=" * 100


def notices(target: str) -> str:
    crates = linked_crates(target)
    # One text is often that of many crates.
    crates_of: dict[str, list[str]] = {}
    for crate in crates:
        for text in license_texts(crate, crates):
            crates_of.setdefault(text, []).append(title(crate))
    texts = sorted(crates_of.items(), key=lambda item: item[1])
    parts = [
        f"{NAME} {VERSION} contains the software listed here, under the licences that follow.",
        "\n".join(f"{title(crate)}  {crate['license']}  {address(crate)}" for crate in crates),
        *(f"{RULE}\n{', '.join(names)}\n\n{text}" for text, names in texts),
        *sources(crates),
        f"{RULE}\n{standard_library()}",
    ]
    if target.endswith("-musl"):
        parts.append(f"{RULE}\nmusl, the C library\n\n{(Path(__file__).parent / 'licenses/musl.txt').read_text()}")
        parts.append(f"{RULE}\nlibunwind of the LLVM project\n\n{llvm_license()}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def linked_crates(target: str) -> list[dict]:
    """The packages that the binary is linked from: neither build scripts, nor macros, nor what tests need."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    linked, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        crate = waiting.pop()
        if crate in linked or any("proc-macro" in part["kind"] for part in packages[crate]["targets"]):
            continue
        linked.add(crate)
        needed = nodes[crate]["deps"]
        waiting += [one["pkg"] for one in needed if any(kind["kind"] is None for kind in one["dep_kinds"])]
    linked.remove(metadata["resolve"]["root"])
    crates = sorted((packages[crate] for crate in linked), key=lambda crate: (crate["name"], crate["version"]))
    for crate in crates:
        named = re.split(r" OR | AND |/|[()]", crate["license"] or "no licence")
        if unknown := {name for name in map(str.strip, named) if name} - CONSIDERED:
            raise SystemExit(f"{title(crate)} has a licence that notices.py does not know: {', '.join(sorted(unknown))}")
    return crates


def title(crate: dict) -> str:
    return f"{crate['name']} {crate['version']}"


def address(crate: dict) -> str:
    return crate["repository"] or f"https://crates.io/crates/{crate['name']}"


def license_texts(crate: dict, crates: list[dict]) -> list[str]:
    """The texts in the crate; a crate without one has the texts of a crate from the same repository, or MIT's."""
    if texts := texts_in(Path(crate["manifest_path"]).parent):
        return texts
    for sibling in crates:
        if crate["repository"] and (sibling["repository"], sibling["license"]) == (crate["repository"], crate["license"]):
            if texts := texts_in(Path(sibling["manifest_path"]).parent):
                return texts
    if "MIT" not in crate["license"]:
        raise SystemExit(f"{title(crate)} ({crate['license']}) contains no licence text")
    owner = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
    return [re.sub(r"Copyright .*", f"Copyright (c) {owner}", (ROOT / "LICENSE-MIT").read_text(), count=1).strip()]


def texts_in(folder: Path) -> list[str]:
    texts = set()
    for parent, _, names in os.walk(folder):
        for path in (Path(parent, name) for name in names if LICENSE_FILE.match(name)):
            if path.suffix not in SOURCE_FILE:
                texts.add(path.read_text(errors="replace").replace("\r\n", "\n").strip())
    return sorted(texts)


def sources(crates: list[dict]) -> list[str]:
    """The Mozilla Public License asks that recipients learn where the source code is."""
    covered = [crate for crate in crates if "MPL" in crate["license"]]
    return [
        f"{RULE}\nThe source code of {title(crate)}, which is under the Mozilla Public License 2.0, is unchanged at\n"
        f"https://static.crates.io/crates/{crate['name']}/{crate['name']}-{crate['version']}.crate and {address(crate)}"
        for crate in covered
    ]


def rust_documents() -> Path:
    root = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return Path(root.strip(), "share/doc/rust")


def standard_library() -> str:
    """The page that the Rust toolchain has about its standard library, as text."""
    page = (rust_documents() / "COPYRIGHT-library.html").read_text()
    body = page[page.index("<body"):]
    return re.sub(r"\n\s*\n+", "\n\n", html.unescape(re.sub(r"<[^>]*>", "", body))).strip()


def llvm_license() -> str:
    folder = rust_documents() / "licenses"
    return "\n\n".join((folder / name).read_text().strip() for name in ("Apache-2.0.txt", "LLVM-exception.txt"))


if __name__ == "__main__":
    print(notices(sys.argv[1]), end="")
