"""Installs each artefact in a clean directory, with a clean home, and drives it there by an MCP client."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import oci
from binary import Binary, command_here
from client import ARGUMENTS, TOOL
from make import Artefact
from npm import NODE_PROCESSORS, NODE_SYSTEMS, package_name
from package_index import serve_packages
from project import IMAGE, NAME, ROOT, VERSION
from tarball import COMPLETIONS

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
# Where `.ci/clients install` puts the clients.
CLIENTS = Path(os.environ.get("TOOLSD_CLIENTS") or CACHE / "toolsd-clients")


class CleanFolder:
    """A directory with a home, a workspace and a place to install to; of the environment, only `PATH` is kept."""

    def __init__(self, parent: Path, label: str) -> None:
        self.root = Path(tempfile.mkdtemp(dir=parent, prefix=f"{label}-"))
        self.home, self.workspace, self.installed = (self.root / name for name in ("home", "workspace", "installed"))
        for folder in (self.home, self.workspace, self.installed):
            folder.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(self, command: list[str], check: bool = True) -> subprocess.CompletedProcess[str]:
        quiet = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
        ran = subprocess.run(command, cwd=self.workspace, env=self.environment, **quiet)
        if check and ran.returncode != 0:
            raise SystemExit(f"`{shlex.join(command)}` failed with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return ran

    def drive(self, command: list[str], serve: list[str] | None = None) -> str:
        """Makes a pack with an installed binary, serves it, and calls its tool; what happened, in a few words."""
        version = self.run([*command, "--version"]).stdout
        if not version.startswith(f"{NAME} {VERSION}"):
            raise SystemExit(f"`{shlex.join(command)} --version` is {version!r}, but Cargo.toml says {VERSION}")
        if not (self.workspace / ".toolsd").exists():
            self.run([*command, "new", "pack", "greet"])
            self.run([*command, "trust", "--yes"])
        serve = serve or [*command, "serve"]
        seen = json.loads(self.run([client_python(), str(Path(__file__).parent / "client.py"), *serve]).stdout)
        if TOOL not in seen["tools"] or seen["result"] != {"greeting": f"Hello, {ARGUMENTS['name']}!"}:
            raise SystemExit(f"`{shlex.join(serve)}` serves {seen}")
        return f"{seen['client']}, {seen['seconds'] * 1000:.0f} ms to tools/list"


def client_python() -> str:
    """The Python that has the SDK, or the one that runs this."""
    python = CLIENTS / "py/bin/python"
    return str(python) if python.exists() else sys.executable


def verify(made: list[Artefact]) -> dict[str, list[str]]:
    """By the name of each artefact, what was seen of it."""
    seen: dict[str, list[str]] = {artefact.path.name: [] for artefact in made}
    with tempfile.TemporaryDirectory(prefix="toolsd-ship-") as parent:
        for artefact in made:
            folder = CleanFolder(Path(parent), artefact.kind)
            seen[artefact.path.name] += CHECKS[artefact.kind](artefact, folder, made)
            print(f"{artefact.path.name}: {'; '.join(seen[artefact.path.name])}", file=sys.stderr, flush=True)
            shutil.rmtree(folder.root, ignore_errors=True)
    return seen


def drive_or_describe(folder: CleanFolder, binary: Binary, path: Path) -> str:
    """Drives an installed binary if this machine can run it; otherwise compares it with what was built."""
    if path.read_bytes() != binary.data:
        raise SystemExit(f"{path} is not the binary of {binary.path}")
    command = command_here(binary, path)
    if command is None:
        return f"not run here: the installed file is the one for {binary.target}"
    return folder.drive(command) + (f", by {Path(command[0]).name}" if len(command) > 1 else "")


def is_documented(*commands: str) -> None:
    """README.md shows the commands that are run here, so they are those that people copy."""
    readme = (ROOT / "README.md").read_text()
    if missing := [command for command in commands if f"`{command}`" not in readme]:
        raise SystemExit(f"README.md does not show {', '.join(missing)}")


def verify_wheel(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    binary = artefact.binaries[0]
    # As if they were published: by name and version, from the directory of the artefacts only.
    packages = str(artefact.path.parent)
    folder.environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": packages, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    python = folder.root / "python"
    folder.run([sys.executable, "-m", "venv", str(python)])
    if command_here(binary) != [str(binary.path)] or not pip_chooses(artefact, python, folder):
        platform = artefact.path.name.removesuffix(".whl").split("-")[-1]
        chosen = [word for tag in platform.split(".") for word in ("--platform", tag)]
        install = [str(python / "bin/pip"), "install", "--quiet", "--only-binary=:all:", *chosen]
        folder.run([*install, "--target", str(folder.installed), str(artefact.path)])
        return [f"pip --platform: {drive_or_describe(folder, binary, folder.installed / 'bin' / binary.file_name)}"]
    install = f"pip install {NAME}=={VERSION}"
    is_documented(install)
    folder.environment["PATH"] = f"{python / 'bin'}:{folder.environment['PATH']}"
    folder.run(shlex.split(install))
    seen = [f"pip: {folder.drive([NAME])}"]
    folder.run(["pip", "uninstall", "--quiet", "--yes", NAME])
    if (python / "bin" / NAME).exists():
        raise SystemExit(f"`pip uninstall {NAME}` leaves the binary")
    if uv := shutil.which("uv") or shutil.which("uv", path=CLIENTS / "pyf/bin"):
        folder.environment["PATH"] = f"{Path(uv).parent}:{folder.environment['PATH']}"
        folder.environment |= {"UV_NO_INDEX": "1", "UV_FIND_LINKS": packages, "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never"}
        is_documented(f"uv tool install {NAME}=={VERSION}", f"uvx {NAME}@{VERSION} serve")
        folder.run(["uv", "tool", "install", f"{NAME}=={VERSION}"])
        tool = str(folder.home / ".local/bin" / NAME)
        seen += [f"uv: {folder.drive([tool])}", f"uvx: {folder.drive([tool], ['uvx', f'{NAME}@{VERSION}', 'serve'])}"]
        folder.run(["uv", "tool", "uninstall", NAME])
        if Path(tool).exists():
            raise SystemExit(f"`uv tool uninstall {NAME}` leaves the binary")
    return seen


def pip_chooses(artefact: Artefact, python: Path, folder: CleanFolder) -> bool:
    """Whether pip chooses this wheel on this machine."""
    pip = [str(python / "bin/pip"), "install", "--dry-run", "--quiet", "--report", "-"]
    report = folder.run([*pip, f"{NAME}=={VERSION}"], check=False)
    return report.returncode == 0 and artefact.path.name in report.stdout


def verify_npm(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    packages = [other.path for other in made if other.kind == "npm"]
    if not shutil.which("npm"):
        return ["not installed here: there is no npm"]
    with serve_packages(packages) as registry:
        settings = {"registry": registry, "cache": folder.root / "cache", "prefix": folder.installed, "audit": "false", "fund": "false"}
        folder.environment |= {f"npm_config_{name}": str(value) for name, value in settings.items()}
        if not artefact.binaries:
            return verify_shim(folder)
        binary = artefact.binaries[0]
        system, processor = NODE_SYSTEMS[binary.system], NODE_PROCESSORS[binary.architecture]
        install = ["npm", "install", "--prefix", str(folder.installed), f"--os={system}", f"--cpu={processor}"]
        folder.run([*install, f"{NAME}@{VERSION}"])
        packages_here = sorted(path.name for path in (folder.installed / f"node_modules/@{NAME}").iterdir())
        if packages_here != [f"{system}-{processor}"]:
            raise SystemExit(f"npm installed {packages_here} for {system}-{processor}")
        path = folder.installed / "node_modules" / package_name(binary) / "bin" / binary.file_name
        return [f"npm --os --cpu: {drive_or_describe(folder, binary, path)}"]


def verify_shim(folder: CleanFolder) -> list[str]:
    install, runner = f"npm install -g {NAME}@{VERSION}", f"npx -y {NAME}@{VERSION} serve"
    is_documented(install, runner)
    folder.run(shlex.split(install))
    shim = str(folder.installed / "bin" / NAME)
    seen = [f"npm: {folder.drive([shim])}", f"npx: {folder.drive([shim], shlex.split(runner))}"]
    verify_signals(folder, [shim, "serve"])
    binary = next((folder.installed / f"lib/node_modules/{NAME}/node_modules/@{NAME}").iterdir()) / "bin" / NAME
    kept = shutil.copy(binary, folder.root / "kept")
    folder.run(["npm", "uninstall", "-g", NAME])
    if Path(shim).exists() or binary.exists():
        raise SystemExit(f"`npm uninstall -g {NAME}` leaves files")
    # Not with `-g`: there npm ignores the option.
    folder.run(["npm", "install", "--prefix", str(folder.installed), "--omit=optional", f"{NAME}@{VERSION}"])
    shim = str(folder.installed / "node_modules/.bin" / NAME)
    refused = folder.run([shim, "--version"], check=False)
    if refused.returncode != 1 or not all(word in refused.stderr for word in (f"@{NAME}/", "--omit=optional", "TOOLSD_BINARY")):
        raise SystemExit(f"without the package of this system, the shim exits with {refused.returncode}: {refused.stderr}")
    folder.environment["TOOLSD_BINARY"] = str(kept)
    return [*seen, f"TOOLSD_BINARY: {folder.drive([shim])}"]


def verify_signals(folder: CleanFolder, serve: list[str]) -> None:
    """A server that is terminated leaves no process, whether or not the shim is one of its own."""
    server = subprocess.Popen(
        serve, cwd=folder.workspace, env=folder.environment, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    server.stdin.write(f"{json.dumps(message)}\n".encode())
    server.stdin.flush()
    server.stdout.readline()  # The binary runs.
    server.send_signal(signal.SIGTERM)
    # Standard output ends when the last process that has it ends.
    server.communicate(timeout=10)
    try:
        os.killpg(server.pid, 0)
    except ProcessLookupError:
        return
    raise SystemExit("a process of the server outlives SIGTERM")


def verify_archive(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    binary = artefact.binaries[0]
    with tarfile.open(artefact.path) as archive:
        archive.extractall(folder.installed, filter="tar")
    (unpacked,) = folder.installed.iterdir()
    pages = sorted((unpacked / "man").iterdir())
    if not {f"{NAME}.1", f"{NAME}-serve.1"} <= {page.name for page in pages}:
        raise SystemExit(f"{artefact.path.name} has the man pages {[page.name for page in pages]}")
    seen = [f"unpacked: {drive_or_describe(folder, binary, unpacked / binary.file_name)}"]
    if shutil.which("man"):
        for page in pages:
            if warnings := folder.run(["man", "--warnings", "-l", str(page)]).stderr:
                raise SystemExit(f"{page.name}: {warnings}")
        seen.append(f"{len(pages)} man pages shown")
    for shell, (name, _) in COMPLETIONS.items():
        script = unpacked / "completions" / name
        if not script.stat().st_size:
            raise SystemExit(f"{artefact.path.name} has an empty {name}")
        if shutil.which(shell):
            folder.run([shell, "-n", str(script)])
            seen.append(f"completion parsed by {shell}")
    return seen


def verify_mcpb(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    binary = artefact.binaries[0]
    with zipfile.ZipFile(artefact.path) as bundle:
        for entry in bundle.infolist():
            path = Path(bundle.extract(entry, folder.installed))
            path.chmod(entry.external_attr >> 16 & 0o777)
        manifest = json.loads(bundle.read("manifest.json"))
    path = folder.installed / "server" / binary.file_name
    seen = drive_or_describe(folder, binary, path)
    if command_here(binary) != [str(binary.path)]:
        return [f"unpacked: {seen}"]
    started = manifest["server"]["mcp_config"]
    words = [started["command"], *started["args"]]
    values = {"${__dirname}": str(folder.installed), "${user_config.workspace}": str(folder.workspace)}
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    seen = f"started as its manifest says: {folder.drive([str(path)], words)}"
    if not shutil.which("mcpb"):
        return [seen]
    folder.run(["mcpb", "validate", str(folder.installed / "manifest.json")])
    return [seen, "mcpb validate accepts it"]


def verify_oci(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    with tarfile.open(artefact.path) as archive:
        archive.extractall(folder.installed, filter="tar")

    def blob(descriptor: dict) -> Path:
        return folder.installed / "blobs" / descriptor["digest"].replace(":", "/")

    (index,) = json.loads((folder.installed / "index.json").read_text())["manifests"]
    seen = []
    for image in json.loads(blob(index).read_text())["manifests"]:
        (binary,) = (each for each in artefact.binaries if oci.OCI_PROCESSORS[each.architecture] == image["platform"]["architecture"])
        manifest = json.loads(blob(image).read_text())
        configuration = json.loads(blob(manifest["config"]).read_text())["config"]
        root = folder.root / binary.architecture
        with tarfile.open(blob(manifest["layers"][0])) as layer:
            # The other filters clear modes, and the workspace must be writable.
            layer.extractall(root, filter="fully_trusted")
        entry = configuration["Entrypoint"]
        command = command_here(binary, root / entry[0].lstrip("/"))
        if command and len(command) == 1 and os.geteuid() == 0:
            seen.append(f"{binary.architecture}, in its own root as {oci.USER}: {drive_in_root(folder, root, configuration)}")
        else:
            seen.append(f"{binary.architecture}: {drive_or_describe(folder, binary, root / entry[0].lstrip('/'))}")
    if shutil.which("skopeo"):
        source = f"oci-archive:{artefact.path}:{VERSION}"
        folder.run(["skopeo", "inspect", source])
        folder.run(["skopeo", "copy", "--quiet", source, f"docker-archive:{folder.root / 'docker.tar'}:{IMAGE}"])
        seen.append("skopeo inspects and converts it")
    return seen


def drive_in_root(folder: CleanFolder, root: Path, configuration: dict) -> str:
    """As a container runtime does without isolation: the image as the root, its user, its environment."""
    outside = folder.environment, folder.workspace
    environment = dict(variable.split("=", 1) for variable in configuration["Env"]) | {"PATH": os.environ["PATH"]}
    folder.environment, folder.workspace = folder.environment | environment, root / "workspace"
    enter = ["chroot", f"--userspec={configuration['User']}", str(root)]
    command = [*enter, *configuration["Entrypoint"], "--workspace", configuration["WorkingDir"]]
    seen = folder.drive(command, [*command, *configuration["Cmd"]])
    # The next image is another system.
    folder.environment, folder.workspace = outside
    return seen


def verify_deb(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    binary = artefact.binaries[0]
    if not shutil.which("dpkg"):
        return ["not installed here: there is no dpkg"]
    # A system of its own that knows no other packages, so what this one depends on is not there.
    for name in ("info", "updates"):
        (folder.installed / "var/lib/dpkg" / name).mkdir(parents=True)
    for name in ("status", "available"):
        (folder.installed / "var/lib/dpkg" / name).touch()
    dpkg = ["dpkg", "--root", str(folder.installed), "--force-not-root,depends,architecture", "--log=/dev/null"]
    folder.run([*dpkg, "--install", str(artefact.path)])
    seen = [f"dpkg: {drive_or_describe(folder, binary, folder.installed / 'usr/bin' / binary.file_name)}"]
    folder.run([*dpkg, "--purge", NAME])
    if left := [path for path in (folder.installed / "usr").rglob("*") if path.is_file()]:
        raise SystemExit(f"`dpkg --purge {NAME}` leaves {left}")
    return seen


def verify_server_json(artefact: Artefact, folder: CleanFolder, made: list[Artefact]) -> list[str]:
    server = json.loads(artefact.path.read_text())
    if len(server["description"]) > 100:
        raise SystemExit("the description of server.json is longer than 100 characters")
    names = {package["identifier"].rpartition("/")[2] for package in server["packages"] if package["registryType"] == "mcpb"}
    if names != {other.path.name for other in made if other.kind == "mcpb"}:
        raise SystemExit(f"server.json names the bundles {names}")
    return ["names each bundle and its digest"]


CHECKS = {
    "wheel": verify_wheel,
    "npm": verify_npm,
    "archive": verify_archive,
    "mcpb": verify_mcpb,
    "oci": verify_oci,
    "deb": verify_deb,
    "server.json": verify_server_json,
}
