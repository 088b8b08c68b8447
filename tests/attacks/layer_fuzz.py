"""Layers on random graphs, from no node upwards: `python -m tests.attacks.layer_fuzz SEED ROUNDS`.

Every round draws a layer, a float type, eager or compiled, edge weights or none, and two graphs side by side in one
batch. It looks whether

- the output has the right shape and, where the features are harmless, finite numbers and gradients,
- sparse, dense and native kernels give the same, in the output and in the gradients,
- compiled gives what eager gives,
- NaN, infinities and huge numbers in the second graph leave the first one as it is,
- an edge to a node that is not there is refused with a sentence, also as an int64 that would fit if it were cut.

It prints one line of JSON: how often what was tried, and the rounds that failed. A crash ends it by a signal, which the
test that started it sees.
"""

import collections
import json
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from ganet_tf import layers, native
from ganet_tf.layers.operators import OPERATORS

FEATURES, UNITS, K = 3, 4, 2
TYPES = {"float64": 1e-9, "float32": 1e-4, "mixed_float16": 0.05}
HARMLESS = ("unit", "ties", "zeros")
WILD = ("nan", "inf", "huge", "overflow")
STRAY = ("stray",)  # an edge to a node that is not there
TWO, THREE = ("sparse", "auto"), ("sparse", "dense", "auto")  # "auto" is the native kernels, where there are any


class Kind(NamedTuple):
    """A layer to try.

    Args:
        make: the function of (implementation, float type) that makes a new one.
        ways: its implementations.
        edges: whether it looks at them.
        pools: whether it gives a row for each graph, not for each node.
    """

    make: Callable
    ways: tuple[str, ...] = ("sparse",)
    edges: bool = True
    pools: bool = False


def kinds():
    """{name: `Kind`}: all operators, and what stands beside them."""
    made = {}
    for name, row in OPERATORS.items():
        options = {"k": K} if "k" in row.options else {}
        ways = THREE if "implementation" in row.options else ("sparse",)
        made[name] = Kind(_maker(row.layer, ways, UNITS, **options), ways, edges=row.layer.needs_edges)
    made["gat"] = Kind(_maker(layers.GAT, ("sparse",), UNITS, heads=2))
    made["gam"] = Kind(_maker(layers.GAM, THREE, UNITS, k=K), THREE)
    made["chebyshev"] = Kind(_maker(layers.ChebConv, TWO, UNITS, K=2), TWO)
    for aggregator in ("mean", "max", "sum"):
        made[f"sage {aggregator}"] = Kind(_maker(layers.SAGEConv, TWO, UNITS, aggregator=aggregator), TWO)
    pooling = {"edges": False, "pools": True}
    for layer in (layers.MeanPooling, layers.MaxPooling, layers.SumPooling, layers.Set2Set):
        made[layer.__name__] = Kind(_maker(layer, TWO), TWO, **pooling)
    made["SortPooling"] = Kind(_maker(layers.SortPooling, ("sparse",), K), **pooling)
    return made


def _maker(layer, ways, *arguments, **options):
    def make(way, dtype):
        return layer(*arguments, dtype=dtype, **({"implementation": way} if len(ways) > 1 else {}), **options)

    return make


class Graphs(NamedTuple):
    """A batch."""

    x: np.ndarray
    edges: np.ndarray
    graph_ids: np.ndarray
    weights: np.ndarray | None = None


