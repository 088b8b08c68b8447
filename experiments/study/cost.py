"""What hard and soft attention cost at growing degrees: `python -m experiments.study.cost`.

Writes results/study/cost.json: for the graphs of the contests `degrees/...` the exact multiply-adds of one attention
layer of the network (32 channels in, 16 out, k = 8), and its CPU time, forward and backward, on one thread. The time
is the smallest of many, in processor seconds of this process: other processes on the machine do not count.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

from experiments import environment
from experiments.study.plan import DEGREES
from ganet_tf import data, layers
from ganet_tf.files import write_whole
from ganet_tf.profiling import Size

ROOT = Path(__file__).resolve().parents[2]
FILE = "results/study/cost.json"
FEATURES, UNITS, QUERIES, K = 32, 16, 16, 8
REPEATS = 60
LAYERS = {
    "hgao_uniform": lambda: layers.HGAO(UNITS, k=K, score="uniform", implementation="native"),
    "hgao_cosine": lambda: layers.HGAO(UNITS, k=K, score="cosine", gate="double", implementation="native"),
    "gao_cosine": lambda: layers.GAO(UNITS, score="cosine", implementation="native"),
}


def main():
    """Measures all; returns the exit code."""
    environment.set_threads(1)
    rows = [row for degree in DEGREES for row in measured(degree)]
    (ROOT / FILE).parent.mkdir(parents=True, exist_ok=True)
    write_whole(ROOT / FILE, json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} rows in {FILE}")
    return 0


def measured(degree):
    """A row for each layer on one graph."""
    dataset = data.load("Experts", seed=1, degree=degree)
    x = np.random.default_rng(0).normal(size=(dataset.num_nodes, FEATURES)).astype(np.float32)
    size = Size.of(dataset.edges, dataset.num_nodes, FEATURES, UNITS, K)
    for name, make in LAYERS.items():
        yield {
            "operator": name,
            "degree": degree,
            "edges": len(dataset.edges),
            "madd": madd(name, size),
            "cpu_ms": round(cpu_ms(make(), tf.constant(x), tf.constant(dataset.edges)), 3),
        }


def madd(name, s):
    """Multiply-adds of a layer in inference, counted as `ganet_tf.profiling.counts` does, without padding.

    Values are N F U; queries and keys of cosine scores 2 N F Q, of uniform ones nothing. Projection and gate of hGAO
    are 2 N F. Then a score and a weighted value for each of the k places, or for each neighbour.
    """
    queries = 0 if name.endswith("uniform") else QUERIES
    places = s.nodes * min(s.k, s.longest) if name.startswith("hgao") else s.neighbours
    ranking = 2 * s.nodes * s.features if name.startswith("hgao") else 0
    return ranking + s.nodes * s.features * (2 * queries + s.units) + places * (queries + s.units)


def cpu_ms(layer, x, edges):
    """Milliseconds of processor time for the layer and its gradient."""

    @tf.function
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = layer(x, edges, training=True)
        return tape.gradient(outputs, [x, *layer.trainable_variables], unconnected_gradients="zero")

    both(x)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        both(x)
        best = min(best, time.process_time() - start)
    return 1000 * best


if __name__ == "__main__":
    sys.exit(main())
