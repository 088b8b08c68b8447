"""Layers on random graphs, from no node upwards: `python -m tests.attacks.layer_fuzz SEED ROUNDS`.

Every round draws a layer, a float type, eager or compiled, and two graphs side by side in one batch. It looks whether

- the output has the right shape and, where the features are harmless, finite numbers and gradients,
- sparse and dense give the same, in the output and in the gradients,
- compiled gives what eager gives,
- NaN, infinities and huge numbers in the second graph leave the first one as it is.

It prints one line of JSON: how often what was tried, and the rounds that failed. A crash ends it by a signal, which the
test that started it sees.
"""

import collections
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.layers.operators import OPERATORS

FEATURES, UNITS, K = 3, 4, 2
TYPES = {"float64": 1e-9, "float32": 1e-4, "mixed_float16": 0.05}
HARMLESS = ("unit", "ties", "zeros")
WILD = ("nan", "inf", "huge", "overflow")


def kinds():
    """{name: the function from an implementation to a new layer}: all operators, and what stands beside them."""
    made = {}
    for name, row in OPERATORS.items():
        options = {"k": K} if "k" in row.options else {}
        made[name] = _maker(row.layer, "implementation" in row.options, options)
    made["gcn"] = _maker(layers.GCN, True, {})
    made["gat"] = _maker(layers.GAT, False, {"heads": 2})
    made["gam"] = _maker(layers.GAM, True, {"k": K})
    return made


def _maker(layer, has_dense, options):
    def make(implementation, dtype):
        chosen = {"implementation": implementation} if has_dense else {}
        return layer(UNITS, dtype=dtype, **chosen, **options)

    make.has_dense = has_dense
    return make