class Setting(NamedTuple):
    """What a function is traced for."""

    kind: str
    dtype: str
    compiled: bool


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
            values, compiled = self.rng.choice([*HARMLESS, *WILD, *STRAY]), bool(self.rng.integers(2))
            weighted = bool(self.rng.integers(2)) and not compiled  # tracing once more takes longer than it tells
            first, second = self.graph(), self.graph()
            self.tried.update([kind, str(dtype), str(values), "compiled" if compiled else "eager"])
            self.tried["weighted"] += weighted
            self.tried["no nodes"] += len(first[0]) + len(second[0]) == 0
            try:
                self.round(self.kinds[kind], Setting(kind, str(dtype), compiled), values, first, second, weighted)
            except Exception as error:  # every kind of failure is a finding, and the rounds go on
                text = f"{type(error).__name__}: {error}"
                self.failed.append(
                    f"round {number}, {kind} {dtype} {values} compiled={compiled} weighted={weighted} "
                    f"{len(first[0])}+{len(second[0])} nodes: {text[:600]}"
                )

    def graph(self):
        """Features [n, F] and edges: any order, repeated, self-loops among them; often tiny, now and then none."""
        size = int(self.rng.choice([0, 0, 1, 2, 3, 5, 9, 40]))
        count = int(self.rng.integers(0, 4 * size + 1)) if size else 0
        return self.rng.normal(size=(size, FEATURES)), self.rng.integers(0, max(size, 1), size=(count, 2))

    def round(self, kind, setting, values, first, second, weighted):
        graphs = joined(first, second)
        if weighted:
            graphs = graphs._replace(weights=np.round(self.rng.uniform(0, 2, len(graphs.edges)), 1))
        if values in STRAY:
            self.stray(kind, setting, graphs)
            return
        x = graphs.x
        if values in HARMLESS:
            x = {"unit": x, "ties": np.round(x), "zeros": 0 * x}[values]
        rows = int(graphs.graph_ids.max(initial=-1)) + 1 if kind.pools else len(x)
        here = slice(0, 1 if kind.pools else len(first[0]))
        wild = x.copy()
        wild[len(first[0]) :] = {"nan": np.nan, "inf": np.inf, "huge": 1e30, "overflow": 1e300}.get(values, 0)
        clean = {}
        for way in kind.ways:
            if values in WILD and way == "dense":
                continue  # it multiplies by the zeros of an [N, N] matrix, and 0 · NaN is NaN
            clean[way] = self.call(setting, way, graphs._replace(x=x))
            check_finite(clean[way], rows)
            if values in WILD:
                dirty = self.call(setting, way, graphs._replace(x=wild))[0]
                compare("the first graph sees the second one", dirty[here], clean[way][0][here], TYPES[setting.dtype])
        for way in clean:
            compare_all(f"{way} is not sparse", clean["sparse"], clean[way], setting.dtype)
        if setting.compiled and values in HARMLESS:
            eager = self.call(setting._replace(compiled=False), "sparse", graphs._replace(x=x))
            compare_all("compiled is not eager", clean["sparse"], eager, setting.dtype)

    def stray(self, kind, setting, graphs):
        """An edge out of range among the others: refused by what looks at edges, and nothing to the rest."""
        n, place = len(graphs.x), int(self.rng.integers(len(graphs.edges) + 1))
        pair = [
            int(self.rng.choice([-1, n, n + 1, 2**31 - 1, -(2**31), 2**32, 2**40])),
            int(self.rng.integers(max(n, 1))),
        ]
        bad = graphs._replace(edges=np.insert(graphs.edges, place, self.rng.permutation(pair), axis=0))
        if graphs.weights is not None:
            bad = bad._replace(weights=np.insert(graphs.weights, place, 1.0))
        for way in kind.ways:
            try:
                found = self.call(setting, way, bad, "int64")
            except (ValueError, tf.errors.InvalidArgumentError) as error:
                assert kind.edges and "`edges`" in str(error), error
            else:
                assert not kind.edges, f"{way} took the edge {pair} for {n} nodes"
                compare(f"{way}: edges count", found[0], self.call(setting, way, graphs, "int64")[0], 0)

    def call(self, setting, way, graphs, integers="int32"):
        """[output, gradient of x, gradients of all weights] as float64 arrays."""
        layer = self.layer(setting, way)
        x_type = "float32" if setting.dtype.startswith("mixed") else setting.dtype
        with np.errstate(over="ignore"):
            x = tf.constant(graphs.x.astype(x_type))
        arguments = [x, tf.constant(graphs.edges, integers), tf.constant(graphs.graph_ids, "int32")]
        if graphs.weights is not None:
            arguments.append(tf.constant(graphs.weights, x_type))
        function = self.function(setting, way, layer, x_type, integers) if setting.compiled else step(layer)
        return [np.asarray(tensor, "float64") for tensor in function(*arguments)]

    def layer(self, setting, way):
        key = setting.kind, setting.dtype, way
        if key not in self.layers:
            layer = self.kinds[setting.kind].make(way, setting.dtype)
            layer.build((None, FEATURES), (None, 2), (None,))
            rng = np.random.default_rng(7)  # the same weights for every way
            for weight in layer.trainable_weights:
                weight.assign(rng.normal(size=weight.shape))
            self.layers[key] = layer
        return self.layers[key]

    def function(self, setting, way, layer, x_type, integers):
        if (setting, way, integers) not in self.functions:
            shapes = [tf.TensorSpec([None, FEATURES], x_type), tf.TensorSpec([None, 2], integers)]
            signature = [*shapes, tf.TensorSpec([None], "int32")]
            made = tf.function(step(layer), input_signature=signature, autograph=False)
            self.functions[setting, way, integers] = made
        return self.functions[setting, way, integers]


def step(layer):
    """The function of (x, edges, graph_ids) and perhaps edge weights that gives the output and all gradients."""

    def run(x, edges, graph_ids, *weights):
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = layer(x, edges, graph_ids, *weights, training=False)
            loss = tf.reduce_sum(tf.cast(output, x.dtype) ** 2)
        wanted = [x, *layer.trainable_variables]
        return output, *tape.gradient(loss, wanted, unconnected_gradients=tf.UnconnectedGradients.ZERO)

    return run


def joined(first, second):
    """Two graphs as one batch."""
    sizes = [len(first[0]), len(second[0])]
    edges = np.concatenate([first[1], second[1] + sizes[0]])
    return Graphs(np.concatenate([first[0], second[0]]), edges, np.repeat([0, 1], sizes))


def check_finite(results, rows):
    assert results[0].shape[0] == rows, f"{results[0].shape} for {rows} rows"
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
    fuzz.tried["native"] = rounds if native.usable() else 0
    print(json.dumps({"rounds": rounds, "tried": fuzz.tried, "failed": fuzz.failed}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
