"""Archives that are the same byte for byte if their contents are: sorted entries, fixed times, modes and owners."""

import gzip
import io
import lzma
import tarfile
import time
import zipfile
from dataclasses import dataclass
from stat import S_IFREG

# The earliest time that a zip file can hold: 1980-01-01.
EARLIEST_ZIP_TIME = 315532800


@dataclass(frozen=True)
class Entry:
    data: bytes
    mode: int = 0o644


# File names, relative to the root of the archive.
Entries = dict[str, Entry]


def zipped(entries: Entries, epoch: int) -> bytes:
    date = time.gmtime(max(epoch, EARLIEST_ZIP_TIME))[:6]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, entry in sorted(entries.items()):
            info = zipfile.ZipInfo(name, date)
            info.create_system = 3  # Unix: otherwise the mode is ignored.
            info.external_attr = (S_IFREG | entry.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.data)
    return target.getvalue()


def tarred(entries: Entries, epoch: int, directories: dict[str, int] | None = None, prefix: str = "") -> bytes:
    """`directories` are entries of their own, with these modes; the directories of the files are not, unless listed."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, mode in sorted((directories or {}).items()):
            archive.addfile(tar_info(prefix + name, mode, tarfile.DIRTYPE, 0, epoch))
        for name, entry in sorted(entries.items()):
            info = tar_info(prefix + name, entry.mode, tarfile.REGTYPE, len(entry.data), epoch)
            archive.addfile(info, io.BytesIO(entry.data))
    return target.getvalue()


def tar_info(name: str, mode: int, kind: bytes, size: int, epoch: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode, info.type, info.size, info.mtime = mode, kind, size, epoch
    info.uname = info.gname = "root"
    return info


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def xz_compressed(data: bytes) -> bytes:
    return lzma.compress(data, preset=6)
