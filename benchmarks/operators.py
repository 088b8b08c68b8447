"""Every operator, forward and with gradients, sparse and dense: times, and ratios to dense GAO.

    python benchmarks/operators.py --nodes 1000 10000 20000 --degree 8 32

All operators of a size take turns, round after round, so that a noisy machine is noisy for all of them; the
figures are medians over rounds, and the ratios are medians of the rounds' ratios. `profile_ops.py` adds counts and
memory, one process a row.
"""

import argparse
import gc
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table

from ganet_tf.layers.operators import profiled_operators
from ganet_tf.memory import available_memory
from ganet_tf.profiling import make_layer, simulated_edges, simulated_features

OPERATORS = profiled_operators()
BASELINE = ("gao", "dense", "forward")


def make_step(operator, implementation, gradients, x, k):
    """A compiled function of (x, edges): the layer's output, or with `gradients` those of x and all weights."""
    layer = make_layer(operator, implementation, x.shape[1], k)
    layer.build(x.shape, (None, 2))

    @tf.function(autograph=False)
    def forward(x, edges):
        return layer(x, edges)

    @tf.function(autograph=False)
    def forward_and_backward(x, edges):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, edges)
        return tape.gradient(y, [x, *layer.trainable_variables], output_gradients=x)

    return forward_and_backward if gradients else forward


def steps_of_size(nodes, args, x):
    """What is measured at one size; dense operators only where their matrices fit in memory."""
    fits = 4 * 6 * nodes**2 < available_memory()
    steps = {}
    for operator in args.operators:
        for implementation in (
            ("sparse", "dense") if fits and "implementation" in OPERATORS[operator].options else ("sparse",)
        ):
            for mode in ("forward", "forward+backward"):
                step = make_step(operator, implementation, mode != "forward", x, args.k)
                steps[operator, implementation, mode] = step
    return steps


def measure(steps, x, edges, rounds):
    """Milliseconds of each step in each round: {name: [rounds]}; what takes over a second gets three rounds."""
    times = {name: [] for name in steps}
    for step in steps.values():
        step(x, edges)
    for round_ in range(rounds):
        for name, step in steps.items():
            if round_ >= 3 and np.median(times[name]) > 1000:
                continue
            start = time.perf_counter()
            step(x, edges)
            times[name].append((time.perf_counter() - start) * 1e3)
        if sys.stderr.isatty():
            print(f"\rround {round_ + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    return times


def report(console, title, times):
    """One size as a table: times, and how many times faster than dense GAO in the same rounds."""
    table = Table(title=title)
    for column in ("operator", "implementation", "forward ms", "fwd+bwd ms", "dense GAO / forward"):
        table.add_column(column, justify="left" if column in ("operator", "implementation") else "right")
    for operator, implementation in dict.fromkeys(name[:2] for name in times):
        forward, both = (times[operator, implementation, m] for m in ("forward", "forward+backward"))
        ratio = "-"
        if BASELINE in times:
            shared = min(len(times[BASELINE]), len(forward))
            ratios = np.array(times[BASELINE][:shared]) / np.array(forward[:shared])
            low, mid, high = np.percentile(ratios, [25, 50, 75])
            ratio = f"{mid:.3g}x ({low:.3g} to {high:.3g})"
        table.add_row(operator, implementation, f"{np.median(forward):.2f}", f"{np.median(both):.2f}", ratio)
    console.print(table)


def main():
    """Measures all sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 10000, 20000])
    parser.add_argument("--degree", type=float, nargs="+", default=[8.0])
    parser.add_argument("--features", type=int, default=48)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--operators", nargs="+", choices=list(OPERATORS), default=list(OPERATORS))
    args = parser.parse_args()
    tf.get_logger().setLevel("ERROR")  # one function a row is meant, not a retracing by mistake
    console = Console()
    for nodes in args.nodes:
        for degree in args.degree:
            x = tf.constant(simulated_features(nodes, args.features))
            edges = tf.constant(simulated_edges(nodes, degree))
            times = measure(steps_of_size(nodes, args, x), x, edges, args.rounds)
            report(console, f"{nodes:,} nodes, degree {degree:g}, {args.features} features", times)
            gc.collect()


if __name__ == "__main__":
    main()
