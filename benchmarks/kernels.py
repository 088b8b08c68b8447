"""What limits the native kernels: each alone, the bytes it fetches, and how fast this machine reads and multiplies.

    python benchmarks/kernels.py                   20,000 nodes, degrees 8 and 32; half a minute
    python benchmarks/kernels.py --nodes 1000000 --degrees 8

Processor milliseconds of one thread, the fastest fifth of the calls: so other work on the machine matters little.
"Fetched" is what a kernel reads from rows that lie anywhere in memory: entries of the lists times the bytes of a row,
once for each table. Rows that are still in the second cache make it look faster than a plain read from the third.
"""

import argparse
import sys
import time

import numpy as np
import tensorflow as tf
from peers.graphs import FEATURES, GraphSpec

from ganet_tf import native
from ganet_tf.native.library import library

K = 8


def milliseconds(call, seconds=1.0):
    """Processor time of a call: the end of the fastest fifth."""
    found, start = [], time.monotonic()
    while len(found) < 10 or (time.monotonic() - start < seconds and len(found) < 1000):
        before = time.process_time()
        call()
        found.append(time.process_time() - before)
    return 1e3 * sorted(found)[len(found) // 5]


def machine(nodes):
    """Gigabytes a second of reading a table like the kernels' and one that fits no cache; billions of operations."""
    table, large = np.ones(nodes * FEATURES, "float32"), np.ones(2**27, "float32")
    left, right = tf.ones([nodes, FEATURES]), tf.ones([FEATURES, FEATURES])
    # A maximum is read at the speed of memory; a sum in NumPy is not.
    reads = {
        f"reading {a.nbytes / 1e6:,.0f} MB": a.nbytes / milliseconds(lambda a=a: a.max()) / 1e6 for a in (table, large)
    }
    product = tf.function(lambda: tf.matmul(left, right))
    product()
    flops = 2 * nodes * FEATURES**2 / milliseconds(product) / 1e6
    return {name: f"{gb:.0f} GB/s" for name, gb in reads.items()}, f"{flops:.0f} GFlop/s"


def rows(nodes, degree):
    """(kernel, milliseconds, tables that it fetches rows of, entries) on one graph."""
    spec = GraphSpec(nodes, degree)
    edges, x = tf.constant(spec.edges()), tf.constant(spec.features())
    lib = library()
    lib.controls.ganet_remember_lists(0)
    yield "neighbour lists", milliseconds(lambda: native.lists(edges, nodes)), 0, len(edges)
    lists = native.lists(edges, nodes)
    splits, columns, none = lists.row_splits, lists.columns, tf.zeros([0])
    entries = int(columns.shape[0])
    yield "their transpose", milliseconds(lambda: lib.ops.ganet_transpose(splits, columns, nodes)), 0, entries
    lib.controls.ganet_remember_lists(1)
    for _ in range(3):
        native.lists(edges, nodes)
    yield "lists of a graph that comes again", milliseconds(lambda: native.lists(edges, nodes)), 0, len(edges)
    factors = lists.factors("sym", tf.float32)[0]
    no_places, seed = tf.zeros([0], tf.int32), tf.zeros([0], tf.int64)

    def product():
        return lib.ops.ganet_product(x, splits, columns, none, no_places, factors, factors)

    yield "GCN's product", milliseconds(product), 1, entries
    for name, ranking, scores in (("hGAO", 1, tf.abs(x[:, 0])), ("GAO", 0, none)):

        def attend(ranking=ranking, scores=scores):
            return lib.ops.ganet_attend(x, x, x, splits, columns, none, scores, seed, ranking=ranking, k=K)

        made = attend()
        chosen = lists if ranking == 0 else native.Lists(made.chosen_splits, made.chosen_columns, nodes)
        transposed, count = chosen.transposed(), int(chosen.columns.shape[0])

        def gradient(made=made, chosen=chosen, transposed=transposed):
            return lib.ops.ganet_attend_grad(
                x, x, x, chosen.row_splits, chosen.columns, none, *transposed, made.alpha, made.output, x, seed
            )

        yield f"{name}, forward", milliseconds(attend), 2, count
        yield f"{name}, backward", milliseconds(gradient), 3, count


def main():
    """Prints a table for each degree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--degrees", type=int, nargs="+", default=[8, 32])
    args = parser.parse_args()
    if not native.available():
        sys.exit(str(native.available()))
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    reads, flops = machine(args.nodes)
    print(f"one thread: {', '.join(f'{name} {speed}' for name, speed in reads.items())}; matrix products {flops}\n")
    print("| | degree | ms | fetched, MB | GB/s |\n|---|---|---|---|---|")
    for degree in args.degrees:
        for name, ms, tables, entries in rows(args.nodes, degree):
            fetched = tables * entries * 4 * FEATURES / 1e6
            print(f"| {name} | {degree} | {ms:.2f} | {f'{fetched:.0f} | {fetched / ms:.0f}' if tables else ' | '} |")


if __name__ == "__main__":
    main()
