"""Mini-batches of one large graph: some nodes, and of their surroundings no more than is drawn."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ganet_tf.data.arrays import aligned_empty, ranges
from ganet_tf.data.batching import BatchPlan, epoch_dataset, positive_int
from ganet_tf.errors import DataFormatError

if TYPE_CHECKING:
    import tensorflow as tf


class NeighborSampler:
    """Draws the surroundings of nodes, hop by hop, from neighbour lists in compressed rows.

    A node that turns up for the first time in hop h - 1 (the seeds are hop 0) gets up to `fanout[h]` of its
    neighbours, drawn without replacement; nodes of the last hop get none. Everything is array arithmetic over all
    nodes of a hop, and costs time in proportion to what is drawn, whatever the degrees are.

    Args:
        x: Node features [N, F].
        edges: [E, 2] of (source, target), sorted by (target, source), unique, without self-loops.
        y: Classes [N].
        fanout: One number for each hop; None takes all neighbours.
        edge_weights: Weights of the edges [E], or None.
    """

    def __init__(
        self,
        x: np.ndarray,
        edges: np.ndarray,
        y: np.ndarray,
        fanout: Sequence[int | None],
        edge_weights: np.ndarray | None = None,
    ):
        self.x, self.y, self.fanout, self.edge_weights = x, y, tuple(fanout), edge_weights
        degrees = np.bincount(edges[:, 1], minlength=x.shape[0])
        self.row_splits = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        self.sources = np.ascontiguousarray(edges[:, 0])
        # Ascending, so that the weight of any edge is found by bisection.
        self._keys = None if edge_weights is None else edge_keys(edges, x.shape[0])

    def sample(self, seeds: np.ndarray, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Draws a sub-graph around some nodes.

        Nodes keep their order, so that ties in hGAO's ranking go the same way as in the whole graph.

        Args:
            seeds: Node numbers, each once.
            rng: `numpy.random.Generator`.

        Returns:
            `({"x", "edges", "nodes"}, y)`: the sub-graph with numbers of its own, sorted edges, the seeds' numbers in
            it and their classes.
        """
        local = np.full(self.x.shape[0], -1, np.int32)
        nodes, targets, sources = self._draw(np.asarray(seeds), rng, local)
        nodes.sort()
        local[nodes] = np.arange(len(nodes), dtype=np.int32)
        edges = sorted_edges(local[sources], local[targets])
        batch = {"x": self._features(nodes), "edges": edges, "nodes": local[seeds]}
        if self.edge_weights is not None:
            places = np.searchsorted(self._keys, edge_keys(nodes[edges], self.x.shape[0]))
            batch["edge_weights"] = self.edge_weights[places]
        return batch, self.y[seeds]

    def _features(self, nodes):
        if hasattr(self.x, "toarray"):
            return self.x[nodes].toarray()
        x = aligned_empty((len(nodes), self.x.shape[1]), np.float32)
        return np.take(self.x, nodes, axis=0, out=x, mode="clip")

    def _draw(self, seeds, rng, marks):
        """Returns the nodes of the sample, and targets and sources of its edges. `marks`: -1 for each node."""
        marks[seeds] = 0
        hops, all_targets, all_sources = [seeds], [], []
        for fanout in self.fanout:
            targets, sources = self.draw_neighbors(hops[-1], fanout, rng)
            new = sources[marks[sources] < 0]
            # Each new node once: of its places the last one stays in `marks`. Three times faster than np.unique.
            marks[new] = np.arange(len(new), dtype=np.int32)
            hops.append(new[marks[new] == np.arange(len(new))])
            all_targets.append(targets)
            all_sources.append(sources)
        return np.concatenate(hops), np.concatenate(all_targets), np.concatenate(all_sources)

    def draw_neighbors(
        self, nodes: np.ndarray, fanout: int | None, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draws up to `fanout` neighbours of each of `nodes`; returns targets and sources of these edges."""
        starts = self.row_splits[nodes]
        degrees = self.row_splits[nodes + 1] - starts
        many = degrees > (np.inf if fanout is None else fanout)
        few = ~many
        targets, places = [np.repeat(nodes[few], degrees[few])], [ranges(starts[few], degrees[few])]
        if many.any():
            drawn = distinct_places(degrees[many], fanout, rng) + starts[many, None]
            targets.append(np.repeat(nodes[many], fanout))
            places.append(drawn.ravel())
        return np.concatenate(targets), self.sources[np.concatenate(places)]


def make_sampled_batches(
    sampler: NeighborSampler,
    seeds: np.ndarray,
    batch_size: int,
    shuffle: bool = False,
    seed: int = 0,
    drop_remainder: bool = False,
    initial_epoch: int = 0,
) -> "tf.data.Dataset":
    """Makes the `tf.data.Dataset` of `NodeDataset.sampled_batches`, each batch drawn from (seed, epoch, its number).

    Where an epoch has one batch only, a look at that one counts as an epoch, too: otherwise every epoch would have the
    same neighbours.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    plan = BatchPlan(seeds, batch_size, shuffle, seed, drop_remainder)
    inputs = {
        "x": tf.TensorSpec([None, sampler.x.shape[1]], tf.float32),
        "edges": tf.TensorSpec([None, 2], tf.int32),
        "nodes": tf.TensorSpec([None], tf.int32),
    }
    if sampler.edge_weights is not None:
        inputs["edge_weights"] = tf.TensorSpec([None], tf.float32)
    signature = (inputs, tf.TensorSpec([None, *sampler.y.shape[1:]], sampler.y.dtype))

    order = functools.lru_cache(maxsize=2)(plan.order)

    def make_batch(epoch, step):
        seeds = order(epoch)[step * plan.batch_size : (step + 1) * plan.batch_size]
        return sampler.sample(seeds, np.random.default_rng([int(plan.seed), epoch, step]))

    return epoch_dataset(make_batch, plan.num_batches, signature, initial_epoch)


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
        drawn = rng.integers(0, last, endpoint=True)
        places[place] = np.where((places[:place] == drawn).any(axis=0), last, drawn)
    return places.T


def edge_keys(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """One number for each edge (source, target); they ascend with (target, source)."""
    return edges[:, 1].astype(np.int64) * num_nodes + edges[:, 0]


def sorted_edges(sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Returns int32 [E, 2], sorted by (target, source)."""
    key = (targets.astype(np.int64) << 32) | sources
    key.sort()
    edges = aligned_empty((len(key), 2), np.int32)
    edges[:, 0] = key & 0xFFFFFFFF
    edges[:, 1] = key >> 32
    return edges
