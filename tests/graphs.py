"""Graphs for the tests: drawn by hypothesis, and the special cases that everything has to get right."""

from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Derandomised: a failure is the same for everybody; no database: nothing is left in the tree.
modest = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


class GraphBatch(NamedTuple):
    """Some graphs side by side, as the layers take them."""

    x: np.ndarray
    edges: np.ndarray
    graph_ids: np.ndarray

    @property
    def num_nodes(self):
        return len(self.x)


def batch(edge_lists, sizes, num_features=3, seed=0, x=None):
    """A batch of graphs with the given local edges and sizes; random features if none are given."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    edges = [np.reshape(np.asarray(e, dtype="int32"), (-1, 2)) + o for e, o in zip(edge_lists, offsets, strict=False)]
    if x is None:
        x = np.random.default_rng(seed).normal(size=(offsets[-1], num_features))
    return GraphBatch(x, np.concatenate(edges).astype("int32"), np.repeat(np.arange(len(sizes)), sizes).astype("int32"))


@st.composite
def graph_batches(draw, num_features=3):
    """One to three directed graphs of one to six nodes, from no edges at all to all of them."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    density = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    edge_lists = []
    for size in sizes:
        chosen = rng.random((size, size)) < density
        np.fill_diagonal(chosen, False)
        edge_lists.append(rng.permutation(np.argwhere(chosen)))
    return batch(edge_lists, sizes, num_features, seed)


def both_ways(pairs):
    """Undirected edges as rows in both directions."""
    pairs = np.reshape(np.asarray(pairs, dtype="int32"), (-1, 2))
    return np.concatenate([pairs, pairs[:, ::-1]])


def hub(degree=1000, num_features=3):
    """A star: node 0 has `degree` neighbours, each of them one."""
    spokes = np.stack([np.zeros(degree, dtype="int32"), np.arange(1, degree + 1, dtype="int32")], axis=1)
    return batch([both_ways(spokes)], [degree + 1], num_features)


SPECIAL = {
    "one_node": batch([[]], [1]),
    "no_edges": batch([[]], [4]),
    "isolated_node_between": batch([both_ways([[0, 2]])], [3]),
    "directed_cycle": batch([[[0, 1], [1, 2], [2, 0]]], [3]),
    "complete": batch([np.argwhere(~np.eye(6, dtype=bool))], [6]),
    "several_graphs": batch([both_ways([[0, 1], [1, 2]]), [], both_ways([[0, 3], [1, 3], [2, 3]])], [3, 1, 5]),
    "hub": hub(),
}


def neighbors(node, edges):
    """N(i) in ascending order: the sources of i's edges, and i itself."""
    return sorted({*edges[edges[:, 1] == node, 0].tolist(), int(node)})


def permuted(graphs, seed=0):
    """The same graphs with the nodes of each in another order; also that order (new row -> old row)."""
    rng = np.random.default_rng(seed)
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(graphs.graph_ids == g)) for g in np.unique(graphs.graph_ids)]
    )
    place = np.argsort(order)
    return GraphBatch(graphs.x[order], place[graphs.edges].astype("int32"), graphs.graph_ids), order


def joined(first, second):
    """Two batches as one."""
    return GraphBatch(
        np.concatenate([first.x, second.x]),
        np.concatenate([first.edges, second.edges + first.num_nodes]).astype("int32"),
        np.concatenate([first.graph_ids, second.graph_ids + first.graph_ids[-1] + 1]).astype("int32"),
    )
