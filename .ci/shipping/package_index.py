"""A registry of npm on this machine that serves the packages of a directory, so that npm resolves, chooses and unpacks
them as it would do with published ones."""

import base64
import hashlib
import http.server
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote


@contextmanager
def serve_packages(paths: list[Path]) -> Iterator[str]:
    """The address of the registry, for as long as the context is open."""
    files = {path.name: path for path in paths}
    manifests = [(path, read_manifest(path)) for path in paths]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path).lstrip("/")
            address = f"http://{self.headers['Host']}"
            documents = [document(path, manifest, address) for path, manifest in manifests if manifest["name"] == name]
            body = files[name].read_bytes() if name in files else json.dumps(documents[0]).encode() if documents else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def read_manifest(path: Path) -> dict:
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("package/package.json"))


def document(path: Path, manifest: dict, address: str) -> dict:
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()}"
    version = {**manifest, "dist": {"tarball": f"{address}/{path.name}", "integrity": integrity}}
    return {
        "name": manifest["name"],
        "dist-tags": {"latest": manifest["version"]},
        "versions": {manifest["version"]: version},
    }
