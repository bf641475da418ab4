"""What all packages say about the project, from its Cargo.toml."""

import os
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]

NAME = PACKAGE["name"]
VERSION = PACKAGE["version"]
LICENSE = PACKAGE["license"]
# The MCP registry allows 100 characters, fewer than Cargo.toml has.
SUMMARY = "MCP tools, resources and prompts from TOML files, rhai scripts and handlebars templates"

# Cargo.toml does not name a repository yet: `OWNER` marks the names that cannot be published.
REPOSITORY = PACKAGE.get("repository", f"https://github.com/OWNER/{NAME}")
OWNER = REPOSITORY.removesuffix("/").split("/")[-2]
# The name in the MCP registry. npm, PyPI and OCI packages repeat it, which proves that they have the same owner.
REGISTRY_NAME = f"io.github.{OWNER}/{NAME}"
IMAGE = f"ghcr.io/{OWNER.lower()}/{NAME}:{VERSION}"


def license_files(notices: str) -> dict[str, bytes]:
    """The licence texts that every package contains, by file name."""
    own = {name: (ROOT / name).read_bytes() for name in ("LICENSE-APACHE", "LICENSE-MIT")}
    return {**own, "THIRD-PARTY-NOTICES.txt": notices.encode()}


def source_date_epoch() -> int:
    """The time stamp of all archive entries: `SOURCE_DATE_EPOCH`, or the time of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(log.stdout)
