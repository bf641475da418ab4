"""The archive of a release page, laid out as `cargo binstall` expects: the binary, man pages, completions, licences."""

import subprocess
import tempfile
from pathlib import Path

from archives import Entries, Entry, gzipped, tarred
from binary import Binary
from project import NAME, ROOT, VERSION

# The file of each shell in a package, and in the directory where the shell looks for completions.
COMPLETIONS = {
    "bash": ("toolsd.bash", "usr/share/bash-completion/completions/toolsd"),
    "zsh": ("_toolsd", "usr/share/zsh/vendor-completions/_toolsd"),
    "fish": ("toolsd.fish", "usr/share/fish/vendor_completions.d/toolsd.fish"),
}


def manual_pages(runnable: list[str]) -> dict[str, bytes]:
    """What `toolsd man DIR` writes; `runnable` is the command that starts a binary on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*runnable, "man", folder], check=True)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def completions(runnable: list[str]) -> dict[str, bytes]:
    """What `toolsd completions SHELL` prints, by shell."""

    def printed(shell: str) -> bytes:
        return subprocess.run([*runnable, "completions", shell], check=True, capture_output=True).stdout

    return {shell: printed(shell) for shell in COMPLETIONS}


def make_tarball(
    binary: Binary, manual: dict[str, bytes], scripts: dict[str, bytes], licenses: dict[str, bytes], epoch: int
) -> tuple[str, bytes]:
    folder = f"{NAME}-{binary.target}-v{VERSION}"
    entries: Entries = {
        binary.file_name: Entry(binary.data, 0o755),
        "README.md": Entry((ROOT / "README.md").read_bytes()),
        **{f"man/{name}": Entry(page) for name, page in manual.items()},
        **{f"completions/{COMPLETIONS[shell][0]}": Entry(script) for shell, script in scripts.items()},
        **{name: Entry(text) for name, text in licenses.items()},
    }
    return f"{folder}.tar.gz", gzipped(tarred(entries, epoch, prefix=f"{folder}/"))
