"""Locks: one owner, takeover of dead ones, between machines by the file's age."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import lock as locking
from experiments.lock import Lock
from ganet_tf.errors import RunError


@pytest.fixture
def notes():
    return []


def write_owner(path, **owner):
    """A lock of a process here, unless said otherwise."""
    path.write_text(json.dumps({**locking._here(), "token": "x", **owner}))


def make_older(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return process.pid


def test_one_owner(tmp_path, notes):
    first, second = Lock(tmp_path / "lock", notes.append), Lock(tmp_path / "lock", notes.append)
    assert first.acquire() and not second.acquire()
    assert locking.describe(second.holder) == f"process {os.getpid()} on {socket.gethostname()}"
    first.release()
    assert second.acquire()
    second.release()
    assert not (tmp_path / "lock").exists() and notes == []


def test_a_dead_process_is_taken_over_at_once(tmp_path, notes):
    write_owner(tmp_path / "lock", pid=dead_process(), born="1")
    lock = Lock(tmp_path / "lock", notes.append)
    assert lock.acquire() and lock.owned()
    assert "took over the lock of process" in notes[0]
    lock.release()


def test_a_process_number_that_was_given_out_again(tmp_path, notes):
    write_owner(tmp_path / "lock", pid=os.getpid(), born="long ago")
    assert Lock(tmp_path / "lock", notes.append).acquire()


@pytest.mark.parametrize("elsewhere", ["host", "boot", "space"])
@pytest.mark.parametrize(("age", "taken"), [(0, False), (locking.STALE_SECONDS + 60, True)])
def test_another_machine_or_container_by_age(tmp_path, notes, elsewhere, age, taken):
    # Process numbers are given out in each of them, so that a dead process here says nothing.
    write_owner(tmp_path / "lock", pid=dead_process(), born="1", **{elsewhere: "other"})
    make_older(tmp_path / "lock", age)
    lock = Lock(tmp_path / "lock", notes.append)
    assert lock.acquire() is taken and len(notes) == taken
    if taken:
        lock.release()


def test_a_lock_of_an_older_version_by_age(tmp_path, notes):
    owner = dict(host=socket.gethostname(), pid=dead_process(), born="1", token="x")
    (tmp_path / "lock").write_text(json.dumps(owner))
    assert not Lock(tmp_path / "lock", notes.append).acquire()
    make_older(tmp_path / "lock", locking.STALE_SECONDS + 60)
    assert Lock(tmp_path / "lock", notes.append).acquire()


ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, types
sys.modules["ganet_tf"] = types.ModuleType("ganet_tf")  # its small modules alone: TensorFlow takes seconds to load
sys.modules["ganet_tf"].__path__ = ["ganet_tf"]
from experiments.lock import Lock
lock = Lock(sys.argv[1] + "/lock")
print(lock.acquire(), flush=True)
sys.stdin.read()
"""
CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]


def can_unshare():
    try:
        return subprocess.run([*CONTAINER, "true"], capture_output=True, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@pytest.mark.skipif(not can_unshare(), reason="needs leave to make PID namespaces")
def test_two_containers_with_one_host_name(tmp_path):
    command = [*CONTAINER, sys.executable, "-c", HOLDER, str(tmp_path)]
    options = dict(cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with subprocess.Popen(command, **options) as first:
        assert first.stdout.readline() == "True\n"
        assert json.loads((tmp_path / "lock").read_text())["pid"] < 10, "a number of the container's own"
        with subprocess.Popen(command, **options) as second:
            assert second.communicate(timeout=120)[0] == "False\n", "the living one is left alone"
        assert first.poll() is None
        first.communicate(timeout=60)


UNREADABLE = ["", '{"host": "vm", "pi', "\0" * 80, "[]", '{"host": "vm"}', "[" * 3000]


@pytest.mark.parametrize("text", UNREADABLE, ids=["empty", "half", "zeros", "list", "no owner", "nested"])
def test_an_unreadable_lock_is_named_and_taken_over_when_old(tmp_path, notes, monkeypatch, text):
    monkeypatch.setattr(locking, "UNREADABLE_SECONDS", 0.05)
    (tmp_path / "lock").write_text(text)
    with pytest.raises(RunError, match=r"lock cannot be read.*delete that file"):
        Lock(tmp_path / "lock", notes.append).acquire()
    make_older(tmp_path / "lock", locking.STALE_SECONDS + 60)
    lock = Lock(tmp_path / "lock", notes.append)
    assert lock.acquire() and lock.owned()
    lock.release()


def test_a_lock_that_gets_its_text_a_moment_later(tmp_path, notes, monkeypatch):
    """As on a file system without links, between making the file and writing into it."""
    (tmp_path / "lock").write_text("")
    monkeypatch.setattr(locking.time, "sleep", lambda _: write_owner(tmp_path / "lock", host="elsewhere", pid=7))
    lock = Lock(tmp_path / "lock", notes.append)
    assert not lock.acquire() and lock.holder["pid"] == 7


def test_the_heartbeat_renews_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(locking, "HEARTBEAT_SECONDS", 0.01)
    lock = Lock(tmp_path / "lock")
    lock.acquire()
    os.utime(tmp_path / "lock", (1, 1))
    deadline = time.monotonic() + 10
    while (tmp_path / "lock").stat().st_mtime == 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    lock.release()
    assert time.monotonic() < deadline


def test_losing_the_lock_is_noticed_and_the_new_owner_keeps_it(tmp_path):
    lock = Lock(tmp_path / "lock")
    lock.acquire()
    write_owner(tmp_path / "lock", host="elsewhere", pid=7, born="1", token="other")
    with pytest.raises(RunError, match="taken over by process 7 on elsewhere"):
        lock.check()
    lock.release()
    assert json.loads((tmp_path / "lock").read_text())["token"] == "other"


def test_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError("Operation not supported")

    monkeypatch.setattr(locking.os, "link", no_links)
    lock = Lock(tmp_path / "lock")
    assert lock.acquire() and not Lock(tmp_path / "lock").acquire()
    lock.release()
    assert list(tmp_path.glob(".lock*")) == []
