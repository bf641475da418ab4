"""A container image as an OCI layout in a tar file: one image for each processor, made without a daemon. The image
contains nothing else, so the binary must be static."""

import hashlib
import json
import time

from archives import Entries, Entry, gzipped, tarred
from binary import Binary
from project import LICENSE, NAME, REGISTRY_NAME, REPOSITORY, SUMMARY, VERSION

OCI_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
# An account that has no name and owns nothing, as other minimal images use it.
USER = "65532:65532"
DIRECTORIES = {
    "home": 0o755, "home/toolsd": 0o777, "tmp": 0o1777, "usr": 0o755, "usr/bin": 0o755, "workspace": 0o777,
}


def make_image(binaries: list[Binary], licenses: dict[str, dict[str, bytes]], epoch: int) -> tuple[str, bytes]:
    entries: Entries = {}

    def blob(data: bytes, kind: str) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        entries[f"blobs/sha256/{digest}"] = Entry(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    images = []
    for binary in binaries:
        layer = tarred(layer_entries(binary, licenses[binary.target]), epoch, DIRECTORIES)
        platform = {"architecture": OCI_PROCESSORS[binary.architecture], "os": "linux"}
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": blob(encoded(configuration(platform, layer, epoch)), "config.v1+json"),
            "layers": [blob(gzipped(layer), "layer.v1.tar+gzip")],
            "annotations": labels(),
        }
        images.append({**blob(encoded(manifest), "manifest.v1+json"), "platform": platform})
    # A registry shows one reference for all processors, so the images are in an index of their own.
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": images}
    named = blob(encoded({**index, "annotations": labels()}), "index.v1+json")
    named["annotations"] = {"org.opencontainers.image.ref.name": VERSION}
    entries["index.json"] = Entry(encoded({**index, "manifests": [named]}))
    entries["oci-layout"] = Entry(encoded({"imageLayoutVersion": "1.0.0"}))
    return f"{NAME}-{VERSION}-oci.tar", tarred(entries, epoch)


def layer_entries(binary: Binary, licenses: dict[str, bytes]) -> Entries:
    return {
        f"usr/bin/{NAME}": Entry(binary.data, 0o755),
        **{f"usr/share/doc/{NAME}/{name}": Entry(text) for name, text in licenses.items()},
    }


def configuration(platform: dict[str, str], layer: bytes, epoch: int) -> dict:
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    return {
        **platform,
        "created": created,
        "config": {
            "Entrypoint": [f"/usr/bin/{NAME}"],
            "Cmd": ["serve"],
            "WorkingDir": "/workspace",
            "User": USER,
            "Env": ["PATH=/usr/bin", "HOME=/home/toolsd"],
            "Labels": labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": ".ci/ship"}],
    }


def labels() -> dict[str, str]:
    return {
        "io.modelcontextprotocol.server.name": REGISTRY_NAME,
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.licenses": LICENSE,
        "org.opencontainers.image.source": REPOSITORY,
        "org.opencontainers.image.title": NAME,
        "org.opencontainers.image.version": VERSION,
    }


def encoded(value: dict) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
