"""Mini-batches of one large graph: some nodes, and of their surroundings no more than is drawn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from ganet_tf.data.arrays import aligned_empty, ranges
from ganet_tf.data.batching import BatchPlan, as_share, epoch_dataset, positive_int, share_weight
from ganet_tf.data.neighbor_lists import NeighborLists, Rows
from ganet_tf.errors import DataFormatError

if TYPE_CHECKING:
    import tensorflow as tf


class NeighborSampler:
    """Draws the surroundings of nodes, hop by hop, from neighbour lists in compressed rows.

    A node that turns up for the first time in hop h - 1 (the seeds are hop 0) gets up to `fanout[h]` of its
    neighbours, drawn without replacement; nodes of the last hop get none. Everything is array arithmetic over all
    nodes of a hop, and costs time and memory in proportion to what is drawn, whatever the degrees are, and however
    large the graph. Several threads may draw at the same time.

    Args:
        x: Node features [N, F], an array, a memory map or a scipy matrix.
        lists: `NeighborLists`; or edges [E, 2] of (source, target), sorted by (target, source), unique, without
            self-loops.
        y: Targets [N] or [N, T].
        fanout: One number for each hop; None takes all neighbours.
        edge_weights: Weights of the edges [E], or None, where `lists` are edges.
    """

    def __init__(
        self,
        x: np.ndarray,
        lists: NeighborLists | np.ndarray,
        y: np.ndarray,
        fanout: Sequence[int | None],
        edge_weights: np.ndarray | None = None,
    ):
        if not isinstance(lists, NeighborLists):
            lists = NeighborLists.from_edges(lists, x.shape[0], edge_weights)
        self.x, self.y, self.fanout, self.lists = x, y, tuple(fanout), lists
        self._rows = None if hasattr(x, "toarray") else Rows(x)
        self.y_dtype = np.int32 if y.dtype.kind in "iu" else y.dtype

    def sample(self, seeds: np.ndarray, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draws a sub-graph around some nodes.

        Nodes keep their order, so that ties in hGAO's ranking go the same way as in the whole graph.

        Args:
            seeds: Node numbers, each once.
            rng: `numpy.random.Generator`.

        Returns:
            `({"x", "edges", "nodes"}, y)`: the sub-graph with numbers of its own, sorted edges, the seeds' numbers in
            it and their targets.
        """
        local = self.lists.borrow_marks()  # and not given back by an error in between: then there will be new ones
        seeds = np.asarray(seeds, np.int32)
        nodes, targets, counts, sources, places = self._draw(seeds, rng, local)
        nodes.sort()
        local[nodes] = np.arange(len(nodes), dtype=np.int32)
        weights = None if self.lists.edge_weights is None else self.lists.edge_weights[places]
        lists = np.take(local, sources), np.take(local, targets), counts
        edges, weights = sorted_edges(*lists, len(nodes), weights)
        self.lists.check_drawn(edges)
        batch = {"x": self._features(nodes), "edges": edges, "nodes": local[seeds]}
        if weights is not None:
            batch["edge_weights"] = weights
        local[nodes] = -1
        self.lists.give_back_marks(local)
        return batch, np.asarray(self.y[seeds], self.y_dtype)

    def _features(self, nodes):
        if self._rows is None:
            return self.x[nodes].toarray()
        return self._rows.take(nodes, aligned_empty((len(nodes), self.x.shape[1]), np.float32))

    def _draw(self, seeds, rng, marks):
        """Returns the nodes of the sample, and its edges: targets, how many sources each has, sources, and places.

        `marks` are -1 for each node.
        """
        marks[seeds] = 0
        hops, drawn = [seeds], []
        for fanout in self.fanout:
            targets, counts, places = self.draw_neighbors(hops[-1], fanout, rng)
            sources = np.take(self.lists.indices, places)
            self.lists.check_sources(sources)
            sources = sources.astype(np.int32, copy=False)
            new = sources[np.take(marks, sources) < 0]
            # Each new node once: of its places the last one stays in `marks`. Three times faster than np.unique.
            numbers = np.arange(len(new), dtype=np.int32)
            marks[new] = numbers
            hops.append(new[np.take(marks, new) == numbers])
            drawn.append((targets, counts, sources, places))
        return np.concatenate(hops), *map(np.concatenate, zip(*drawn, strict=True))

    def draw_neighbors(
        self, nodes: np.ndarray, fanout: int | None, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draws up to `fanout` neighbours of each of `nodes`.

        Returns:
            The nodes in another order, how many neighbours each has, and their places in the lists, node after node.
        """
        starts, ends = self.lists.indptr[nodes], self.lists.indptr[nodes + 1]
        self.lists.check_runs(starts, ends)
        degrees = ends - starts
        many = degrees > (np.inf if fanout is None else fanout)
        few = ~many
        if not many.any():
            return nodes, degrees, ranges(starts, degrees)
        drawn = distinct_places(degrees[many], fanout, rng) + starts[many, None]
        return (
            np.concatenate([nodes[few], nodes[many]]),
            np.concatenate([degrees[few], np.full(len(drawn), fanout)]),
            np.concatenate([ranges(starts[few], degrees[few]), drawn.ravel()]),
        )


def make_sampled_batches(
    sampler: NeighborSampler,
    plan: BatchPlan,
    initial_epoch: int = 0,
    share: tuple[int, int] | None = None,
) -> "tf.data.Dataset":
    """Makes the `tf.data.Dataset` of `NodeDataset.sampled_batches`, each batch drawn from (seed, epoch, its number).

    Where an epoch has one batch only, a look at that one counts as an epoch, too: otherwise every epoch would have the
    same neighbours.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    inputs = {
        "x": tf.TensorSpec([None, sampler.x.shape[1]], tf.float32),
        "edges": tf.TensorSpec([None, 2], tf.int32),
        "nodes": tf.TensorSpec([None], tf.int32),
    }
    if sampler.lists.edge_weights is not None:
        inputs["edge_weights"] = tf.TensorSpec([None], tf.float32)
    signature = (inputs, tf.TensorSpec([None, *sampler.y.shape[1:]], sampler.y_dtype))
    if share is not None:
        signature += (tf.TensorSpec([None], tf.float32),)
    return epoch_dataset(sampled_batch_maker(sampler, plan, share), plan.num_batches, signature, initial_epoch)


def sampled_batch_maker(sampler: NeighborSampler, plan: BatchPlan, share: tuple[int, int] | None = None) -> Callable:
    """Returns the function of (epoch, step) that draws a batch; with a `share`, one worker's part and its weights.

    Seeds are dealt out in turn: drawn neighbours make them about equally large. Each worker draws with random numbers
    of its own.
    """
    share = as_share(share)

    def make_batch(epoch, step):
        seeds, key = plan.batch(epoch, step), [int(plan.seed), int(epoch), int(step)]
        if share is None:
            return sampler.sample(seeds, np.random.default_rng(key))
        index, count = share
        whole, part = np.asarray(sampler.y[seeds], sampler.y_dtype), np.arange(index, len(seeds), count)
        seeds = seeds[part if len(part) else [0]]
        inputs, y = sampler.sample(seeds, np.random.default_rng(key if count == 1 else [*key, index]))
        return inputs, y, np.full(len(seeds), share_weight(whole, part, count), np.float32)

    return make_batch


def as_fanout(fanout: int | Sequence[int | None] | None, hops: int) -> tuple[int | None, ...]:
    """Returns the fanout of each hop, None for all neighbours, from what the user wrote."""
    if fanout is None or np.ndim(fanout) == 0:
        fanout = [fanout] * positive_int(hops, "hops")
    if len(fanout) == 0:
        raise DataFormatError("fanout is empty: give a number of neighbours for each hop, for example [10, 5]")
    return tuple(None if f is None or f == -1 else positive_int(f, "fanout") for f in fanout)


def distinct_places(degrees: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draws `count` different numbers below each of `degrees`, all sets alike: [n, count].

    Floyd's algorithm for all nodes at once: the loop is over the places, and a hub costs no more than any other.
    """
    places = np.empty((count, len(degrees)), np.int64)
    for place in range(count):
        last = degrees - count + place
        # Below last + 1, as a product: three times as quick as rng.integers with a bound for each, as even to 2^-40.
        drawn = (rng.random(len(degrees)) * (last + 1)).astype(np.int64)
        places[place] = np.where((places[:place] == drawn).any(axis=0), last, drawn)
    return places.T


def sorted_edges(
    sources: np.ndarray, targets: np.ndarray, counts: np.ndarray, num_nodes: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Sorts edges by counting, in linear time.

    Args:
        sources: [E] node numbers, int32: `counts[0]` of them for `targets[0]`, and so on.
        targets: [T] different nodes.
        counts: [T].
        num_nodes: Number of nodes.
        weights: [E], or None.

    Returns:
        int32 [E, 2], sorted by (target, source), and the weights in that order.
    """
    entries = np.ones(len(sources), np.int8) if weights is None else weights
    splits = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    # A matrix from rows to columns and back: each way leaves what it goes through in order.
    by_source = csr_array((entries, sources, splits), shape=(len(targets), num_nodes)).tocsc()
    lists = by_source.data, np.take(targets, by_source.indices), by_source.indptr
    by_target = csr_array(lists, shape=(num_nodes, num_nodes)).tocsc()
    edges = aligned_empty((len(sources), 2), np.int32)
    edges[:, 0] = by_target.indices
    edges[:, 1] = np.repeat(np.arange(num_nodes, dtype=np.int32), np.diff(by_target.indptr))
    return edges, None if weights is None else by_target.data
