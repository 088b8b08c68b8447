"""Files that are there whole or not at all, whatever happens while they are written."""

import contextlib
import os
import uuid
from pathlib import Path

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
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path, content):
    """Writes text (as UTF-8), bytes, or what a function writes into the open binary file that it is given."""
    with draft(path) as temporary, open(temporary, "wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)


def remove_unfinished(folder):
    """Removes the drafts that killed processes left in a folder; nobody may be writing there."""
    for path in Path(folder).glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _sync(path):
    """Puts a file's content on the disk, and a folder's where the system can: that one is not worth an error."""
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
