"""kill -9 at any moment: the same command resumes, and ends where an uninterrupted run ends."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import h5py
import pytest

from experiments.run_folder import read_history

TRAIN = Path(__file__).resolve().parents[2] / "train.py"
EPOCHS = 20


def start(config, output, *flags):
    command = [
        sys.executable,
        str(TRAIN),
        "--config",
        str(config),
        "--output",
        str(output),
        "--deterministic",
    ]
    command += [
        "--threads",
        "1",
        "--epochs",
        str(EPOCHS),
        "--quiet",
        "--set",
        "model.operator=hgao",
        "model.k=2",
        *flags,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(*processes):
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    return outputs


def wait_for_epochs(history, count, process):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if history.exists() and len(read_history(history)) >= count and list(history.parent.glob("checkpoint-*")):
            return
        time.sleep(0.02)
    raise AssertionError(f"no {count} epochs: {process.poll()}")


def content(folder):
    """Everything of a fold that must not depend on when or how often it was interrupted."""
    result = json.loads((folder / "result.json").read_text())
    del result["seconds"], result["git_revision"]  # somebody may commit while this runs
    arrays = {}
    with zipfile.ZipFile(folder / "model.keras") as archive:
        file = h5py.File(io.BytesIO(archive.read("model.weights.h5")))
    file.visititems(lambda name, item: arrays.update({name: item[()].tobytes()} if hasattr(item, "dtype") else {}))
    assert len(arrays) > 10
    return (folder / "history.csv").read_bytes(), result, arrays


@pytest.mark.slow
def test_killed_and_resumed_by_two_processes_equals_uninterrupted(tiny_config, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    victim = start(tiny_config, killed, "--folds", "1-2")
    reference = start(tiny_config, whole, "--folds", "1-2")
    wait_for_epochs(killed / "fold-01/history.csv", 5, victim)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    assert (killed / "fold-01/lock").exists() and not (killed / "fold-01/result.json").exists()
    assert len(read_history(killed / "fold-01/history.csv")) < EPOCHS

    finish(reference)
    outputs = finish(start(tiny_config, killed, "--folds", "1"), start(tiny_config, killed, "--folds", "2"))

    assert "took over the lock" in outputs[0][1] and "continuing after epoch" in outputs[0][1]
    for fold in ("fold-01", "fold-02"):
        assert content(whole / fold) == content(killed / fold)
        assert not list((killed / fold).glob("checkpoint-*"))
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (whole, killed)]
    for summary in summaries:
        assert summary["folds"] == [1, 2]
    assert summaries[0]["last_epoch"] == summaries[1]["last_epoch"]
