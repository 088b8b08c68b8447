"""The files of a data set, out of a zip file or a folder, without trusting either."""

import lzma
import os
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ganet_tf.errors import DataFormatError, UnsafeFileError

# COLLAB, the largest of ours, has 0.36 GB of text in 10 MB of LZMA: a ratio of 35.
MAX_BYTES = 8 << 30
MAX_RATIO = 250
SMALL = 64 << 20


class Archive:
    """Read-only view of a zip file or a folder by bare file names.

    Zip members are streamed, never written to disk. Opening checks what can be checked before: that it is a zip
    file, that no member points outside, and that it does not unpack to something absurd.

    Args:
        path: A zip file or a folder.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self._zip = None
        if self.path.is_dir():
            self._members = {file.name: file for file in sorted(self.path.iterdir()) if file.is_file()}
        else:
            self._zip = open_zip(self.path)
            check_members(self.path, self._zip.infolist())
            files = [info for info in self._zip.infolist() if not info.is_dir()]
            self._members = {PurePosixPath(info.filename).name: info for info in files}

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
        try:
            with self._open(name) as stream:
                yield stream
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
            raise DataFormatError(f"{self.path.name} is damaged: {name} cannot be unpacked ({error})") from error
        except (
            RuntimeError,
            NotImplementedError,
        ) as error:  # zipfile's words for encryption and unknown methods
            raise DataFormatError(f"{self.path.name} cannot be unpacked: {name}: {error}") from error

    def _open(self, name):
        return open(self._members[name], "rb") if self._zip is None else self._zip.open(self._members[name])


def open_zip(path):
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        size = path.stat().st_size
        raise DataFormatError(
            f"{path} is not a whole zip file ({error}; it has {size:,} bytes); get it again"
        ) from error


def check_members(path, members):
    """Refuses members that would escape their folder, and zip bombs."""
    for info in members:
        parts = PurePosixPath(info.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in info.filename:
            raise UnsafeFileError(f"{path.name} has a member that would escape its folder: {info.filename!r}")
    total = sum(info.file_size for info in members)
    packed = max(sum(info.compress_size for info in members), 1)
    if total > MAX_BYTES or (total > SMALL and total / packed > MAX_RATIO):
        raise UnsafeFileError(
            f"{path.name} looks like a zip bomb: {packed:,} bytes would unpack to {total:,} "
            f"(at most {MAX_BYTES:,} bytes and a ratio of {MAX_RATIO} are accepted)"
        )
