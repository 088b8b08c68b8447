"""Where files are kept between runs."""

import logging
import os
import tempfile
from pathlib import Path

import platformdirs

log = logging.getLogger(__name__)

_temporary = []  # a folder for this process alone, once it turns out that the cache cannot be written


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
        if not _temporary:
            log.warning(
                "the cache %s cannot be written (%s); downloads are kept for this run only", folder, error
            )
            _temporary.append(tempfile.TemporaryDirectory(prefix="ganet-"))
        folder = Path(_temporary[0].name).joinpath(*parts)
        folder.mkdir(parents=True, exist_ok=True)
        return folder
