"""The search: what it chooses by, what it does with failures and with a trial whose process was killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from experiments import search
from ganet_tf.errors import ConfigError


class Trial:
    """Remembers what it was asked for."""

    def __init__(self):
        self.asked, self.user_attrs = {}, {}

    def suggest_int(self, key, low, high, log):
        self.asked[key] = (int, low, high, log)
        return low

    def suggest_float(self, key, low, high, log):
        self.asked[key] = (float, low, high, log)
        return high

    def suggest_categorical(self, key, choices):
        self.asked[key] = choices
        return choices[0]

    def set_user_attr(self, key, value):
        self.user_attrs[key] = value


def test_spaces():
    words = ["a=1..9", "b=0.1..0.8", "c=1e-4..1e-2:log", "d=4,8,16", "e=sigmoid,null"]
    trial = Trial()
    for suggest in search.parse_space(words).values():
        suggest(trial)
    assert trial.asked == {
        "a": (int, 1, 9, False),
        "b": (float, 0.1, 0.8, False),
        "c": (float, 1e-4, 1e-2, True),
        "d": ["4", "8", "16"],
        "e": ["sigmoid", "null"],
    }


@pytest.mark.parametrize("word", ["a", "=3", "a=", "a=9..1", "a=x..y", "a=0..1:log"])
def test_spaces_that_are_none(word):
    with pytest.raises(ConfigError, match="--space"):
        search.parse_space([word])


def run_objective(monkeypatch, tmp_path, code=0, summary=None, *more):
    """`objective` with a train.py that writes `summary` and ends with `code`; `more` of both for calls after that."""
    calls, commands = [(code, summary), *more], []

    def fake(command, env, **_):
        assert env["GANET_LAUNCHED"] == str(os.getpid())  # so that it does not outlive the search
        commands.append(command)
        code, summary = calls[len(commands) - 1]
        folder = command[command.index("--output") + 1]
        if summary is not None:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "summary.json"), "w") as file:
                json.dump(summary, file)
        return subprocess.CompletedProcess(command, code, "", "train.py: no room\n")

    monkeypatch.setattr(search.subprocess, "run", fake)
    monkeypatch.setattr(search, "WAIT_SECONDS", 0)
    words = ["--dataset", "MUTAG", "--space", "model.k=4,8", "--output", str(tmp_path), "--", "--folds", "1-2"]
    arguments, rest = search.parse(words)
    trial, space = Trial(), search.parse_space(arguments.space)
    value = search.objective(trial, space, arguments, *search.train_words(arguments, rest))
    assert len(commands) == len(calls) and all(command == commands[0] for command in commands)
    return value, commands[0], trial


def test_the_loss_on_validation_is_what_counts(monkeypatch, tmp_path):
    """`mean` is the test accuracy at the chosen epoch: a search must not look at it."""
    summary = {"validation": {"mean": 99.0, "val_loss": 0.25, "val_accuracy": 80.0}}
    value, command, trial = run_objective(monkeypatch, tmp_path, summary=summary)
    assert value == 0.25
    assert command[-2:] == ["--set", "model.k=4"] and command[command.index("--folds") + 1] == "1-2"
    assert command[command.index("--protocol") + 1] == "validation"
    assert trial.user_attrs["folder"] == command[command.index("--output") + 1]


def test_an_exit_code_is_an_exception(monkeypatch, tmp_path):
    summary = {"validation": {"val_loss": 0.1}}
    with pytest.raises(search.TrialFailed, match=r"exit code 2: train\.py: no room"):
        run_objective(monkeypatch, tmp_path, 2, summary)
    with pytest.raises(KeyboardInterrupt):
        run_objective(monkeypatch, tmp_path, 130, summary)
    with pytest.raises(search.TrialFailed, match="has no validation loss"):
        run_objective(monkeypatch, tmp_path / "other", 0, {"last_epoch": {"mean": 1}})


def test_a_part_of_the_folds_is_no_result(monkeypatch, tmp_path):
    """Another trial of the same settings, and so in the same folder, is at fold 2; others were not asked for."""
    half = {"missing": [2, 3], "validation": {"val_loss": 0.1}}
    whole = {"missing": [3], "validation": {"val_loss": 0.4}}
    assert run_objective(monkeypatch, tmp_path, 0, half, (0, half), (0, whole))[0] == 0.4


def test_a_killed_train_py_resumes(monkeypatch, tmp_path):
    whole = {"missing": [], "validation": {"val_loss": 0.4}}
    assert run_objective(monkeypatch, tmp_path, -9, None, (-9, None), (0, whole))[0] == 0.4
    with pytest.raises(search.TrialFailed, match="exit code -9"):
        run_objective(monkeypatch, tmp_path, *(-9, None), *[(-9, None)] * 4)


def trial_folder(monkeypatch, tmp_path, *words):
    summary = {"validation": {"val_loss": 0.4}}
    monkeypatch.setattr(search, "parse", lambda _, parse=search.parse: parse([*words, "--output", str(tmp_path)]))
    return run_objective(monkeypatch, tmp_path, 0, summary)[2].user_attrs["folder"]


def test_another_data_set_has_other_folders(monkeypatch, tmp_path):
    """With the same choices, or train.py would refuse the folder of another config."""
    words = ["--space", "model.k=4,8", "--dataset"]
    names = [*words, "MUTAG"], [*words, "PTC"], [*words, "MUTAG", "--model", "dgcnn"]
    folders = []
    for each in names:
        with monkeypatch.context() as patch:
            folders.append(trial_folder(patch, tmp_path, *each))
    assert len(set(folders)) == 3


@pytest.mark.parametrize("dataset, more", [("Cora", []), ("MUTAG", ["--protocol", "validation"])])
def test_words_for_train_py(dataset, more):
    """The task follows from the data set; nodes have one protocol."""
    arguments, rest = search.parse(["--dataset", dataset, "--space", "model.k=4,8", "--", "--seed", "7"])
    words, numbers = search.train_words(arguments, rest)
    assert words == ["--dataset", dataset, "--model", "hganet", "--seed", "7", *more] and numbers[0] == 1


def test_a_wrong_flag_is_a_sentence(capsys):
    assert search.main(["--dataset", "MUTAG", "--space", "model.k=4,8", "--", "--fold", "3"]) == 2
    assert capsys.readouterr().err.startswith("search: unrecognized arguments: --fold")


def test_without_optuna(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert search.main(["--dataset", "MUTAG", "--space", "model.k=4,8"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_a_study_that_goes_on_draws_others(tmp_path):
    pytest.importorskip("optuna")
    storage = f"sqlite:///{tmp_path}/search.db"
    arguments, _ = search.parse(["--dataset", "MUTAG", "--space", "a=0..1.5", "--storage", storage, "--seed", "3"])
    drawn = []
    for _ in range(3):
        search.make_study(arguments).optimize(lambda trial: drawn.append(trial.suggest_float("a", 0, 1)) or 0.0, 1)
    assert len(set(drawn)) == 3


FAKE_TRAIN = """
import json, os, pathlib, sys, time
from experiments import cluster
cluster.watch_parent()
folder = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "starts").open("a").write("x")
(folder / "pid").write_text(str(os.getpid()))
if len((folder / "starts").read_text()) == 1 and not pathlib.Path("calm").exists():
    time.sleep(60)
