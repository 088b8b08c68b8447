"""What users rely on when something goes wrong: train.py ends right, or says in a sentence what is wrong."""

import errno
import functools
import json
import os
import shutil
import signal

import keras
import numpy as np
import pytest

import train
from experiments import checkpoint, console, environment, lock, training
from experiments.run_folder import read_history
from ganet_tf import models


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tiny_config, tmp_path_factory):
    """A finished run of one fold; tests take a copy."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    assert train.main(flags_for(tiny_config, folder)) == 0
    return folder


def flags_for(config, folder, *more):
    return ["--config", str(config), "--folds", "1", "--output", str(folder), *more]


def last_error(capsys):
    """The error's only line."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("train.py: "), lines
    return lines[0]


def in_epoch(monkeypatch, epoch, act):
    """Lets something happen at the end of an epoch, before its checkpoint."""
    tell = console.Reporter.epoch

    def spy(self, row):
        tell(self, row)
        if row["epoch"] == epoch:
            act()

    monkeypatch.setattr(console.Reporter, "epoch", spy)


# Seeds


def histories(folder):
    return [read_history(path) for path in sorted(folder.glob("*/history.csv"))]


def test_fold_n_is_trained_with_seed_plus_n(here):
    flags = ["--dataset", "Karate", "--model", "gcn", "--epochs", "4", "--quiet", "--folds", "1,2", "--output"]
    assert train.main([*flags, "a"]) == 0 and train.main([*flags, "b", "--seed", "1"]) == 0
    a, b = histories(here / "a"), histories(here / "b")
    assert a[0] != a[1], "the same data, but another seed"
    for one, other in zip(a[1], b[0], strict=True):  # 0 + 2 = 1 + 1
        np.testing.assert_allclose(list(one.values()), list(other.values()), rtol=1e-6)
    seeds = [json.loads((here / f"{run}/run-0{n}/result.json").read_text())["seed"] for run in "ab" for n in (1, 2)]
    assert seeds == [1, 2, 2, 3]


# Locks


def test_a_run_that_lost_its_lock_stops_at_the_next_epoch(tiny_config, here, capsys, monkeypatch):
    def somebody_takes_over():
        (here / "x/fold-01/lock").write_text(json.dumps(dict(host="elsewhere", pid=7, born="1", token="other")))

    in_epoch(monkeypatch, 1, somebody_takes_over)
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 2
    assert "was taken over by process 7 on elsewhere" in last_error(capsys)
    assert len(read_history(here / "x/fold-01/history.csv")) == 1, "nothing was written after that"
    assert json.loads((here / "x/fold-01/lock").read_text())["token"] == "other"
    assert not (here / "x/fold-01/result.json").exists()


def test_an_unreadable_lock_is_an_error_and_not_an_empty_success(tiny_config, here, capsys, monkeypatch):
    monkeypatch.setattr(lock, "UNREADABLE_SECONDS", 0.01)
    (here / "x/fold-01").mkdir(parents=True)
    shutil.copy(config_of(tiny_config, "c"), here / "x/config.yaml")
    (here / "x/fold-01/lock").touch()
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 2
    assert "fold-01/lock cannot be read" in last_error(capsys)


