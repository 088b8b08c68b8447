"""What the checks of compiled steps cost: a training step of hGANet on D&D with them and without.

    GANET_DATA=DIR python benchmarks/checks.py

Both steps take turns over the same batches, in processor time of this process on one thread; the figure is the median
over rounds of the ratio of their sums. The sparse implementation checks edges and graph_ids by TensorFlow's operations,
which are left out of the other step; native kernels look at every number as they read it. Writes
results/benchmarks/checks.json; the goal is below 2 %.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path
from unittest import mock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

from experiments import environment  # noqa: E402
from ganet_tf import data, models, optimizers  # noqa: E402
from ganet_tf.files import write_whole  # noqa: E402
from ganet_tf.ops import checks  # noqa: E402

FILE = ROOT / "results" / "benchmarks" / "checks.json"
BATCHES, ROUNDS = 20, 15


def main():
    """Measures both implementations; returns the exit code."""
    environment.set_threads(1)
    train, _ = data.load("DD").fold(1)
    batches = list(train.batches(20, shuffle=True, seed=0).take(BATCHES))
    rows = [measured(implementation, train, batches) for implementation in ("sparse", "native")]
    more = {"git_revision": environment.git_revision(), "hardware": environment.hardware()}
    write_whole(FILE, json.dumps({"rows": rows, **more, "versions": environment.versions()}, indent=1) + "\n")
    for row in rows:
        print(f"{row['implementation']}: {row['percent']:+.2f} % ({row['low']:+.2f} to {row['high']:+.2f})")
    return 0


def measured(implementation, train, batches):
    """The cost in percent: the median over rounds, and its quartiles."""
    checked = step(implementation, train, batches[0])
    with mock.patch.object(checks, "_assertion", lambda fine, found: tf.no_op()):
        unchecked = step(implementation, train, batches[0])
    ratios = [seconds(checked, batches) / seconds(unchecked, batches) for _ in range(ROUNDS + 1)][1:]
    low, middle, high = (100 * (ratio - 1) for ratio in statistics.quantiles(ratios))
    return {"implementation": implementation, "percent": middle, "low": low, "high": high, "rounds": ROUNDS}


def step(implementation, train, first):
    """A training step of the paper's network, traced now."""
    keras.utils.set_random_seed(0)
    sizes = {"num_features": train.num_features, "sort_pooling_k": train.sort_pooling_k(0.6)}
    model = models.GraphClassifier(train.num_classes, implementation=implementation, **sizes)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizers.FlatAdam(1e-4), loss)
    traced = tf.function(model.train_step, autograph=False, input_signature=(spec(first),))
    traced(first)
    return traced


def spec(batch):
    """Any batch's: numbers of nodes, edges and graphs are open."""
    return tf.nest.map_structure(lambda tensor: tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype), batch)


def seconds(function, batches):
    """Processor time of one pass."""
    start = time.process_time()
    for batch in batches:
        function(batch)
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
