"""Makes all artefacts from built binaries: `make.py DIRECTORY BINARY…`."""

import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import deb
import mcpb
import npm
import oci
import registry
import tarball
import wheel
from binary import Binary, command_here, read_binary
from notices import notices
from project import license_files, source_date_epoch


@dataclass(frozen=True)
class Artefact:
    kind: str
    path: Path
    seconds: float
    # What it contains; several in an image, none in `server.json`.
    binaries: tuple[Binary, ...]

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def make(directory: Path, paths: list[Path]) -> list[Artefact]:
    binaries = [read_binary(path) for path in paths]
    if len({binary.target for binary in binaries}) < len(binaries):
        raise SystemExit(f"two binaries have one target: {', '.join(binary.target for binary in binaries)}")
    runnable = next((command for binary in binaries if (command := command_here(binary))), None)
    if runnable is None:
        raise SystemExit("none of the binaries runs here, so there are no man pages and no completions")
    epoch = source_date_epoch()
    manual, scripts = tarball.manual_pages(runnable), tarball.completions(runnable)
    licenses = {binary.target: license_files(notices(binary.target)) for binary in binaries}
    static_images = [binary for binary in binaries if binary.is_static]
    portable = one_of_each(binaries, lambda binary: binary.is_static)
    linux = [binary for binary in binaries if binary.system == "linux"]
    native = one_of_each(linux, lambda binary: binary.glibc is not None)
    directory.mkdir(parents=True, exist_ok=True)
    made: list[Artefact] = []

    def add(kind: str, contents: list[Binary], create: Callable[[], tuple[str, bytes]]) -> bytes:
        start = time.monotonic()
        name, data = create()
        (directory / name).write_bytes(data)
        made.append(Artefact(kind, directory / name, time.monotonic() - start, tuple(contents)))
        return data

    for binary in binaries:
        own = licenses[binary.target]
        add("wheel", [binary], lambda: wheel.make_wheel(binary, binaries, own, epoch))
        add("archive", [binary], lambda: tarball.make_tarball(binary, manual, scripts, own, epoch))
    bundles = {}
    for binary in portable:
        own = licenses[binary.target]
        add("npm", [binary], lambda: npm.make_platform_package(binary, own, epoch))
        bundles[mcpb.bundle_name(binary)] = add("mcpb", [binary], lambda: mcpb.make_bundle(binary, own, epoch))
    add("npm", [], lambda: npm.make_main_package(portable, epoch))
    for binary in native:
        add("deb", [binary], lambda: deb.make_deb(binary, manual, scripts, licenses[binary.target], epoch))
    if static_images:
        add("oci", static_images, lambda: oci.make_image(static_images, licenses, epoch))
    add("server.json", [], lambda: registry.make_server_json(bundles, bool(static_images)))
    write_digests(directory, made)
    return made


def one_of_each(binaries: list[Binary], preferred: Callable[[Binary], bool]) -> list[Binary]:
    """One binary for each system and processor: a preferred one where there is one."""
    chosen: dict[tuple[str, str], Binary] = {}
    for binary in sorted(binaries, key=preferred):
        chosen[binary.system, binary.architecture] = binary
    return sorted(chosen.values(), key=lambda binary: binary.target)


def write_digests(directory: Path, made: list[Artefact]) -> None:
    names = sorted(artefact.path.name for artefact in made)
    lines = [f"{hashlib.sha256((directory / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (directory / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    make(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]])
