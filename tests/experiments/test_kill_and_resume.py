"""kill -9 at any moment: the same command resumes, and ends where an uninterrupted run ends, to the last bit."""

import io
import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import pytest

from experiments.run_folder import read_history

ROOT = Path(__file__).resolve().parents[2]
STRICT = ["--deterministic", "--threads", "1", "--quiet"]
PHASES = ["model.label_steps=3", "model.graph_steps=2"]
PATIENT = ["epochs=12", "patience=3"]
TAUGHT = ["teacher.weight=1", "teacher.ramp=4"]
# The flags of each case; the real operator in the first one, patience in the others, a mean teacher in the third.
CASES = {
    "paper": ["--set", "model.operator=hgao", "model.k=2", "epochs=5", "--folds", "1"],
    "validation": ["--protocol", "validation", "--folds", "2", "--set", *PATIENT],
    "node": ["--dataset", "Karate", "--model", "gcn", "--folds", "2", "--set", *PATIENT, *TAUGHT],
    "two phases": ["--dataset", "Karate", "--model", "planetoid", "--folds", "2", "--set", *PHASES, *PATIENT],
}
BEST, END = 2, 5  # epochs

# A checkpoint after every epoch, validation that is best in epoch 2 and then poor, so that patience runs out in
# epoch 5, and a process that kills itself before the end of one.
DRIVER = """
import json, os, signal, sys
import train
from experiments import checkpoint, training

runs, last = json.loads(sys.argv[1])
checkpoint.Checkpoint.due = lambda self: True
end = training.Recorder.on_epoch_end

def on_epoch_end(self, epoch, logs=None):
    if epoch + 1 == last:
        os.kill(os.getpid(), signal.SIGKILL)
    evaluate = self.evaluator
    if self.selection is not None:
        loss, accuracy = [(1.0, 0.5), (0.5, 0.75)][epoch] if epoch < 2 else (2.0 + epoch, 0.25)
        self.evaluator = lambda: {**evaluate(), "val_loss": loss, "val_accuracy": accuracy}
    end(self, epoch, logs)
    self.evaluator = evaluate

training.Recorder.on_epoch_end = on_epoch_end
sys.exit(max(train.main(flags) for flags in runs))
"""


def start(runs, last=None):
    """A process that gives train.py these lists of flags, one after another, and is killed in epoch `last`."""
    command = [sys.executable, "-c", DRIVER, json.dumps([runs, last])]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, expected=0):
    output = process.communicate(timeout=300)
    assert process.returncode == expected, output
    return output[1]


def content(folder):
    """Everything of a fold that must not depend on when or how often it was interrupted."""
    result = json.loads((folder / "result.json").read_text())
    for key in ("seconds", "git_revision", "sha256"):  # somebody may commit while this runs
        del result[key]
    del result["files"]["model.keras"]  # its zip has times in it
    arrays = {}
    with zipfile.ZipFile(folder / "model.keras") as archive:
        file = h5py.File(io.BytesIO(archive.read("model.weights.h5")))
    file.visititems(lambda name, item: arrays.update({name: item[()].tobytes()} if hasattr(item, "dtype") else {}))
    assert len(arrays) > 4
    return (folder / "history.csv").read_bytes(), result, arrays


@pytest.mark.slow
def test_killed_and_resumed_equals_uninterrupted(tiny_config, tmp_path):
    def flags(case, folder):
        own = [] if "--dataset" in CASES[case] else ["--config", str(tiny_config)]
        return [*own, *CASES[case], *STRICT, "--output", str(tmp_path / folder / case)]

    def fold(case, folder):
        (found,) = (tmp_path / folder / case).glob("*-0?")
        return found

    victims = {case: start([flags(case, "killed")], last=END) for case in CASES}
    reference = start([flags(case, "whole") for case in CASES])
    for case, victim in victims.items():
        finish(victim, -signal.SIGKILL)
        left = {path.name for path in fold(case, "killed").iterdir()}
        assert "lock" in left and "result.json" not in left
        assert len(read_history(fold(case, "killed") / "history.csv")) == END - 1
    finish(reference)

    said = finish(start([flags(case, "killed") for case in CASES]))
    assert said.count("took over the lock") == said.count(f"continuing after epoch {END - 1}") == len(CASES)
    for case in CASES:
        history, result, _ = content(fold(case, "whole"))
        assert result["epochs"] == END and result["model_epoch"] == (END if case == "paper" else BEST)
        assert content(fold(case, "killed")) == content(fold(case, "whole")), case
        assert len(history.splitlines()) == 1 + END
        assert {path.name for path in fold(case, "killed").iterdir()} <= {
            ".guard", "history.csv", "model.keras", "result.json", "test.csv",
        }  # fmt: skip
        summaries = [
            json.loads((tmp_path / folder / case / "summary.json").read_text()) for folder in ("whole", "killed")
        ]
        rules = [
            {key: entry for key, entry in s.items() if isinstance(entry, dict) and "mean" in entry} for s in summaries
        ]
        assert rules[0] == rules[1] and rules[0]


@pytest.mark.slow
def test_two_processes_share_a_run(tiny_config, tmp_path):
    flags = ["--config", str(tiny_config), *STRICT, "--output"]
    both = [start([[*flags, str(tmp_path / "shared"), "--folds", fold]]) for fold in ("1", "2")]
    for process in both:
        finish(process)
    summary = json.loads((tmp_path / "shared/summary.json").read_text())
    assert summary["folds"] == [1, 2] and not summary["complete"]
    assert all(content(tmp_path / "shared" / f"fold-0{number}")[1]["fold"] == number for number in (1, 2))