class Fuzz:
    """The rounds of one seed. Layers and compiled functions are kept: tracing is what takes the time."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.kinds = kinds()
        self.layers, self.functions = {}, {}
        self.tried = collections.Counter()
        self.failed = []

    def run(self, rounds):
        for number in range(rounds):
            kind, dtype = self.rng.choice(list(self.kinds)), self.rng.choice(list(TYPES))
            values, compiled = self.rng.choice([*HARMLESS, *WILD]), bool(self.rng.integers(2))
            first, second = self.graph(), self.graph()
            self.tried.update([kind, str(dtype), str(values), "compiled" if compiled else "eager"])
            self.tried["no nodes"] += len(first[0]) + len(second[0]) == 0
            try:
                self.round(kind, str(dtype), values, compiled, first, second)
            except Exception as error:  # every kind of failure is a finding, and the rounds go on
                text = f"{type(error).__name__}: {error}"
                self.failed.append(
                    f"round {number}, {kind} {dtype} {values} compiled={compiled} "
                    f"{len(first[0])}+{len(second[0])} nodes: {text[:600]}"
                )

    def graph(self):
        """Features [n, F] and edges: any order, repeated, self-loops among them; often tiny, now and then none."""
        size = int(self.rng.choice([0, 0, 1, 2, 3, 5, 9, 40]))
        count = int(self.rng.integers(0, 4 * size + 1)) if size else 0
        return self.rng.normal(size=(size, FEATURES)), self.rng.integers(0, max(size, 1), size=(count, 2))

    def round(self, kind, dtype, values, compiled, first, second):
        x, edges, graph_ids = joined(first, second)
        here = slice(0, len(first[0]))
        if values in HARMLESS:
            x = {"unit": x, "ties": np.round(x), "zeros": 0 * x}[values]
        clean = self.call(kind, "sparse", dtype, compiled, x, edges, graph_ids)
        check_finite(clean, len(x))
        if values in WILD:
            wild = x.copy()
            wild[len(first[0]) :] = {"nan": np.nan, "inf": np.inf, "huge": 1e30, "overflow": 1e300}[values]
            # Not the dense way: it multiplies by the zeros of an [N, N] matrix, and 0 · NaN is NaN.
            dirty = self.call(kind, "sparse", dtype, compiled, wild, edges, graph_ids)[0]
            compare("the first graph sees the second one", dirty[here], clean[0][here], TYPES[dtype])
            return
        if compiled:
            eager = self.call(kind, "sparse", dtype, False, x, edges, graph_ids)
            compare_all("compiled is not eager", clean, eager, dtype)
        if self.kinds[kind].has_dense:
            dense = self.call(kind, "dense", dtype, compiled, x, edges, graph_ids)
            compare_all("dense is not sparse", clean, dense, dtype)

    def call(self, kind, way, dtype, compiled, x, edges, graph_ids):
        """[output, gradient of x, gradients of all weights] as float64 arrays."""
        layer = self.layer(kind, way, dtype)
        x_type = "float32" if dtype.startswith("mixed") else dtype
        with np.errstate(over="ignore"):
            arguments = (tf.constant(x.astype(x_type)), tf.constant(edges, "int32"), tf.constant(graph_ids, "int32"))
        function = self.function(kind, way, dtype, layer, x_type) if compiled else step(layer)
        return [np.asarray(tensor, "float64") for tensor in function(*arguments)]

    def layer(self, kind, way, dtype):
        if (kind, way, dtype) not in self.layers:
            layer = self.kinds[kind](way, dtype)
            layer.build((None, FEATURES), (None, 2), (None,))
            rng = np.random.default_rng(7)  # sparse and dense get the same weights
            for weight in layer.trainable_weights:
                weight.assign(rng.normal(size=weight.shape))
            self.layers[kind, way, dtype] = layer
        return self.layers[kind, way, dtype]

    def function(self, kind, way, dtype, layer, x_type):
        if (kind, way, dtype) not in self.functions:
            shapes = [tf.TensorSpec([None, FEATURES], x_type), tf.TensorSpec([None, 2], "int32")]
            signature = [*shapes, tf.TensorSpec([None], "int32")]
            self.functions[kind, way, dtype] = tf.function(step(layer), input_signature=signature, autograph=False)
        return self.functions[kind, way, dtype]


def step(layer):
    """The function of (x, edges, graph_ids) that gives the output and all gradients."""

    def run(x, edges, graph_ids):
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = layer(x, edges, graph_ids, training=False)
            loss = tf.reduce_sum(tf.cast(output, x.dtype) ** 2)
        wanted = [x, *layer.trainable_variables]
        return output, *tape.gradient(loss, wanted, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    return run


def joined(first, second):
    """Two graphs as one batch."""
    sizes = [len(first[0]), len(second[0])]
    edges = np.concatenate([first[1], second[1] + sizes[0]])
    return np.concatenate([first[0], second[0]]), edges, np.repeat([0, 1], sizes)


def check_finite(results, nodes):
    assert results[0].shape[0] == nodes, f"{results[0].shape} for {nodes} nodes"
    for result in results:
        assert np.isfinite(result).all(), "a number that is none, from harmless features"


def compare_all(what, ours, theirs, dtype):
    # Half precision rounds the gradients of a square by more than is worth a comparison. A gradient can be the small
    # difference of large terms (where a node sees itself alone, that of the keys is 0): it is off by their rounding.
    size = max(np.max(np.abs(other), initial=0.0) for other in theirs)
    for one, other in list(zip(ours, theirs, strict=True))[: 1 if dtype.startswith("mixed") else None]:
        compare(what, one, other, TYPES[dtype], size)


def compare(what, one, other, tolerance, size=0.0):
    error = np.max(np.abs(one - other), initial=0.0)
    assert error <= tolerance * max(1.0, size, np.max(np.abs(other), initial=0.0)), f"{what}: off by {error}"


def main(seed, rounds):
    keras.utils.set_random_seed(seed)
    fuzz = Fuzz(seed)
    fuzz.run(rounds)
    print(json.dumps({"rounds": rounds, "tried": fuzz.tried, "failed": fuzz.failed}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
