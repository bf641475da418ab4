"""Makes all artefacts from built binaries, verifies them, and prints what came of it: `ship.py BINARY…`."""

import filecmp
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from make import Artefact, make
from project import OWNER, ROOT
from verify import verify

DIRECTORY = ROOT / "target/ship"
MAX_WHEEL_BYTES = 12_000_000


def remake(made: list[Artefact], paths: list[str]) -> None:
    """Makes everything again in another process and compares the bytes."""
    with tempfile.TemporaryDirectory(prefix="toolsd-ship-") as folder:
        subprocess.run([sys.executable, str(Path(__file__).parent / "make.py"), folder, *paths], check=True)
        names = [artefact.path.name for artefact in made] + ["SHA256SUMS"]
        _, different, missing = filecmp.cmpfiles(DIRECTORY, folder, names, shallow=False)
        if different or missing:
            raise SystemExit(f"made twice, these differ: {', '.join(different + missing)}")


def main(paths: list[str]) -> None:
    for path in DIRECTORY.glob("*"):
        path.unlink()
    start = time.monotonic()
    made = make(DIRECTORY, [Path(path) for path in paths])
    made_in = time.monotonic() - start
    seen = verify(made)
    verified_in = time.monotonic() - start - made_in
    remake(made, paths)
    rows = [(artefact.path.name, f"{artefact.size / 1e6:.2f} MB", f"{artefact.seconds:.1f} s") for artefact in made]
    width = max(len(name) for name, _, _ in rows)
    print(f"\n{'in target/ship':{width}}  {'size':>9}  {'made in':>7}  driven by")
    for name, size, seconds in rows:
        print(f"{name:{width}}  {size:>9}  {seconds:>7}  {('; '.join(seen[name]))}")
    print(f"\nmade in {made_in:.0f} s, verified in {verified_in:.0f} s; made again with the same bytes")
    if OWNER == "OWNER":
        print("Cargo.toml has no `repository`: server.json, mcpName and the addresses in packages say OWNER")
    if large := [artefact.path.name for artefact in made if artefact.kind == "wheel" and artefact.size > MAX_WHEEL_BYTES]:
        raise SystemExit(f"larger than {MAX_WHEEL_BYTES / 1e6:.0f} MB: {', '.join(large)}")


if __name__ == "__main__":
    main(sys.argv[1:])
