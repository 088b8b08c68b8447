"""The files of a data set, out of a zip file or a folder, without trusting either."""

import lzma
import os
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ganet_tf.errors import DataFormatError, GANetError, UnsafeFileError

# COLLAB, the largest of ours, has 0.36 GB of text in 10 MB of LZMA: a ratio of 35.
MAX_BYTES = 8 << 30
MAX_RATIO = 250
SMALL = 64 << 20

# What zipfile and its decompressors raise for files that are damaged, encrypted or of an unknown kind.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # also NotImplementedError
    ValueError,
    IndexError,
    OverflowError,
)


class Archive:
    """Read-only view of a zip file or a folder by bare file names.

    Zip members are streamed, never written to disk. Opening checks what can be checked before: that it is a zip
    file, that its two lists of members agree, that no member points outside, and that it does not unpack to something
    absurd.

    Args:
        path: A zip file or a folder.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self._zip = None
        if self.path.is_dir():
            self._members = {file.name: [file] for file in sorted(self.path.iterdir()) if file.is_file()}
        else:
            self._zip = open_zip(self.path)
            try:
                self._members = zip_members(self.path, self._zip)
            except BaseException:
                self._zip.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._zip is not None:
            self._zip.close()

    def __contains__(self, name):
        return name in self._members

    def names(self) -> list[str]:
        """Bare names of all files, without the hidden ones that some systems put into archives."""
        return [name for name in self._members if name and not name.startswith(".")]

    @contextmanager
    def open(self, name):
        """Opens a file for reading bytes; damage that shows while reading becomes a `DataFormatError`."""
        if len(self._members[name]) > 1:
            raise DataFormatError(f"{self.path.name} has two files {name!r}: which one counts cannot be known")
        try:
            with self._open(name) as stream:
                yield stream
        except GANetError:
            raise
        except DAMAGE as error:
            raise DataFormatError(f"{self.path.name} is damaged: {name} cannot be unpacked ({error})") from error

    def _open(self, name):
        (member,) = self._members[name]
        return open(member, "rb") if self._zip is None else self._zip.open(member)


def open_zip(path: Path) -> zipfile.ZipFile:
    """Opens a zip file whose list of members is whole.

    Raises:
        DataFormatError: If it is none, cut off, or of a kind that cannot be read; if it is no plain file.
    """
    if not path.is_file():
        raise DataFormatError(f"{path} is not a file: devices and pipes are not read")
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE as error:
        size = path.stat().st_size
        raise DataFormatError(
            f"{path} is not a whole zip file ({error}; it has {size:,} bytes); get it again"
        ) from error
    if said_members(path) not in (len(archive.infolist()), 0xFFFF):
        archive.close()
        raise DataFormatError(f"{path} is damaged: its list of members is not whole; get it again")
    return archive


def said_members(path):
    """The number of members that the end of a zip file gives; zipfile does not look at it."""
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - (1 << 16) - 22, 0))
        end = file.read()
    place = end.rfind(b"PK\5\6")
    return int.from_bytes(end[place + 10 : place + 12], "little")


def zip_members(path, archive):
    """Lists of members of a zip file by bare name; each is opened once, because that compares its two headers."""
    check_members(path, archive.infolist())
    members = {}
    for info in archive.infolist():
        try:
            archive.open(info).close()
            check_header(path, info)
        except DAMAGE as error:
            raise DataFormatError(f"{path.name} cannot be read: {info.filename!r}: {error}; get it again") from error
        if not info.is_dir():
            members.setdefault(PurePosixPath(info.filename).name, []).append(info)
    return members


def check_header(path: Path, info: zipfile.ZipInfo) -> None:
    """Compares a member's checksum and sizes in the two lists, of which zipfile compares the names alone.

    With a checksum and a size of 0 in its list, zipfile would take any file for an empty one.
    """
    with open(path, "rb") as file:
        file.seek(info.header_offset + 6)
        flags, *_, crc, packed, size = struct.unpack("<4H3L", file.read(20))
    there = info.CRC, info.compress_size, info.file_size
    streamed = flags & 8 or 0xFFFFFFFF in (packed, size)  # they stand behind the member then, or in a larger form
    if (not streamed and there != (crc, packed, size)) or (info.file_size > 0 and info.compress_size == 0):
        raise zipfile.BadZipFile("its checksum and sizes are not the same in both lists of members")


def check_members(
    path: Path, members: list[zipfile.ZipInfo], max_bytes: int | None = None, max_ratio: float = MAX_RATIO
) -> None:
    """Refuses members that would escape their folder, and zip bombs."""
    for info in members:
        parts = PurePosixPath(info.filename.replace("\\", "/"))
        if not info.filename:
            raise DataFormatError(f"{path.name} is damaged: a member has no name")
        if parts.is_absolute() or ".." in parts.parts or ":" in info.filename:
            raise UnsafeFileError(f"{path.name} has a member that would escape its folder: {info.filename!r}")
    max_bytes = MAX_BYTES if max_bytes is None else max_bytes
    total = sum(info.file_size for info in members)
    packed = max(sum(info.compress_size for info in members), 1)
    if total > max_bytes or (total > SMALL and total / packed > max_ratio):
        raise UnsafeFileError(
            f"{path.name} looks like a zip bomb: {packed:,} bytes would unpack to {total:,} "
            f"(at most {max_bytes:,} bytes and a ratio of {max_ratio} are accepted)"
        )