def config_of(tiny_config, folder):
    """A resolved config.yaml, made by a run that is stopped at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.Trainer, "run", lambda self, numbers: {})
        assert train.main(flags_for(tiny_config, folder, "--quiet")) == 0
    return f"{folder}/config.yaml"


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_model_is_copied(tiny_config, finished, here, capsys, monkeypatch, number):
    build, calls = models.GraphClassifier.build, []

    @functools.wraps(build)
    def interrupted(self, *arguments, **options):
        calls.append(1)
        build(self, *arguments, **options)
        if len(calls) == 2:  # the copy that is saved; Keras swallows whatever is raised here
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patch:
        patch.setattr(models.GraphClassifier, "build", interrupted)
        assert train.main(flags_for(tiny_config, "x", "--quiet")) == 130
    assert len(calls) >= 2
    assert "Stopped. To resume: python train.py" in capsys.readouterr().err
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    assert_same_fold(here / "x/fold-01", finished / "fold-01")


def test_the_second_signal_does_not_wait():
    before = signal.getsignal(signal.SIGINT)  # ignored where the shell runs the tests in the background
    with pytest.raises(KeyboardInterrupt), environment.signals_held():
        signal.raise_signal(signal.SIGINT)  # in this thread, so that the two cannot become one on their way
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_after_a_swallowed_signal_is_still_an_interruption():
    with pytest.raises(KeyboardInterrupt), environment.signals_held():
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("shapes do not fit")


def assert_same_fold(one, other):
    """The same figures, up to what unordered threads may change."""
    for a, b in zip(read_history(one / "history.csv"), read_history(other / "history.csv"), strict=True):
        np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=1e-4)
    assert (one / "model.keras").stat().st_size > 1000


# Damaged files


@pytest.mark.parametrize(
    ("name", "damage"),
    [("model.keras", "half"), ("model.keras", "gone"), ("history.csv", "zeros"), ("test.csv", "gone")],
)
def test_a_damaged_finished_fold_is_trained_again(tiny_config, finished, here, capsys, name, damage):
    shutil.copytree(finished, here / "x")
    path = here / "x/fold-01" / name
    content = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes({"half": content[: len(content) // 2], "zeros": bytes(len(content))}[damage])
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    said = capsys.readouterr()
    assert f"fold-01: {name} " in said.err and "trained again" in said.err and "Traceback" not in said.err
    assert_same_fold(here / "x/fold-01", finished / "fold-01")
    assert json.loads((here / "x/summary.json").read_text())["folds"] == [1]


def test_a_damaged_fold_has_no_result_while_it_is_trained_again(tiny_config, finished, here, monkeypatch):
    """An older version's result has no checksums: beside a new, whole history it would count."""
    shutil.copytree(finished, here / "x")
    path = here / "x/fold-01/result.json"
    result = json.loads(path.read_text())
    path.write_text(json.dumps({key: result[key] for key in result if key not in ("files", "sha256")}))
    (here / "x/fold-01/history.csv").write_text("")
    in_epoch(monkeypatch, 2, interrupt)
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 130
    assert not path.exists()


def test_a_damaged_fold_that_was_not_asked_for_counts_as_missing(tiny_config, finished, here, capsys, monkeypatch):
    shutil.copytree(finished, here / "x")
    shutil.copytree(finished / "fold-01", here / "x/fold-02")
    (here / "x/fold-02/history.csv").write_text("")
    monkeypatch.setattr(training.Trainer, "_train", None)  # nothing is trained
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    summary = json.loads((here / "x/summary.json").read_text())
    assert summary["folds"] == [1] and summary["missing"] == [2, 3]
    assert "fold-02: history.csv is not the file that was written" in capsys.readouterr().err


def test_a_damaged_result_is_a_sentence(tiny_config, finished, here, capsys):
    shutil.copytree(finished, here / "x")
    (here / "x/fold-01/result.json").write_text("{}")
    assert train.main(flags_for(tiny_config, "x")) == 2
    assert "result.json cannot be read" in last_error(capsys)


def test_a_checkpoint_of_another_model_costs_its_epochs_only(tiny_config, finished, here, capsys, monkeypatch):
    """Its weights fit, its optimizer's do not: nothing of it may get into the fold."""
    monkeypatch.setattr(checkpoint.Checkpoint, "due", lambda self: True)
    with monkeypatch.context() as patch:
        in_epoch(patch, 3, interrupt)
        assert train.main(flags_for(tiny_config, "x", "--quiet")) == 130
    for name in checkpoint.NAMES:
        record, arrays = checkpoint.decode((here / "x/fold-01" / name).read_bytes())
        arrays["model"] = [array + 1 for array in arrays["model"]]
        arrays["optimizer"] = arrays["optimizer"][:-1]
        (here / "x/fold-01" / name).write_bytes(checkpoint.encode(record, arrays))
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    assert "written by another model: its shapes do not fit; starting it again" in capsys.readouterr().err
    assert_same_fold(here / "x/fold-01", finished / "fold-01")