(folder / "summary.json").write_text(json.dumps({"validation": {"val_loss": 0.5}}))
"""


def test_a_killed_trial_is_done_again_in_its_folder(tmp_path):
    pytest.importorskip("optuna")
    (tmp_path / "train.py").write_text(FAKE_TRAIN)
    driver = (
        "import sys, pathlib; from experiments import search; "
        f"search.ROOT = pathlib.Path({str(tmp_path)!r}); sys.exit(search.main(sys.argv[1:]))"
    )
    words = ["--dataset", "MUTAG", "--space", "model.dropout=0.1..0.9", "--heartbeat", "1", "--trials", "2"]
    command = [sys.executable, "-c", driver, *words, "--output", str(tmp_path / "runs")]
    root = str(search.Path(search.__file__).resolve().parents[1])
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    first = subprocess.Popen(command, cwd=tmp_path, env=variables, start_new_session=True)
    deadline = time.monotonic() + 100
    while not list((tmp_path / "runs").glob("*/starts")):
        assert time.monotonic() < deadline and first.poll() is None
        time.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(3)  # the heartbeat is missed
    (pid,) = (int(path.read_text()) for path in (tmp_path / "runs").glob("*/pid"))
    with pytest.raises(ProcessLookupError):  # its train.py would hold the locks of the trial's folds
        os.kill(pid, 0)
    (tmp_path / "calm").touch()
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    starts = sorted(path.read_text() for path in (tmp_path / "runs").glob("*/starts"))
    assert starts == ["x", "xx"]  # one new trial, and the killed one again where it had been
    assert "best of 2 trials: validation loss 0.5000" in done.stdout
