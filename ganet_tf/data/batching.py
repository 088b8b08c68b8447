"""From flat arrays to a `tf.data.Dataset` that Keras can iterate over."""

import functools

import numpy as np

from ganet_tf.data.epoch_dataset import epoch_dataset
from ganet_tf.errors import DataFormatError


class BatchPlan:
    """Which graphs are in which batch of which epoch: a function of the seed and the epoch alone.

    Args:
        graphs: Graph numbers, in the order of the data set.
        batch_size: Graphs in a batch; the last one may have fewer.
        shuffle: Whether each epoch has an order of its own.
        seed: Decides the orders, together with the epoch's number.
        drop_remainder: Whether to leave out a last, smaller batch.
    """

    def __init__(self, graphs, batch_size, shuffle=False, seed=0, drop_remainder=False):
        batch_size = positive_int(batch_size, "batch_size")
        if len(graphs) == 0:
            raise DataFormatError("there are no graphs to make batches of: the data set is empty")
        self.graphs = np.asarray(graphs)
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.num_batches = len(graphs) // batch_size if drop_remainder else -(-len(graphs) // batch_size)
        if self.num_batches == 0:
            raise DataFormatError(
                f"drop_remainder=True leaves no batch: there are {len(graphs)} graphs and batch_size is {batch_size}"
            )

    def order(self, epoch):
        """Returns the graphs in the order of one epoch."""
        if not self.shuffle:
            return self.graphs
        # An epoch of one batch holds every graph in any case. It keeps one order, because a look at its first batch
        # cannot be told from the whole epoch (see `epoch_dataset`).
        epoch = 0 if self.num_batches == 1 else epoch
        return np.random.default_rng([int(self.seed), int(epoch)]).permutation(self.graphs)


def batch_maker(plan, store):
    """Returns the function of (epoch, step) that makes a batch of NumPy arrays: `({"x", "edges", "graph_ids"}, y)`."""
    order = functools.lru_cache(maxsize=2)(plan.order)

    def make_batch(epoch, step):
        graphs = order(epoch)[step * plan.batch_size : (step + 1) * plan.batch_size]
        return store.collate(graphs), store.y[graphs]

    return make_batch


def make_batches(plan, store, initial_epoch=0):
    """Makes the `tf.data.Dataset`: explicit signature, known cardinality, prefetched.

    Returns:
        Dataset of `({"x": [N, F] float32, "edges": [E, 2] int32, "graph_ids": [N] int32}, y [B] int32)`.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    signature = (
        {
            "x": tf.TensorSpec([None, store.features.width], tf.float32),
            "edges": tf.TensorSpec([None, 2], tf.int32),
            "graph_ids": tf.TensorSpec([None], tf.int32),
        },
        tf.TensorSpec([None], tf.int32),
    )
    return epoch_dataset(batch_maker(plan, store), plan.num_batches, signature, initial_epoch)


def positive_int(value, name):
    """Returns `value` as an int if it is a whole number from 1."""
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise DataFormatError(f"{name} must be a whole number from 1, but is {value!r}")
    return int(value)