@pytest.mark.parametrize("missing", ["rows", "seconds", "optimizer"])
def test_a_checkpoint_that_lacks_something(tiny_config, finished, here, capsys, monkeypatch, missing):
    monkeypatch.setattr(checkpoint.Checkpoint, "due", lambda self: True)
    with monkeypatch.context() as patch:
        in_epoch(patch, 2, interrupt)
        assert train.main(flags_for(tiny_config, "x", "--quiet")) == 130
    path = here / "x/fold-01" / checkpoint.NAMES[0]
    record, arrays = checkpoint.decode(path.read_bytes())
    path.write_bytes(
        checkpoint.encode(
            {key: value for key, value in record.items() if key != missing},
            {key: value for key, value in arrays.items() if key != missing},
        )
    )
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    assert "the checkpoint is not whole; starting it again" in capsys.readouterr().err
    assert_same_fold(here / "x/fold-01", finished / "fold-01")


def interrupt():
    raise KeyboardInterrupt


# Litter


def test_what_a_killed_process_left_is_removed(tiny_config, finished, here, monkeypatch):
    shutil.copytree(finished, here / "x")
    litter = [".unfinished-abc", ".unfinished-1-summary.json", "fold-01/.unfinished-2-result.json"]
    litter += [f"fold-01/{name}" for name in checkpoint.NAMES]
    for name in litter:
        (here / "x" / name).write_bytes(b"half")
    owner = {**lock._here(), "pid": 2**22 + 1, "born": "1", "token": "x"}  # killed between result and release
    (here / "x/fold-01/lock").write_text(json.dumps(owner))
    monkeypatch.setattr(training.Trainer, "_train", None)  # nothing is trained
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    names = {str(path.relative_to(here / "x")) for path in (here / "x").rglob("*") if path.is_file()}
    fold = {f"fold-01/{name}" for name in ("history.csv", "model.keras", "result.json", "test.csv", ".guard")}
    summary = {"summary.json", "summary.md", "confusion.csv", "curves.png"}
    assert names == fold | summary | {"config.yaml", "encoder.json", ".guard"}


# Disk


@pytest.mark.parametrize("name", ["history.csv", "checkpoint-a.bin", "model.keras", "summary.json"])
def test_a_full_disk_is_named_with_the_file_and_resumes(tiny_config, finished, here, capsys, monkeypatch, name):
    full = OSError(errno.ENOSPC, "No space left on device")
    replace, append = os.replace, training.History.add

    def no_room(source, target):
        if str(target).endswith(name):
            raise full
        replace(source, target)

    def no_room_to_append(self, row):
        if name == "history.csv" and row["epoch"] == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(self.path))
        append(self, row)

    monkeypatch.setattr(checkpoint.Checkpoint, "due", lambda self: True)
    with monkeypatch.context() as patch:
        patch.setattr("ganet_tf.files.os.replace", no_room) if name != "history.csv" else None
        patch.setattr(training.History, "add", no_room_to_append)
        assert train.main(flags_for(tiny_config, "x", "--quiet")) == 2
    error = last_error(capsys)
    assert f"{name} cannot be written: the disk is full; make room" in error
    assert not list((here / "x").rglob(".unfinished-*"))
    assert train.main(flags_for(tiny_config, "x", "--quiet")) == 0
    assert_same_fold(here / "x/fold-01", finished / "fold-01")


