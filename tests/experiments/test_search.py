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


def run_objective(monkeypatch, tmp_path, code=0, summary=None):
    """`objective` with a train.py that writes `summary` and ends with `code`."""
    commands = []

    def fake(command, **_):
        commands.append(command)
        folder = command[command.index("--output") + 1]
        if summary is not None:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "summary.json"), "w") as file:
                json.dump(summary, file)
        return subprocess.CompletedProcess(command, code, "", "train.py: no room\n")

    monkeypatch.setattr(search.subprocess, "run", fake)
    arguments, rest = search.parse(
        ["--dataset", "MUTAG", "--space", "model.k=4,8", "--output", str(tmp_path), "--", "-x"]
    )
    trial = Trial()
    return search.objective(trial, search.parse_space(arguments.space), arguments, rest), commands[0], trial


def test_the_loss_on_validation_is_what_counts(monkeypatch, tmp_path):
    """`mean` is the test accuracy at the chosen epoch: a search must not look at it."""
    summary = {"validation": {"mean": 99.0, "val_loss": 0.25, "val_accuracy": 80.0}}
    value, command, trial = run_objective(monkeypatch, tmp_path, summary=summary)
    assert value == 0.25
    assert command[-2:] == ["--set", "model.k=4"] and "-x" in command
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


def test_without_optuna(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert search.main(["--dataset", "MUTAG", "--space", "model.k=4,8"]) == 2
    assert "pip install" in capsys.readouterr().err


FAKE_TRAIN = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "starts").open("a").write("x")
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
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(3)  # the heartbeat is missed
    (tmp_path / "calm").touch()
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    starts = sorted(path.read_text() for path in (tmp_path / "runs").glob("*/starts"))
    assert starts == ["x", "xx"]  # one new trial, and the killed one again where it had been
    assert "best of 2 trials: validation loss 0.5000" in done.stdout
