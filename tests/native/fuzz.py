"""Calls every op with tensors of any rank, size and content: `python -m tests.native.fuzz [seed] [calls]`.

Each call gives a result or an InvalidArgumentError. A crash ends the process, which is how a test sees it.
"""

import sys

import numpy as np
import tensorflow as tf

from ganet_tf.native import library

# Inputs of each op: f floats, i int32, e edges or ids, s a seed, n a scalar; behind them the attributes to draw.
OPS = {
    "ganet_lists": ("enf", {"flags": 2}),
    "ganet_transpose": ("iin", {}),
    "ganet_normalization": ("iif", {"flags": 8}),
    "ganet_segments": ("en", {}),
    "ganet_attend": ("fffiiffs", {"flags": 2, "heads": 4, "ranking": 4, "k": 4}),
    "ganet_attend_grad": ("fffiifiiifffs", {"flags": 2, "heads": 4}),
    "ganet_product": ("fiififf", {"flags": 8}),
    "ganet_maximum": ("fii", {"flags": 8}),
    "ganet_maximum_grad": ("ffffii", {"flags": 8}),
    "ganet_softmax": ("fi", {}),
    "ganet_softmax_grad": ("ffi", {}),
}
WILD = (-1, 2**31 - 1, -(2**31), 7)


def shape(rng, likely):
    """Mostly the `likely` rank, of sizes 0 to 5, so that some calls get through all checks."""
    rank = likely if rng.random() < 0.95 else rng.integers(0, 4)
    return tuple(rng.integers(0, 6, rank)) if rng.random() < 0.3 else (3,) * rank


def tensor(kind, rng, dtype):
    """A random tensor of one kind."""
    if kind == "f":
        values = rng.normal(size=shape(rng, 2 if rng.random() < 0.6 else 1))
        return tf.constant(np.where(rng.random(values.shape) < 0.02, np.nan, values), dtype)
    if kind == "s":
        return tf.constant(rng.integers(0, 99, 2 if rng.random() < 0.3 else 0), tf.int64)
    if kind == "n":
        return tf.constant(int(rng.choice([3, 3, 3, 0, 5, -1, -(2**31)])), tf.int32)
    if kind == "e":
        values = rng.integers(0, 3, (rng.integers(0, 6), 2) if rng.random() < 0.7 else shape(rng, 1))
        values = np.where(
            rng.random(values.shape) < 0.05, rng.choice([*WILD, 2**40]), np.sort(values.T).T if values.ndim else values
        )
        return tf.constant(values, tf.int64)
    values = np.arange(4) if rng.random() < 0.5 else np.sort(rng.integers(0, 4, shape(rng, 1)), axis=None)
    values = np.where(rng.random(values.shape) < 0.05, rng.choice(WILD), values)
    return tf.constant(values[: rng.integers(3, 5)] if values.ndim else values, tf.int32)


def main(seed=0, calls=3000):
    """Prints how many calls gave a result, and how many were refused."""
    rng, ops = np.random.default_rng(seed), library.library().ops
    given = refused = 0
    for _ in range(calls):
        name = list(OPS)[rng.integers(len(OPS))]
        kinds, attributes = OPS[name]
        dtype = tf.float32 if rng.random() < 0.5 else tf.float64
        drawn = {key: int(rng.integers(0, most)) for key, most in attributes.items()}
        try:
            getattr(ops, name)(*(tensor(kind, rng, dtype) for kind in kinds), **drawn)
            given += 1
        except tf.errors.InvalidArgumentError:
            refused += 1
    print(given, refused)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
