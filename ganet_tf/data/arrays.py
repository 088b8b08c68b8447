"""Bringing millions of edges into order in linear time."""

import numpy as np
from scipy.sparse import coo_array

from ganet_tf.errors import DataFormatError


def sort_edges(columns, num_nodes):
    """Sorts edges by (target, source), without self-loops and repetitions.

    A sparse matrix in compressed rows is just that: scipy sorts by counting, in linear time and little memory.

    Args:
        columns: List of the two arrays source and target, int32 [E]. It is emptied, so that they can be freed.
        num_nodes: Number of nodes.

    Returns:
        (sources, degrees): the sources of all edges, target after target, and how many edges each target has.
    """
    target, source = columns.pop(), columns.pop()
    keep = source != target
    if not keep.all():
        source, target = source[keep], target[keep]
    del keep
    matrix = coo_array((np.ones(len(source), np.int8), (target, source)), shape=(num_nodes, num_nodes))
    del source, target
    matrix = matrix.tocsr()  # sums up repetitions
    matrix.sort_indices()
    return matrix.indices.astype(np.int32, copy=False), np.diff(matrix.indptr).astype(np.int32)


def local_edges(sources, degrees, node_offsets, name="edges"):
    """Numbers the nodes of sorted edges within each graph.

    Args:
        sources, degrees: From `sort_edges`.
        node_offsets: int64 [G + 1].
        name: Where the edges come from, for messages.

    Returns:
        (edges, edge_offsets): int32 [E, 2] and int64 [G + 1].

    Raises:
        DataFormatError: If an edge joins nodes of different graphs.
    """
    sizes = np.diff(node_offsets)
    edge_ends = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    edge_offsets = edge_ends[node_offsets]
    edges = np.empty((len(sources), 2), np.int32)
    first_nodes = node_offsets[:-1].astype(np.int32)
    np.subtract(sources, np.repeat(first_nodes, np.diff(edge_offsets)), out=edges[:, 0])
    local = np.arange(len(degrees), dtype=np.int32) - np.repeat(first_nodes, sizes)
    edges[:, 1] = np.repeat(local, degrees)
    outside = edges[:, 0] >= np.repeat(sizes.astype(np.int32), np.diff(edge_offsets))
    outside |= edges[:, 0] < 0
    if outside.any():
        edge = int(outside.argmax())
        target = int(np.searchsorted(edge_ends, edge, side="right"))
        raise DataFormatError(f"{name} joins node {sources[edge] + 1} and node {target}, which are in different graphs")
    return edges, edge_offsets
