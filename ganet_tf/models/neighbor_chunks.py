"""The neighbour lists of a large graph in pieces, and attention of the nodes of one piece, in NumPy and SciPy.

The operators of `ops` work on whole graphs: every node asks and every node is asked. Here the nodes that ask are the
few of a piece, while those that are asked may be anywhere, so the matrices are [rows of the piece, N].
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

BLOCK = 2**14  # entries whose features are gathered at a time: a few megabytes, which stay in the cache


class Chunk(NamedTuple):
    """The neighbour lists of the nodes `start` to `stop` - 1: N(i), ascending, the node itself among them."""

    start: int
    stop: int
    columns: np.ndarray  # [M], the neighbours of all these nodes, list after list
    splits: np.ndarray  # [rows + 1], where each list begins and the last one ends
    weights: np.ndarray | None = None  # [M], a_ij of each entry, or None for ones

    @property
    def rows(self):
        """[M]: the list, counted from 0, that each entry is in."""
        return np.repeat(np.arange(self.stop - self.start), np.diff(self.splits))


class NeighborChunks:
    """The neighbour lists of a graph, handed out in chunks of consecutive nodes.

    Args:
        indptr: [N + 1]: where each list begins and the last one ends.
        indices: [E], the neighbours without the node itself: ascending in each list, each once. Both may be memory
            maps; a chunk reads its own part.
        entries: Entries of a chunk at most; a node with more has a chunk of its own.
        edge_weights: [E] or None; a node's own is 1.
        check: Function that raises unless it is given numbers of nodes, for lists that nobody has looked through.

    Attributes:
        degrees: [N], d̂_i: the size of N(i), or the sum of its weights.
        bounds: List of (start, stop), the nodes of each chunk.
    """

    def __init__(self, indptr, indices, entries, edge_weights=None, check=lambda nodes: None):
        self.num_nodes = len(indptr) - 1
        self._check = check
        self.indptr, self.indices, self.weights = indptr, indices, edge_weights
        self.bounds = _bounds(self.indptr, entries)
        if edge_weights is None:
            self.degrees = np.diff(indptr) + 1
        else:
            sums = [self._weight_sums(*bounds) for bounds in self.bounds]
            self.degrees = np.concatenate([np.zeros(0), *sums]) + 1

    @classmethod
    def from_edges(cls, edges, num_nodes, entries, edge_weights=None):
        """The same of edges [E, 2] in any order; the weights of one that is given several times are added."""
        edges, weights = canonical(np.asarray(edges), num_nodes, edge_weights)
        in_degrees = np.bincount(edges[:, 1], minlength=num_nodes)
        indptr = np.concatenate([[0], np.cumsum(in_degrees, dtype=np.int64)])
        return cls(indptr, edges[:, 0], entries, weights)

    def _weight_sums(self, start, stop):
        rows = np.repeat(np.arange(stop - start), np.diff(self.indptr[start : stop + 1]))
        return np.bincount(rows, self.weights[self.indptr[start] : self.indptr[stop]], minlength=stop - start)

    def chunk(self, start, stop):
        """The `Chunk` of the nodes `start` to `stop` - 1."""
        first = self.indptr[start]
        source = self.indices[first : self.indptr[stop]]
        self._check(source)
        row = np.repeat(np.arange(stop - start), np.diff(self.indptr[start : stop + 1]))
        after = source > row + start
        splits = self.indptr[start : stop + 1] - first + np.arange(stop - start + 1)
        before = np.bincount(row[~after], minlength=stop - start)
        columns = np.empty(splits[-1], np.int32)
        places = np.arange(len(source)) + row + after
        columns[places] = source
        columns[splits[:-1] + before] = np.arange(start, stop)
        if self.weights is None:
            return Chunk(start, stop, columns, splits)
        weights = np.ones(splits[-1], self.weights.dtype)
        weights[places] = self.weights[first : self.indptr[stop]]
        return Chunk(start, stop, columns, splits, weights)


def entry_scores(queries, keys, chunk):
    """q_i · k_j for each entry of a chunk: [M]. `queries` [rows, F] are the chunk's own, `keys` [N, F] everybody's."""
    scores, rows = np.empty(len(chunk.columns), keys.dtype), chunk.rows
    for start in range(0, len(scores), BLOCK):
        block = slice(start, start + BLOCK)
        left, right = np.take(queries, rows[block], axis=0), np.take(keys, chunk.columns[block], axis=0)
        np.einsum("ef,ef->e", left, right, out=scores[block])
    return scores


def largest(chunk, scores, k):
    """Which entries have the k largest `scores` [M] of their list, ties to the smaller node: places, ascending."""
    lengths = np.diff(chunk.splits)
    keep = np.repeat(lengths <= k, lengths)
    exponents = np.where(lengths > k, np.ceil(np.log2(lengths)), 0).astype(int)
    for exponent in np.unique(exponents[exponents > 0]):  # short rows sort faster than one long array
        rows = np.flatnonzero(exponents == exponent)
        column = np.arange(2**exponent)
        places = chunk.splits[rows, None] + column
        inside = column < lengths[rows, None]
        # NaN sorts behind everything, and a stable sort leaves equal scores in order of the node.
        table = np.where(inside, -scores[np.where(inside, places, 0)], np.nan)
        best = np.argsort(table, axis=1, kind="stable")[:, :k]
        keep[np.take_along_axis(places, best, axis=1)] = True
    return np.flatnonzero(keep)


def narrowed(chunk, places):
    """The chunk with only the entries at some places, ascending; each list keeps one at least."""
    weights = None if chunk.weights is None else chunk.weights[places]
    return Chunk(chunk.start, chunk.stop, chunk.columns[places], np.searchsorted(places, chunk.splits), weights)


def softmax(scores, chunk):
    """The softmax of `scores` [M] over each list."""
    lengths, starts = np.diff(chunk.splits), chunk.splits[:-1]
    weights = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
    return weights / np.repeat(np.add.reduceat(weights, starts), lengths)


def weighted_sum(weights, values, chunk):
    """Σ_j w_ij v_j over each list: [rows, U] from `weights` [M] and everybody's `values` [N, U]."""
    shape = (chunk.stop - chunk.start, len(values))
    return csr_array((weights, chunk.columns, chunk.splits), shape=shape) @ values


