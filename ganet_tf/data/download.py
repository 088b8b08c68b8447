"""Getting one file over HTTP, whole or not at all."""

import logging
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

from ganet_tf.errors import DownloadError
from ganet_tf.files import draft

log = logging.getLogger(__name__)

# Short, so that a machine that reaches only a package index gets on to it: (connect, between two pieces of data).
TIMEOUT = (3.0, 20.0)
TRIES = 3
PAUSE = 0.5  # seconds before the second try; twice as long before each further one

# host -> (until when, why): asking it for the next file at once would only cost another timeout.
_unreachable = {}


def download(url, path):
    """Downloads a file, with retries and, on a terminal, a progress bar.

    The data go to a file of another name in the same folder, which is moved into place at the end: an interruption
    leaves nothing that looks like the file, and two processes do not disturb each other. What has the right name is
    not therefore the right file: the caller checks it.

    Args:
        url: Where from.
        path: Where to; its folder must exist.

    Raises:
        DownloadError: If the file could not be had; the message says why in a few words.
    """
    host = urlsplit(url).netloc
    until, reason = _unreachable.get(host, (0, ""))
    if time.monotonic() < until:
        raise DownloadError(reason)
    for attempt in range(1, TRIES + 1):
        try:
            return _download_once(url, Path(path))
        except requests.RequestException as error:
            reason, worth_retrying = explain(error)
            if isinstance(error, requests.ConnectionError) and not is_cut_off(error):
                _unreachable[host] = time.monotonic() + 60, reason
            if not worth_retrying or attempt == TRIES:
                raise DownloadError(reason) from error
            log.info("%s: %s; trying again", url, reason)
            time.sleep(PAUSE * 2 ** (attempt - 1))


def _download_once(url, path):
    with draft(path) as temporary:
        downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
        downloader(url, str(temporary), None)


def is_cut_off(error):
    """Whether the connection was made, but broke before the end."""
    return isinstance(error, (requests.exceptions.ChunkedEncodingError, requests.ReadTimeout)) or any(
        word in str(error) for word in ("IncompleteRead", "Connection broken", "Read timed out", "Connection aborted")
    )


def explain(error):
    """Returns a few words for a failed request, and whether a second try makes sense."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        code = error.response.status_code
        return f"the server answered {code} {error.response.reason}", code >= 500 or code == 429
    if is_cut_off(error):
        return "the connection broke off", True
    if isinstance(error, requests.exceptions.SSLError):
        return "its TLS certificate cannot be verified", False
    if isinstance(error, requests.ConnectTimeout):
        return f"no connection within {TIMEOUT[0]:g} s", False
    if "NameResolution" in str(error) or isinstance(error.__cause__, socket.gaierror):
        return "its address cannot be found (no network?)", False
    return f"no connection ({type(error).__name__})", False
