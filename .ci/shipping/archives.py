"""Archives that are the same byte for byte if their contents are: sorted entries, fixed times, modes and owners."""

import io
import lzma
import struct
import tarfile
import time
import zlib
from dataclasses import dataclass
from stat import S_IFREG

# libdeflate: 3 % smaller than zlib at its best, which a binary of this size needs to stay below the limit of a wheel.
import deflate

# The earliest time that a zip file can hold: 1980-01-01.
EARLIEST_ZIP_TIME = 315532800


@dataclass(frozen=True)
class Entry:
    data: bytes
    mode: int = 0o644


# File names, relative to the root of the archive.
Entries = dict[str, Entry]


def zipped(entries: Entries, epoch: int) -> bytes:
    """A zip file of deflated entries. `zipfile` cannot take data that another library has compressed."""
    year, month, day, hour, minute, second = time.gmtime(max(epoch, EARLIEST_ZIP_TIME))[:6]
    clock, date = hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day
    version, utf8_names, deflated, unix = 20, 0x800, 8, 3
    contents, directory = b"", b""
    for name, entry in sorted(entries.items()):
        packed, encoded = deflate.deflate_compress(entry.data, 12), name.encode()
        sizes = (zlib.crc32(entry.data), len(packed), len(entry.data), len(encoded), 0)
        header = struct.pack("<5H3I2H", version, utf8_names, deflated, clock, date, *sizes)
        # The mode counts only if the file says that it was made on Unix.
        mode = (S_IFREG | entry.mode) << 16
        directory += b"PK\1\2" + struct.pack("<H", unix << 8 | version) + header
        directory += struct.pack("<3H2I", 0, 0, 0, mode, len(contents)) + encoded
        contents += b"PK\3\4" + header + encoded + packed
    count = len(entries)
    end = struct.pack("<4H2IH", 0, 0, count, count, len(directory), len(contents), 0)
    return contents + directory + b"PK\5\6" + end


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
    return bytes(deflate.gzip_compress(data, 12))


def xz_compressed(data: bytes) -> bytes:
    return lzma.compress(data, preset=6)
