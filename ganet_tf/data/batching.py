"""From flat arrays to a `tf.data.Dataset` that Keras can iterate over."""

import functools
import heapq
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data.arrays import aligned_empty, ranges
from ganet_tf.data.features import NodeFeatures
from ganet_tf.data.targets import MISSING
from ganet_tf.errors import DataFormatError

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True, eq=False)
class GraphStore:
    """The flat arrays behind a `GraphDataset`; subsets of a data set share one store.

    Args:
        features: `NodeFeatures` of all nodes, graph after graph.
        edges: int32 [E, 2] pairs (source, target), numbered from 0 within each graph, sorted by (target, source).
        node_offsets: int64 [G + 1]; graph g has the nodes node_offsets[g] to node_offsets[g + 1].
        edge_offsets: int64 [G + 1], the same for edges.
        y: int32 [G], or float32 [G, T].
        edge_weights: float32 [E], or None.
        more: {name: array [G, ...]}, further inputs of which each graph has a row.
    """

    features: NodeFeatures
    edges: np.ndarray
    node_offsets: np.ndarray
    edge_offsets: np.ndarray
    y: np.ndarray
    edge_weights: np.ndarray | None = None
    more: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.diff(self.node_offsets)

    @cached_property
    def edge_counts(self) -> np.ndarray:
        return np.diff(self.edge_offsets)

    def collate(self, graphs: np.ndarray) -> dict[str, np.ndarray]:
        """Puts some graphs side by side as one.

        Args:
            graphs: Graph numbers, [B].

        Returns:
            Dict with `x` [N, F] float32, `edges` [E, 2] int32 (sorted by target) and `graph_ids` [N] int32; and
            `edge_weights` [E] float32 and what is in `more` [B, ...], where there are any.
        """
        sizes = self.sizes[graphs]
        nodes = ranges(self.node_offsets[graphs], sizes)
        first_nodes = np.cumsum(sizes) - sizes
        edges = shifted(self.edges, self.edge_offsets[graphs], self.edge_counts[graphs], first_nodes)
        graph_ids = np.repeat(np.arange(len(graphs), dtype=np.int32), sizes)
        batch = {"x": self.features.take(nodes), "edges": edges, "graph_ids": graph_ids}
        if self.edge_weights is not None:
            batch["edge_weights"] = aligned_empty((len(edges),), np.float32)
            places = ranges(self.edge_offsets[graphs], self.edge_counts[graphs])
            np.take(self.edge_weights, places, out=batch["edge_weights"], mode="clip")
        batch.update({name: array[graphs] for name, array in self.more.items()})
        return batch


