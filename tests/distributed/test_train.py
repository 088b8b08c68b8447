"""train.py in two real processes: a worker killed in the middle, and the numbers of one that was not."""

import json
import shlex
import sys

import numpy as np
import pytest

from tests.distributed.processes import EPOCHS, ROOT, alone, flags, needs_namespace, together, weights

pytestmark = needs_namespace

# Starts train.py, kills one of its workers once the history has some rows, and waits for its end.
KILLER = """
import os, signal, subprocess, sys, time
from pathlib import Path
worker, history, *command = sys.argv[1:]
process = subprocess.Popen(command)
while not (Path(history).exists() and Path(history).read_text().count("\\n") >= 3):
    assert process.poll() is None, "it ended by itself"
    time.sleep(0.02)
children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
os.kill(int(children[int(worker)]), signal.SIGKILL)
start = time.monotonic()
code = process.wait(timeout=60)
print("seconds", time.monotonic() - start)
sys.exit(code)
"""


@pytest.mark.parametrize("worker", [0, 1])
def test_a_killed_worker_and_a_run_that_resumes(worker, tiny_config, whole, tmp_path):
    broken = tmp_path / "broken"
    command = flags(tiny_config, broken)
    (tmp_path / "killer.py").write_text(KILLER)
    history = broken / "fold-01" / "history.csv"
    killer = [sys.executable, tmp_path / "killer.py", worker, history, *command]
    lines = [
        f"{shlex.join(map(str, killer))}; echo code $?",
        f"{shlex.join(command)} || exit 12",
    ]
    done = alone(lines, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "code 2" in done.stdout
    assert float(done.stdout.split("seconds ")[1].split()[0]) < 10
    assert f"worker {worker} (process " in done.stderr and "was killed by SIGKILL" in done.stderr
    assert "listen on all interfaces" in done.stderr
    assert "continuing after epoch" in done.stdout
    assert history.read_text() == (whole / "fold-01" / "history.csv").read_text()
    assert weights(broken) == weights(whole)  # to the last bit
    result = json.loads((broken / "fold-01" / "result.json").read_text())
    assert result["workers"] == 2 and result["epochs"] == EPOCHS


def test_two_different_configs(tiny_config, tmp_path):
    """Each worker has its own command line here: the second one another learning rate."""
    (tmp_path / "start.py").write_text(
        "import json, os, sys\n"
        "index = json.loads(os.environ['TF_CONFIG'])['task']['index']\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import train\n"
        "more = ['--set', f'optimizer.learning_rate=0.{index + 1}', '--output', f'run-{index}']\n"
        "train.leave(train.main([*sys.argv[1:], *more]))\n"
    )
    done = alone(together([tmp_path / "start.py", "--config", tiny_config, "--folds", "1"], 2), tmp_path)
    assert done.returncode == 2, done.stderr[-3000:]
    assert (
        done.stderr.count("worker 1 (127.0.0.1:23451) does not fit worker 0") == 2
    )  # nobody says that another is gone
    assert "optimizer.learning_rate is 0.2 there and 0.1 here" in done.stderr
    assert not (tmp_path / "run-0").exists()


def csr_folder(folder, nodes=120):
    """A graph whose classes can be seen in its features, in CSR files."""
    from ganet_tf.data import convert

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, nodes)
    folder.mkdir()
    np.save(folder / "edges.npy", rng.integers(0, nodes, size=(4 * nodes, 2)))
    convert.convert(folder / "edges.npy", folder, num_nodes=nodes)
    np.save(folder / "x.npy", (np.eye(3)[y] + rng.normal(size=(nodes, 3))).astype("float32"))
    np.save(folder / "y.npy", y.astype("int16"))
    for split, part in zip(("train", "val", "test"), np.split(rng.permutation(nodes), [60, 90]), strict=True):
        np.save(folder / f"{split}.npy", part)
    return folder


def test_nodes_in_files_by_two_workers(tmp_path):
    folder, output = csr_folder(tmp_path / "graph"), tmp_path / "run"
    words = [ROOT / "train.py", "--task", "node", "--dataset", folder, "--runs", "1", "--epochs", "2", "--workers", "2"]
    words += ["--output", output, "--set", "sampled.batch_size=25", "sampled.fanout=4,3", "model.num_modules=1"]
    done = alone([shlex.join([sys.executable, *map(str, words)])], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads((output / "run-01" / "result.json").read_text())
    assert result["sizes"] == {"train": 60, "val": 30, "test": 30} and result["workers"] == 2
    assert len((output / "run-01" / "test.csv").read_text().splitlines()) == 31
