"""Locks: one owner, takeover of dead ones, between machines by the file's age."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

from experiments import lock as locking
from experiments.lock import Lock
from ganet_tf.errors import RunError


@pytest.fixture
def notes():
    return []


def write_owner(path, **owner):
    path.write_text(json.dumps(owner))


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
    write_owner(tmp_path / "lock", host=socket.gethostname(), pid=dead_process(), born="1", token="x")
    lock = Lock(tmp_path / "lock", notes.append)
    assert lock.acquire() and lock.owned()
    assert "took over the lock of process" in notes[0]
    lock.release()


def test_a_process_number_that_was_given_out_again(tmp_path, notes):
    write_owner(tmp_path / "lock", host=socket.gethostname(), pid=os.getpid(), born="long ago", token="x")
    assert Lock(tmp_path / "lock", notes.append).acquire()


@pytest.mark.parametrize(("age", "taken"), [(0, False), (locking.STALE_SECONDS + 60, True)])
def test_another_machine_by_age(tmp_path, notes, age, taken):
    write_owner(tmp_path / "lock", host="elsewhere", pid=1, born="1", token="x")
    then = time.time() - age
    os.utime(tmp_path / "lock", (then, then))
    lock = Lock(tmp_path / "lock", notes.append)
    assert lock.acquire() is taken and len(notes) == taken
    if taken:
        lock.release()


def test_an_unreadable_lock_counts_by_age(tmp_path, notes):
    (tmp_path / "lock").write_text("")
    assert not Lock(tmp_path / "lock", notes.append).acquire()


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
