"""train.py on a graph in files: sampled steps, the whole graph, and never more memory than it may have."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import train
from experiments.config import build, suggest
from experiments.search import ROOT
from experiments.tasks import load_dataset, make_task
from ganet_tf.errors import ConfigError
from tests.distributed.test_train import csr_folder

NODES, FEATURES = 2_000_000, 256


def large_folder(folder):
    """A ring of two million nodes, whose features are a hole of 2 GB: the disk gives zeros and has none of it."""
    folder.mkdir()
    here = np.arange(NODES)
    around = np.stack([(here - 1) % NODES, (here + 1) % NODES], axis=1)
    np.save(folder / "indptr.npy", 2 * np.arange(NODES + 1))
    np.save(folder / "indices.npy", np.sort(around, axis=1).astype(np.int32).ravel())
    np.save(folder / "y.npy", (here % 2).astype(np.int16))
    with open(folder / "x.npy", "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (NODES, FEATURES)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * NODES * FEATURES)
    for number, split in enumerate(("train", "val", "test")):
        np.save(folder / f"{split}.npy", np.arange(number, NODES, NODES // 100))
    return folder


# The process says itself what it had at most: a parent's own memory counts in what the system tells of its children.
TRAIN_AND_TELL = """
import sys, train
code = train.main(sys.argv[1:])
print(*(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc here")
def test_two_gigabytes_of_features_in_less_memory(tmp_path):
    """The resident memory of the whole process, TensorFlow included: a copy of the features would be 2 GB more."""
    words = ["--task", "node", "--dataset", large_folder(tmp_path / "ring"), "--runs", "1"]
    words += ["--epochs", "1", "--output", tmp_path / "run", "--quiet", "--set", "sampled.batch_size=50"]
    words += ["model.num_modules=1", "model.units=8", "model.module_units=4"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "GANET_MEMORY_LIMIT": str(10**9)}
    command = [sys.executable, "-c", TRAIN_AND_TELL, *map(str, words)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    peak = 1024 * int(done.stdout.split("VmHWM:")[1].split()[0])
    assert 3e8 < peak < 1.6e9 < 4 * NODES * FEATURES
    assert json.loads((tmp_path / "run" / "run-01" / "result.json").read_text())["sizes"]["test"] == 100


def test_a_truncated_file_is_a_sentence(tmp_path, capsys):
    folder = csr_folder(tmp_path / "graph")
    content = (folder / "indices.npy").read_bytes()
    (folder / "indices.npy").write_bytes(content[:-40])
    assert train.main(["--task", "node", "--dataset", str(folder), "--output", str(tmp_path / "run")]) == 2
    assert "indices.npy" in (said := capsys.readouterr().err) and "is truncated" in said and "Traceback" not in said


class Arguments:
    """What `suggest` looks at."""

    data_dir, task, set = None, "node", ()


def test_settings_by_the_memory(tmp_path, monkeypatch):
    folder = str(csr_folder(tmp_path / "graph"))
    assert "sampled" not in suggest(folder, "hganet", Arguments)
    monkeypatch.setenv("GANET_MEMORY_LIMIT", "1000")
    assert suggest(folder, "hganet", Arguments)["sampled"]["batch_size"] == 512


def tree(folder, **more):
    return {"task": "node", "dataset": str(folder), "model": "gcn", "optimizer": {}, "normalize_features": None, **more}


def test_the_batches_of_a_run(tmp_path):
    config = build(tree(csr_folder(tmp_path / "graph"), sampled={"batch_size": 25, "fanout": [4, -1]}))
    task = make_task(config, load_dataset(config))
    split = task.split(1)
    first = list(split.batches(0))
    assert split.steps == len(first) == 3 and [len(y) for _, y in first] == [25, 25, 10]
    again = list(split.batches(0))
    assert all((a[0]["x"] == b[0]["x"]).all() for a, b in zip(first, again, strict=True))
    assert any(len(a[0]["x"]) != len(b[0]["x"]) for a, b in zip(first, split.batches(1), strict=True))
    held_out = [inputs["x"].tobytes() for inputs in split.held_out]
    assert (
        held_out == [inputs["x"].tobytes() for inputs in split.held_out] and len(held_out) == len(split.held_out) == 2
    )
    assert [inputs["x"].tobytes() for inputs in split.held_out[1::2]] == held_out[1:]
    np.testing.assert_array_equal(split.final.y, task.dataset.y[task.dataset.nodes("test")])


@pytest.mark.parametrize(
    "more, message",
    [
        ({"sampled": {"batch_size": 5}, "teacher": {"weight": 1.0}}, "a teacher needs the whole graph"),
        ({"sampled": {"batch_size": 5}, "model": "deepwalk"}, "deepwalk needs the whole graph"),
        ({"sampled": {"fanout": [3, 0]}}, "sampled.fanout must be numbers from 1"),
    ],
)
def test_settings_that_do_not_go_together(more, message):
    with pytest.raises(ConfigError, match=message):
        build(tree("Cora", **more))
