"""One process per fold: lock files that also work between machines with a shared disk."""

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from pathlib import Path

from ganet_tf.errors import RunError
from ganet_tf.files import UNFINISHED

try:
    import fcntl
except ImportError:  # Windows: takeovers are then not guarded against each other
    fcntl = None

HEARTBEAT_SECONDS = 10
STALE_SECONDS = 120  # only for other machines: on this one the process itself is looked up


class Lock:
    """A file that exists while its owner works, with the owner's name in it.

    It is made with O_EXCL, and a thread renews its time while the owner lives. A lock is stale, and
    may be taken over, when its process is gone (same machine) or its time is old (another machine).

    Args:
        path: the lock file; its folder must exist.
        note: called with one sentence when a stale lock is taken over.
    """

    def __init__(self, path, note=print):
        self.path = Path(path)
        self.note = note
        self.token = uuid.uuid4().hex
        self.holder = None
        self._stop = threading.Event()
        self._thread = None

    def acquire(self):
        """Takes the lock: True, or False with `holder` saying who has it."""
        if not self._create() and not self._take_over():
            return False
        self._stop.clear()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()
        return True

    def release(self):
        """Gives the lock back, if it is still ours."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self.owned():
            self.path.unlink(missing_ok=True)

    def owned(self):
        """Whether the file still names us: after a long sleep another machine may have taken over."""
        return _read(self.path).get("token") == self.token

    def check(self):
        """Raises RunError when the lock is no longer ours."""
        if not self.owned():
            raise RunError(
                f"{self.path} was taken over by {describe(_read(self.path))} while this process did not "
                "answer; it goes on there."
            )

    def _create(self):
        owner = dict(host=socket.gethostname(), pid=os.getpid(), born=_born(os.getpid()), token=self.token)
        # Linked into place: whoever sees the lock sees its text, too.
        draft = self.path.with_name(f"{UNFINISHED}{self.token}-{self.path.name}")
        draft.write_text(json.dumps(owner), encoding="utf-8")
        try:
            os.link(draft, self.path)
        except FileExistsError:
            self.holder = _read(self.path)
            return False
        except OSError:  # a file system without links
            return self._create_exclusively(owner)
        finally:
            draft.unlink(missing_ok=True)
        return True

    def _create_exclusively(self, owner):
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            self.holder = _read(self.path)
            return False
        with os.fdopen(handle, "w") as file:
            file.write(json.dumps(owner))
        return True

    def _take_over(self):
        """Replaces a stale lock. The guard keeps two processes from doing it to each other."""
        with guard(self.path.parent):
            self.holder = _read(self.path)
            if not self._stale():
                return False
            self.path.unlink(missing_ok=True)
            gone = self.holder
            if self._create():
                self.note(f"{self.path.parent.name}: took over the lock of {describe(gone)}, which is gone.")
                return True
            return False

    def _stale(self):
        pid = self.holder.get("pid")
        if self.holder.get("host") == socket.gethostname() and isinstance(pid, int):
            return _born(pid) != self.holder.get("born")
        try:
            return _disk_time(self.path.parent) - self.path.stat().st_mtime > STALE_SECONDS
        except FileNotFoundError:
            return True

    def _beat(self):
        while not self._stop.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(OSError):
                if self.owned():
                    os.utime(self.path)


@contextlib.contextmanager
def guard(folder):
    """A short critical section between processes that share a folder."""
    with open(Path(folder) / ".guard", "a") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a network file system without locks
                fcntl.lockf(file, fcntl.LOCK_EX)
        yield


def describe(holder):
    """'process 12 on host' for the owner in a lock file."""
    if not holder:
        return "another process"
    return f"process {holder.get('pid')} on {holder.get('host')}"


def _read(path):
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return owner if isinstance(owner, dict) else {}
    except (OSError, ValueError):
        return {}


def _born(pid):
    """When a process of this machine started, so that a number given out again is not taken for it.

    None when there is no such process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        state, *fields = stat.rpartition(")")[2].split()
        return None if state == "Z" else fields[18]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "unknown"


def _disk_time(folder):
    """Now, by the clock that stamps files in this folder: another machine's, on a shared disk."""
    probe = folder / f"{UNFINISHED}{uuid.uuid4().hex}-clock"
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)