def canonical(edges, num_nodes, weights=None):
    """`edges` sorted by (target, source), each once, without self-loops; the same array where it is so already.

    With them `weights`, or None: those of a repeated edge are added.
    """
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"`edges` must have shape [edges, 2], a row = (source, target), but has {edges.shape}.")
    weights = None if weights is None else np.asarray(weights)
    if weights is not None and weights.shape != edges.shape[:1]:
        raise ValueError(
            f"`edge_weights` must have shape ({len(edges)},), as many as `edges`, but has {weights.shape}."
        )
    if len(edges) == 0:
        return np.zeros((0, 2), np.int32), weights
    if edges.min() < 0 or edges.max() >= num_nodes:
        raise ValueError(
            f"`edges` names the nodes {edges.min()} to {edges.max()}, but `x` has {num_nodes} nodes: "
            f"node numbers must be 0 to {num_nodes - 1}."
        )
    key = edges[:, 1].astype(np.int64) * num_nodes + edges[:, 0]
    if (key[1:] > key[:-1]).all() and (edges[:, 0] != edges[:, 1]).all():
        return edges, weights
    other = edges[:, 0] != edges[:, 1]
    key, place = np.unique(key[other], return_inverse=True)
    if weights is not None:
        weights = np.bincount(place, weights[other], len(key)).astype(weights.dtype)
    return np.stack([key % num_nodes, key // num_nodes], axis=1).astype(np.int32), weights


def _bounds(indptr, entries):
    """Cuts the nodes into runs of at most so many entries, each node's own included."""
    cuts, nodes = [0], len(indptr) - 1
    while cuts[-1] < nodes:
        start = cuts[-1]
        limit = indptr[start] + entries
        window = indptr[start : start + entries + 1]  # no run has more nodes than entries
        stop = start + int(np.searchsorted(window + np.arange(len(window)), limit, side="right")) - 1
        cuts.append(max(stop, start + 1))
    return list(itertools.pairwise(cuts))
