"""A folder that is tried before it is needed, and its files: results and learning curves."""

import errno
import json
import os

import pytest

from experiments import config as settings
from experiments import run_folder
from experiments.run_folder import History, RunFolder, claim, folder_name, read_history
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
    with pytest.raises(OSError, match="No space") as caught:
        write_whole(tmp_path / "a", "new")
    assert caught.value.filename == str(tmp_path / "a")
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


def test_names_of_folds(tmp_path):
    assert RunFolder(tmp_path).fold(3).name == "fold-03"
    assert RunFolder(tmp_path, "node").fold(12).name == "run-12"


RESULT = {"fold": 1, "epochs": 3, "rules": {"last_epoch": {"epoch": 3, "accuracy": 0.75}}}


@pytest.fixture
def finished(tmp_path):
    """A run with fold 1 finished."""
    folder = RunFolder(tmp_path)
    folder.fold(1).mkdir()
    history = History(folder.fold(1) / "history.csv")
    for row in ROWS:
        history.add(row)
    (folder.fold(1) / "model.keras").write_bytes(b"PK" * 100)
    folder.write_result(1, RESULT)
    return folder


def test_results(finished):
    assert {key: finished.result(1)[key] for key in RESULT} == RESULT
    assert list(finished.results([1, 2])) == [1] and finished.damage(1) is None and finished.damage(2) is None


def test_a_result_is_written_after_its_files_are_on_the_disk(finished, monkeypatch):
    order = []
    monkeypatch.setattr(run_folder, "sync", lambda path: order.append(path.name))
    monkeypatch.setattr(run_folder, "write_whole", lambda path, text: order.append(path.name))
    finished.write_result(1, RESULT)
    assert order == ["history.csv", "model.keras", "result.json"]


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "bit": lambda path: path.write_bytes(path.read_bytes()[:-3] + b"7" + path.read_bytes()[-2:]),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["history.csv", "model.keras"])
def test_a_fold_whose_files_are_damaged_is_not_finished(finished, name, damage):
    DAMAGES[damage](finished.fold(1) / name)
    assert finished.damage(1).startswith(name)
    assert finished.result(1) is None and finished.results([1]) == {}


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name != "gone"])
def test_a_damaged_result_is_named(finished, damage):
    DAMAGES[damage](finished.fold(1) / "result.json")
    with pytest.raises(RunError, match=r"result\.json cannot be read .* delete it to train that fold again"):
        finished.result(1)


@pytest.mark.parametrize("text", ["[]", "1", "null", '{"fold": 1}', "[" * 3000])
def test_what_is_json_but_no_result(finished, text):
    (finished.fold(1) / "result.json").write_text(text)
    with pytest.raises(RunError, match="cannot be read"):
        finished.result(1)


def test_a_changed_figure_is_noticed(finished):
    path = finished.fold(1) / "result.json"
    path.write_text(path.read_text().replace("0.75", "0.95"))
    with pytest.raises(RunError, match="checksum does not match"):
        finished.result(1)


def test_results_of_older_versions_have_no_checksums(finished):
    path = finished.fold(1) / "result.json"
    path.write_text(json.dumps(RESULT))
    (finished.fold(1) / "model.keras").unlink()  # nobody can say what it was
    assert finished.result(1) == RESULT and finished.damage(1) is None
    for damage in ("half", "zeros", "empty", "gone"):
        DAMAGES[damage](finished.fold(1) / "history.csv")
        assert "history.csv" in finished.damage(1) and finished.result(1) is None


def test_litter_of_a_killed_process(finished):
    for name in (".unfinished-x-result.json", "checkpoint-a.bin", "lock"):
        (finished.fold(1) / name).touch()
    assert finished.litter(1) == [".unfinished-x-result.json", "checkpoint-a.bin", "lock"]
    finished.tidy(1)
    assert finished.litter(1) == ["lock"], "which belongs to whoever tidies up"
    assert finished.result(1) is not None


def test_an_unfinished_fold_keeps_its_checkpoints(finished):
    (finished.fold(1) / "result.json").unlink()
    for name in (".unfinished-x-result.json", "checkpoint-a.bin"):
        (finished.fold(1) / name).touch()
    finished.tidy(1)
    assert {"checkpoint-a.bin", "history.csv"} <= set(os.listdir(finished.fold(1)))
    assert ".unfinished-x-result.json" not in os.listdir(finished.fold(1))


def test_litter_in_the_runs_own_folder(tmp_path):
    config = settings.build({"task": "graph", "dataset": "MUTAG", "model": "hganet", "optimizer": {}})
    folder = RunFolder(tmp_path)
    claim(folder, config)
    for name in (".unfinished-abc", ".unfinished-1-config.yaml", ".unfinished-2-summary.json"):
        (tmp_path / name).write_bytes(bytes(1000))
    folder.prepare(size=2**20)
    assert sorted(os.listdir(tmp_path)) == [".guard", "config.yaml"]


@pytest.mark.parametrize("stem", ["..", ".", "...", ""])
def test_a_runs_folder_stays_below_runs(stem):
    config = settings.build({"task": "graph", "dataset": "MUTAG", "model": "hganet", "optimizer": {}})
    assert folder_name(config, config, stem) == "run"


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


@pytest.mark.parametrize(
    "text", ["epoch,a\n1,x\n", "epoch,a\n1\n", "epoch,a\n1,2,3\n", "epoch\n\0\n", "epoch,a\nx,1\n"]
)
def test_a_damaged_history(tmp_path, text):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(RunError, match=r"h\.csv is damaged"):
        read_history(tmp_path / "h.csv")


def test_a_damaged_number_of_runs_is_not_believed(tmp_path):
    """The runs that are there count, and those asked for; a digit of config.yaml does not ask for more."""
    config = settings.build({"task": "node", "dataset": "Karate", "model": "gcn", "optimizer": {}, "runs": 2})
    folder = RunFolder(tmp_path, "node")
    claim(folder, config)
    folder.config.write_text(folder.config.read_text().replace("runs: 2", "runs: 7"))
    assert claim(folder, config).runs == 2 == settings.load(folder.config).runs
    folder.fold(5).mkdir()
    assert claim(folder, config).runs == 5, "as many as there are"
