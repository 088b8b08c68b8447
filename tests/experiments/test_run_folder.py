"""A folder that is tried before it is needed, and its files: results and learning curves."""

import errno
import os

import pytest

from experiments import run_folder
from experiments.run_folder import History, RunFolder, read_history
from ganet_tf.errors import RunError
from ganet_tf.files import write_whole

ROWS = [{"epoch": e, "train_loss": 0.1 / e, "test_accuracy": e / 7} for e in (1, 2, 3)]


def test_write_whole(tmp_path):
    write_whole(tmp_path / "a", "é")
    write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", "old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run_folder.os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_prepare_leaves_nothing_behind(tmp_path):
    RunFolder(tmp_path / "a" / "b").prepare(size=2**20)
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"cannot be written.*--output"):
        RunFolder(tmp_path / "file").prepare()


def test_a_full_disk_is_found_before_training(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run_folder.os, "fsync", fail)
    with pytest.raises(RunError, match=r"the disk is full \(32 MiB are needed\)"):
        RunFolder(tmp_path / "run").prepare()
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(RunError, match="Permission denied"):
        RunFolder(tmp_path / "run").prepare()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system nobody can write")
def test_a_file_system_that_cannot_be_written():
    with pytest.raises(RunError, match="cannot be written"):
        RunFolder("/proc/ganet").prepare()


def test_results_and_a_broken_one(tmp_path):
    folder = RunFolder(tmp_path)
    assert folder.fold(3).name == "fold-03" and RunFolder(tmp_path, "node").fold(12).name == "run-12"
    folder.fold(1).mkdir()
    write_whole(folder.fold(1) / "result.json", '{"fold": 1}')
    assert folder.results([1, 2]) == {1: {"fold": 1}}
    (folder.fold(1) / "result.json").write_text("{")
    with pytest.raises(RunError, match=r"result\.json cannot be read .* delete it"):
        folder.result(1)


def test_litter_of_a_killed_process(tmp_path):
    folder = RunFolder(tmp_path)
    folder.fold(1).mkdir()
    for name in (".unfinished-x-result.json", "history.csv"):
        (folder.fold(1) / name).touch()
    folder.remove_litter(1)
    assert os.listdir(folder.fold(1)) == ["history.csv"]


def test_rows_come_back_to_the_last_digit(tmp_path):
    history = History(tmp_path / "h.csv")
    for row in ROWS:
        history.add(row)
    assert read_history(tmp_path / "h.csv") == ROWS == history.rows


def test_a_cut_off_line_is_left_out(tmp_path):
    path = tmp_path / "h.csv"
    history = History(path)
    for row in ROWS:
        history.add(row)
    path.write_bytes(path.read_bytes()[:-4])
    assert read_history(path) == ROWS[:2]


def test_resuming_gives_the_same_file(tmp_path):
    whole, resumed = History(tmp_path / "a.csv"), History(tmp_path / "b.csv", ROWS[:2])
    for row in ROWS:
        whole.add(row)
    resumed.add(ROWS[2])
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_an_empty_history(tmp_path):
    History(tmp_path / "h.csv")
    assert read_history(tmp_path / "h.csv") == []
