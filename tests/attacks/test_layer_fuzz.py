"""Random graphs, from no node upwards, over all layers: no crash, all ways give the same, no graph sees another.

The rounds run in a child process, so that a signal is a failed test and not the end of all tests. GANET_SOAK sets how
many rounds there are in each of the two children.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import keras
import pytest

from ganet_tf import layers, native
from tests.attacks.layer_fuzz import TWO, Fuzz, Kind

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
    assert report["tried"]["native"] == (ROUNDS if native.usable() else 0)


class Mean(layers.Linear):
    """Every node sees the mean of the whole batch."""

    def call(self, x, *others, **options):
        return super().call(x) + super().call(x[:1] * 0 + keras.ops.mean(x, axis=0))


WRONG = {
    "auto is not sparse": Kind(lambda way, dtype: layers.GCN(4, normalization=NORMALIZATION[way], dtype=dtype), TWO),
    "took the edge": Kind(lambda way, dtype: layers.Linear(4, dtype=dtype)),
    "the first graph sees the second one": Kind(lambda way, dtype: Mean(4, dtype=dtype), edges=False),
    "rows": Kind(lambda way, dtype: layers.MeanPooling(dtype=dtype), edges=False),
}
NORMALIZATION = {"sparse": "sym", "auto": "row"}


@pytest.mark.parametrize("words", WRONG)
def test_the_fuzz_can_tell(words):
    fuzz = Fuzz(1)
    fuzz.kinds = {"wrong": WRONG[words]}
    fuzz.run(40)
    assert any(words in entry for entry in fuzz.failed), fuzz.failed
