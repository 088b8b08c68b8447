"""Files that are there whole or not at all, whatever happens while they are written."""

import contextlib
import os
import uuid
from pathlib import Path

from ganet_tf.errors import GANetError

UNFINISHED = ".unfinished-"  # what a killed process leaves behind begins so


@contextlib.contextmanager
def draft(path):
    """A path to write to, in the same folder and with the same ending; on leaving, it becomes `path`.

    The draft and then the folder are synced to disk, so that after a power loss the file is the old or the new one.
    When the block raises, the draft is removed and `path` stays as it was. The folder is made if it is not there.

    Example:

    >>> with draft("model.keras") as path:
    ...     model.save(path)
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{UNFINISHED}{uuid.uuid4().hex[:12]}-{path.name}")
    try:
        with named(path):
            yield temporary
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path, content):
    """Writes text (as UTF-8), bytes, or what a function writes into the open binary file that it is given."""
    with draft(path) as temporary, open(temporary, "wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def named(path):
    """Gives an error of the system within the block, mostly a full disk, the name of the file, if it has none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or isinstance(error, GANetError):
            raise
        if error.errno is None:
            raise OSError(f"{path}: {error}") from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def remove_unfinished(folder):
    """Removes the drafts that killed processes left in a folder; nobody may be writing there."""
    for path in Path(folder).glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def sync(path):
    """Puts a file's content on the disk, and a folder's where the system can: that one is not worth an error."""
    path = Path(path)
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        if path.is_dir():  # Windows opens no folders
            return
        raise
    try:
        os.fsync(handle)
    except OSError:  # a full or broken disk, but some network file systems have no sync of folders
        if not path.is_dir():
            raise
    finally:
        os.close(handle)
