"""Where files are kept between runs."""

import logging
import os
import tempfile
from pathlib import Path

import platformdirs

log = logging.getLogger(__name__)

_announced = set()  # caches of which it was said that they cannot be written: once is enough
_temporary = []  # a folder for this process alone, in place of such a cache


def cache_folder():
    """The cache: the folder named by GANET_CACHE, or a folder of the user's."""
    return Path(os.environ.get("GANET_CACHE") or platformdirs.user_cache_dir("ganet_tf", appauthor=False))


def writable_folder(*parts):
    """Makes and returns a folder within the cache, or a temporary one if the cache cannot be written."""
    folder = cache_folder().joinpath(*parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        say_unwritable(error)
        if not _temporary:
            _temporary.append(tempfile.TemporaryDirectory(prefix="ganet-"))
        folder = Path(_temporary[0].name).joinpath(*parts)
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def say_unwritable(error):
    """Says in one line, once, that the cache cannot be written: that is no reason to fail."""
    folder = str(cache_folder())
    if folder not in _announced:
        _announced.add(folder)
        log.warning("the cache %s cannot be written (%s): nothing is kept for the next run", folder, error)
