"""Random graphs, from no node upwards, over all layers: no crash, sparse = dense, nothing leaks between graphs.

The rounds run in a child process, so that a signal is a failed test and not the end of all tests. GANET_SOAK sets how
many rounds there are in each of the two children.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("GANET_SOAK", "60"))


def run(*words):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.attacks.layer_fuzz", *map(str, words)]
    limit = 300 + 10 * ROUNDS
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_random_graphs(seed):
    done = run(seed, ROUNDS)
    assert done.returncode >= 0, f"ended by {signal.Signals(-done.returncode).name}"
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert not report["failed"], "\n".join(report["failed"])
    assert report["rounds"] == ROUNDS
    assert ROUNDS < 60 or report["tried"]["no nodes"] > 0