def shifted(edges: np.ndarray, starts: np.ndarray, counts: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Returns the edges `ranges(starts, counts)`, those of each range shifted by its own number."""
    out = aligned_empty((int(np.sum(counts)), 2), np.int32)
    np.take(edges, ranges(starts, counts), axis=0, out=out, mode="clip")
    out += np.repeat(shifts.astype(np.int32), counts)[:, None]
    return out


class BatchPlan:
    """Which graphs are in which batch of which epoch: a function of the seed and the epoch alone.

    Args:
        graphs: Graph numbers, in the order of the data set.
        batch_size: Graphs in a batch; the last one may have fewer.
        shuffle: Whether each epoch has an order of its own.
        seed: Decides the orders, together with the epoch's number.
        drop_remainder: Whether to leave out a last, smaller batch.
    """

    def __init__(
        self,
        graphs: ArrayLike,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_remainder: bool = False,
    ):
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
        self._orders = functools.lru_cache(maxsize=2)(self.order)

    def batch(self, epoch: int, step: int) -> np.ndarray:
        """Returns the graphs of one batch, before it is dealt out to workers."""
        return self._orders(int(epoch))[step * self.batch_size : (step + 1) * self.batch_size]

    def order(self, epoch: int) -> np.ndarray:
        """Returns the graphs in the order of one epoch."""
        if not self.shuffle:
            return self.graphs
        # An epoch of one batch holds every graph in any case. It keeps one order, because a look at its first batch
        # cannot be told from the whole epoch (see `epoch_dataset`).
        epoch = 0 if self.num_batches == 1 else epoch
        return np.random.default_rng([int(self.seed), int(epoch)]).permutation(self.graphs)


def batch_maker(plan: BatchPlan, store: GraphStore, share: tuple[int, int] | None = None) -> Callable:
    """Returns the function of (epoch, step) that makes a batch of NumPy arrays: `({"x", "edges", "graph_ids"}, y)`.

    Where the classes of some graphs are unknown, these get the weight 0 in a third element. With a `share` there is
    always one: the weights with which the workers' gradients add up to that of the whole batch.
    """
    share = as_share(share)
    weighted = has_missing(store.y[plan.graphs])

    def make_batch(epoch, step):
        graphs, factor = plan.batch(epoch, step), 1.0
        if share is not None:
            whole = store.y[graphs]
            part = deal(store.sizes[graphs] + store.edge_counts[graphs], share[1])[share[0]]
            factor = share_weight(whole, part, share[1])
            graphs = graphs[part if len(part) else [0]]
        y = store.y[graphs]
        if not weighted and share is None:
            return store.collate(graphs), y
        known = y != MISSING if weighted else np.ones(len(y), bool)
        return store.collate(graphs), np.maximum(y, 0) if weighted else y, (factor * known).astype(np.float32)

    return make_batch


def as_share(share: tuple[int, int] | None) -> tuple[int, int] | None:
    """Returns (index, count) of one worker among several, as whole numbers; None stays."""
    if share is None:
        return None
    try:
        index, count = (operator.index(part) for part in share)
    except (TypeError, ValueError):
        index, count = -1, 0
    if not 0 <= index < count:
        raise DataFormatError(f"share must be (index, count), the worker's number from 0 below count, but is {share!r}")
    return index, count


def deal(sizes: np.ndarray, count: int) -> list[np.ndarray]:
    """Deals graphs out to workers: the largest first, each to whoever has least so far.

    Args:
        sizes: Work that each graph makes, [B].
        count: Number of workers.

    Returns:
        For each worker the places of its graphs, ascending; a worker may have none.

    Example:

    >>> [part.tolist() for part in deal(np.array([1, 9, 4, 5]), 2)]
    [[0, 1], [2, 3]]
    """
    parts, loads = [[] for _ in range(count)], [(0, worker) for worker in range(count)]
    for place in np.argsort(-sizes, kind="stable").tolist():
        load, worker = heapq.heappop(loads)
        parts[worker].append(place)
        heapq.heappush(loads, (load + int(sizes[place]), worker))
    return [np.sort(np.array(part, np.int64)) for part in parts]


def share_weight(y: np.ndarray, part: np.ndarray, count: int) -> float:
    """Returns the weight of every sample of one worker's part of a batch with the targets `y`.

    Keras divides a loss by the samples that a worker has, B_r, and by the number of workers, R. With the weight
    R B_r / B the sum over workers is the mean over the whole batch of B, however unevenly it was dealt out. Of numbers
    that are unknown, NaN, a loss takes none: then entries are counted in the place of samples.
    """
    known = np.ones(len(y)) if y.ndim == 1 else (~np.isnan(y)).sum(axis=1)
    return count * float(known[part].sum()) / max(float(known.sum()), 1.0)


def has_missing(y: np.ndarray) -> bool:
    """Whether there are unknown classes, which need weights; unknown numbers are NaN, which the loss must see."""
    return y.ndim == 1 and bool((y == MISSING).any())


def make_batches(
    plan: BatchPlan, store: GraphStore, initial_epoch: int = 0, share: tuple[int, int] | None = None
) -> "tf.data.Dataset":
    """Makes the `tf.data.Dataset`: explicit signature, known cardinality, prefetched.

    Returns:
        Dataset of `({"x": [N, F] float32, "edges": [E, 2] int32, "graph_ids": [N] int32}, y [B] int32)`.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    inputs = {
        "x": tf.TensorSpec([None, store.features.width], tf.float32),
        "edges": tf.TensorSpec([None, 2], tf.int32),
        "graph_ids": tf.TensorSpec([None], tf.int32),
    }
    if store.edge_weights is not None:
        inputs["edge_weights"] = tf.TensorSpec([None], tf.float32)
    for name, array in store.more.items():
        inputs[name] = tf.TensorSpec([None, *array.shape[1:]], array.dtype)
    signature = (inputs, tf.TensorSpec([None, *store.y.shape[1:]], store.y.dtype))
    if share is not None or has_missing(store.y[plan.graphs]):
        signature += (tf.TensorSpec([None], tf.float32),)
    return epoch_dataset(batch_maker(plan, store, share), plan.num_batches, signature, initial_epoch)


def positive_int(value: Any, name: str) -> int:
    """Returns `value` as an int if it is a whole number from 1."""
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise DataFormatError(f"{name} must be a whole number from 1, but is {value!r}")
    return int(value)


def epoch_dataset(make_batch: Callable, num_batches: int, signature: Any, initial_epoch: int = 0) -> "tf.data.Dataset":
    """Makes a dataset of `num_batches` elements that are others in every epoch.

    Keras makes more iterators than it uses up: one to look at the first batch, one at the end of every epoch. So an
    epoch counts only when its last batch has been handed out, and whoever looks at less gets the same epoch again.

    It does what `from_generator` would do, which cannot be used: TensorFlow 2.21 sets M_TRIM_THRESHOLD to 128 kB for
    the whole process as soon as a generator runs. After that malloc maps every larger tensor again, and all
    operations, of the training step too, take twice the time.

    Args:
        make_batch: Function (epoch, step) to a structure of arrays as in `signature`; step counts from 0.
        num_batches: Number of batches in an epoch.
        signature: Structure of `tf.TensorSpec`.
        initial_epoch: The first epoch's number.

    Returns:
        Dataset of known cardinality, prefetched.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    state = {"epoch": int(initial_epoch)}
    specs = tf.nest.flatten(signature)

    def arrays(epoch, step):
        # Read at the first batch of an iterator and then handed on, so that all its batches are of one epoch.
        epoch = state["epoch"] if epoch < 0 else int(epoch)
        batch = make_batch(epoch, int(step))
        if step == num_batches - 1:
            state["epoch"] = epoch + 1
        return [np.int64(epoch), *tf.nest.flatten(batch)]

    @tf.autograph.experimental.do_not_convert
    def one_batch(epoch, step):
        epoch, *tensors = tf.numpy_function(arrays, [epoch, step], [tf.int64, *(spec.dtype for spec in specs)])
        shaped = [tf.ensure_shape(tensor, spec.shape) for tensor, spec in zip(tensors, specs, strict=True)]
        return tf.ensure_shape(epoch, []), tf.nest.pack_sequence_as(signature, shaped)

    # A scan, because an epoch that is a dataset of its own (flat_map) takes 15 ms to begin: two steps on small graphs.
    dataset = tf.data.Dataset.range(num_batches).scan(tf.constant(-1, tf.int64), one_batch)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(num_batches))
    # Never so far ahead that a look at the first batch makes the whole epoch.
    ahead = min(2, num_batches - 2)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    # The tuner sleeps 10 ms, 20, 40, ... and TensorFlow 2.21 lets the end of an epoch wait until it wakes up: an epoch
    # of 5.2 s took 10.24. There is nothing to tune here.
    options.autotune.enabled = False
    return (dataset.prefetch(ahead) if ahead > 0 else dataset).with_options(options)
