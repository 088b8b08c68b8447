"""hGANet on a graph that is large for one machine: sampled steps, a full-batch step, predictions layer by layer.

python examples/large_graph.py                        20,000 nodes, under a minute
python examples/large_graph.py --nodes 1_000_000      ten million directed edges: 7 GB and some minutes
python examples/large_graph.py --nodes 1_000_000 --recompute      the same in less memory

The graph is generated. A node's class depends on the features around it, so that there is something to learn.
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

from ganet_tf import models
from ganet_tf.data import NodeDataset
from ganet_tf.memory import peak_growth
from ganet_tf.profiling.graphs import simulated_edges, simulated_features

CLASSES = 8


class StepTimer(keras.callbacks.Callback):
    """Seconds of each step after the first, in which TensorFlow traces the model."""

    def __init__(self):
        super().__init__()
        self.seconds = []

    def on_train_batch_begin(self, batch, logs=None):
        self.start = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.seconds.append(time.perf_counter() - self.start)

    def mean(self):
        return float(np.mean(self.seconds[1:] or self.seconds))


def make_dataset(nodes, degree, features, seed):
    """A random graph; half of its nodes are for training, the others for testing."""
    edges = simulated_edges(nodes, degree, seed)
    x = simulated_features(nodes, features, seed)
    around = x[:, :CLASSES].copy()
    for channel in range(around.shape[1]):  # add up the neighbours, one channel at a time
        around[:, channel] += np.bincount(edges[:, 1], weights=x[edges[:, 0], channel], minlength=nodes)
    train = np.random.default_rng(seed).random(nodes) < 0.5
    return NodeDataset(edges, x, around.argmax(axis=1), train, test_mask=~train, num_classes=CLASSES, name="generated")


def make_model(modules, recompute):
    """A NodeClassifier of the paper's widths; less dropout than on its small citation graphs."""
    model = models.NodeClassifier(CLASSES, num_modules=modules, dropout=0.1, attention_dropout=0.1, recompute=recompute)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    return model


def train(model, batches, epochs=1):
    """Fits; returns seconds a step and how far memory grew."""
    timer = StepTimer()
    grown = peak_growth(lambda: model.fit(batches, epochs=epochs, callbacks=[timer], verbose=0))
    return timer.mean(), grown


def report(what, nodes, seconds, grown):
    rate = nodes / seconds
    print(f"{what:<34} {seconds:8.2f} s {rate:12,.0f} nodes/s {grown / 1e9:8.2f} GB more than before", flush=True)


def run(args):
    """All three parts, a line each."""
    keras.utils.set_random_seed(args.seed)
    ds = make_dataset(args.nodes, args.degree, args.features, args.seed)
    print(f"{ds.num_nodes:,} nodes, {len(ds.edges):,} directed edges, {ds.num_features} features, {CLASSES} classes")
    model = make_model(args.modules, args.recompute)

    sampled = ds.sampled_batches(args.fanout, args.batch_size, shuffle=True, seed=args.seed).take(args.steps)
    report(f"a sampled step of {args.batch_size} nodes", args.batch_size, *train(model, sampled))
    if not args.skip_full_batch:
        report("a full-batch step", ds.num_nodes, *train(model, ds.batches("train"), epochs=2))

    logits, start = [], time.perf_counter()
    grown = peak_growth(lambda: logits.append(models.predict_layerwise(model, ds, folder=args.folder)))
    report("all predictions, layer by layer", ds.num_nodes, time.perf_counter() - start, grown)
    accuracy = (logits[0].argmax(axis=1) == ds.y)[ds.test_mask].mean()
    print(f"accuracy on the {int(ds.test_mask.sum()):,} test nodes: {100 * accuracy:.1f} %")


def whole(text):
    """An argument type: a whole number from 1, with underscores if you like."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"got {text}, expected a whole number from 1")
    return value


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=whole, default=20_000)
    parser.add_argument("--degree", type=whole, default=10, help="mean number of neighbours")
    parser.add_argument("--features", type=whole, default=64)
    parser.add_argument("--modules", type=whole, default=2, help="graph attention modules")
    parser.add_argument("--fanout", type=whole, nargs="+", default=[10, 5, 5], help="neighbours to draw, hop by hop")
    parser.add_argument("--batch-size", type=whole, default=512, help="nodes of a sampled step")
    parser.add_argument("--steps", type=whole, default=10, help="sampled steps")
    parser.add_argument("--recompute", action="store_true", help="save memory in the backward pass")
    parser.add_argument("--skip-full-batch", action="store_true")
    parser.add_argument("--folder", help="where predictions keep their arrays; in memory by default")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    run(parse())