# Flags


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--dataset", ""], ["--dataset is empty"]),
        (["--dataset", "  "], ["--dataset is empty"]),
        (["--config", ""], ["--config is empty"]),
        (["--output", "", "--dataset", "Karate"], ["--output is empty"]),
        (["--data-dir", "", "--dataset", "Karate"], ["--data-dir is empty"]),
        (["--folds", "", "--dataset", "Karate"], ["--folds is empty"]),
        (["--dataset", "Karate", "--folds", "1-99999999999"], ["--folds", "1 to 3"]),
        (["--dataset", "Karate", "--folds", "1-999999999"], ["no run 4", "1 to 3"]),
        (["--dataset", "Karate", "--folds", "9" * 5000], ["--folds", "1 to 3"]),
        (["--dataset", "Karate", "--folds", "3-1"], ["no run 3-1"]),
        (["--dataset", "/dev/zero"], ["--dataset: dataset must be a name, a folder or a file", "/dev/zero"]),
        (["--config", "/dev/zero"], ["more than 100000 bytes"]),
        (["--dataset", "Karate", "--set", "seed=2020-13-45"], ["--set seed", "not a YAML value"]),
        (["--dataset", "Karate", "--set", "model.activation=foo"], ["model.activation", "'foo'"]),
        (["--dataset", "Karate", "--set", "model.kernel_initializer=foo"], ["model.kernel_initializer", "'foo'"]),
        (["--dataset", "Karate", "--set", "epochs=" + "9" * 400], ["epochs must be a whole number"]),
        (["--dataset", "Karate", "--set", "dataset=[" + "[" * 3000], ["--set dataset"]),
        (["--dataset", "BA2Motifs", "--set", "features=foo"], ["foo"]),
    ],
)
def test_strange_flags_are_one_sentence_and_exit_code_2(flags, words, capsys, monkeypatch):
    monkeypatch.setattr(training.Trainer, "run", None)  # nothing is trained
    assert train.main(flags) == 2
    error = last_error(capsys)
    assert len(error) < 700
    for word in words:
        assert word in error


def test_a_config_called_dots_stays_below_runs(tiny_config, here):
    shutil.copy(tiny_config, here / "...yaml")
    assert train.main(["--config", "...yaml", "--folds", "1", "--epochs", "1", "--quiet"]) == 0
    (folder,) = (here / "runs").iterdir()
    assert (folder / "config.yaml").exists() and not (here / "config.yaml").exists()


# Threads


@pytest.mark.parametrize(("flags", "threads"), [([], 1), (["--threads", "2"], 2)])
def test_deterministic_means_one_thread_unless_told_otherwise(tiny_config, here, monkeypatch, flags, threads):
    asked = []
    monkeypatch.setattr(environment, "set_threads", asked.append)
    monkeypatch.setattr(environment, "SMALL_BATCH", 0)  # as for large graphs
    monkeypatch.setattr(environment, "make_deterministic", lambda: None)
    monkeypatch.setattr(environment, "threads", lambda: asked[-1])
    assert train.main(flags_for(tiny_config, "x", "--deterministic", "--quiet", *flags)) == 0
    assert asked == [threads]
    assert json.loads((here / "x/fold-01/result.json").read_text())["threads"] == threads
    assert json.loads((here / "x/summary.json").read_text())["threads"] == threads


def test_resuming_on_other_threads_is_said(tiny_config, here, capsys, monkeypatch):
    now = [1]
    monkeypatch.setattr(environment, "make_deterministic", lambda: None)
    monkeypatch.setattr(environment, "threads", lambda: now[0])
    monkeypatch.setattr(checkpoint.Checkpoint, "due", lambda self: True)
    flags = flags_for(tiny_config, "x", "--deterministic", "--quiet")
    with monkeypatch.context() as patch:
        in_epoch(patch, 3, interrupt)
        assert train.main(flags) == 130
    now[0] = 2
    assert train.main(flags) == 0
    assert "fold-01: began on 1 threads, resumes on 2: last digits will differ" in capsys.readouterr().err


def test_the_saved_weights_are_those_of_the_chosen_epoch(tiny_config, here, monkeypatch):
    """Under validation the best epoch's, not the last one's."""
    evaluate, kept = training.Recorder.on_epoch_end, []

    def spy(self, epoch, logs=None):
        values = self.evaluator
        self.evaluator = lambda: {**values(), "val_loss": [1.0, 0.5, 2.0][epoch]}
        evaluate(self, epoch, logs)
        self.evaluator = values
        kept.append(checkpoint.values(self.model.trainable_variables))

    monkeypatch.setattr(training.Recorder, "on_epoch_end", spy)
    assert train.main(flags_for(tiny_config, "x", "--protocol", "validation", "--quiet")) == 0
    result = json.loads((here / "x/fold-01/result.json").read_text())
    assert result["model_epoch"] == 2
    model = keras.models.load_model(here / "x/fold-01/model.keras")
    for saved, chosen in zip(model.trainable_variables, kept[1], strict=True):
        np.testing.assert_array_equal(saved, chosen)
    assert any((a != b).any() for a, b in zip(kept[1], kept[2], strict=True))
