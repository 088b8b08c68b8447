"""`python -m experiments.report.run`: trains what is missing, several runs at a time, and says what failed."""

import json
import time

import pytest

from experiments.report import run as module
from experiments.report.run import main
from experiments.report.runs import Run

SMALL = ("folds=2", "model.num_modules=1")


def small_run(model, name="motifs"):
    return Run(f"{name}/{model}", "BA2Motifs", model, "paper", SMALL, ("--epochs", "1"))


@pytest.fixture
def runs(monkeypatch):
    """Two small runs in the place of the report's."""
    made = [small_run("hganet"), small_run("linear")]
    monkeypatch.setattr(module, "reported_runs", lambda: made)
    monkeypatch.setattr(module, "tuning_runs", list)
    return made


def flags(folder, *more):
    return ["--runs", str(folder / "runs"), "--results", str(folder / "results"), *more]


def test_trains_what_is_missing_side_by_side_and_only_once(runs, tmp_path, capsys, monkeypatch):
    assert main(flags(tmp_path, "--jobs", "2")) == 0
    assert "2 runs: nothing failed" in capsys.readouterr().out
    for run in runs:
        kept = tmp_path / "results" / run.name
        assert sorted(path.name for path in kept.iterdir()) == ["summary.json"]
        assert json.loads((kept / "summary.json").read_text())["folds"] == [1, 2]
    monkeypatch.setattr(module.subprocess, "run", None)  # would fail if anything were trained again
    assert main(flags(tmp_path)) == 0


def test_goes_on_after_a_failure_and_names_it(runs, tmp_path, capsys, monkeypatch):
    class Ended:
        returncode = 1

    asked = []
    monkeypatch.setattr(module.subprocess, "run", lambda words, **_: asked.append(words) or Ended)
    assert main(flags(tmp_path, "--jobs", "1")) == 2
    assert len(asked) == 2 and "failed: motifs/hganet, motifs/linear" in capsys.readouterr().out


def test_a_stop_cancels_the_runs_that_wait(runs, tmp_path, monkeypatch):
    asked = []

    def stopped(words, **_):
        asked.append(words)
        if len(asked) == 1:
            raise KeyboardInterrupt
        time.sleep(0.5)  # the one that was next in line before the stop came through

    runs += [small_run("hganet", name) for name in "abcdef"]
    monkeypatch.setattr(module.subprocess, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        main(flags(tmp_path, "--jobs", "1"))
    assert len(asked) <= 2


@pytest.mark.parametrize(
    "words, said",
    [(["--only", "nowhere"], "No run's name contains any of: nowhere"), (["--jobs", "0"], "--jobs is 0, but")],
)
def test_bad_flags_get_a_sentence(runs, tmp_path, capsys, words, said):
    assert main(flags(tmp_path, *words)) == 2
    assert said in capsys.readouterr().err
