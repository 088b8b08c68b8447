"""One process per fold: lock files that also work between machines with a shared disk."""

import contextlib
import hashlib
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
STALE_SECONDS = 120  # only for other machines and containers: here the process itself is looked up
UNREADABLE_SECONDS = 1  # how long a lock may stay without text: some file systems have no links, see _create


class Lock:
    """A file that exists while its owner works, with the owner's name in it.

    It is made with O_EXCL, and a thread renews its time while the owner lives. A lock is stale, and
    may be taken over, when its process is gone (same machine, same container) or its time is old (elsewhere:
    two containers may have one host name and each a process 1).

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
        """Takes the lock: True, or False with `holder` saying who has it.

        Raises:
            RunError: when the lock cannot be read, so that nobody can say whose it is.
        """
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
                "answer; it continues there."
            )

    def _create(self):
        owner = {**_here(), "pid": os.getpid(), "born": _born(os.getpid()), "token": self.token}
        owner["sha256"] = _digest(owner)  # one damaged letter of the host, and it would be another machine's
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
            self.holder = self._wait_for_text()
            if not self._stale():
                if not self.holder:
                    raise RunError(
                        f"{self.path} cannot be read, so that {self.path.parent.name} may be in training elsewhere; "
                        f"if it is not, delete that file, or wait {STALE_SECONDS} s, and give the command again."
                    )
                return False
            self.path.unlink(missing_ok=True)
            gone = self.holder
            if self._create():
                self.note(f"{self.path.parent.name}: took over the lock of {describe(gone)}, which is gone.")
                return True
            return False

    def _wait_for_text(self):
        """Who has the lock; {} when the file is gone or stays unreadable."""
        deadline = time.monotonic() + UNREADABLE_SECONDS
        while not (holder := _read(self.path)) and self.path.exists() and time.monotonic() < deadline:
            time.sleep(UNREADABLE_SECONDS / 10)
        return holder

    def _stale(self):
        if all(self.holder.get(key) == value for key, value in _here().items()):
            return _born(self.holder["pid"]) != self.holder.get("born")
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
    """A short critical section between processes that share a folder; gives whether it is one.

    It is none on a system, or a network file system, without such locks.
    """
    with open(Path(folder) / ".guard", "a") as file:
        alone = False
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX)
                alone = True
        yield alone


def describe(holder):
    """'process 12 on host' for the owner in a lock file."""
    if not holder:
        return "another process"
    return f"process {holder.get('pid')} on {holder.get('host')}"


def _read(path):
    """The owner in a lock file; {} when there is none, or nothing that a lock file says."""
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    whole = isinstance(owner, dict) and isinstance(owner.get("pid"), int) and isinstance(owner.get("token"), str)
    whole = whole and owner.get("sha256") in (None, _digest(owner))  # older versions wrote none
    return owner if whole else {}


def _digest(owner):
    """SHA-256 of an owner without its own entry."""
    rest = {key: value for key, value in owner.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("utf-8")).hexdigest()


def _here():
    """Where a process number means this process: host, boot and, for containers, the space of process numbers."""
    return {"host": socket.gethostname(), "boot": _boot(), "space": _space()}


def _boot():
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def _space():
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


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
