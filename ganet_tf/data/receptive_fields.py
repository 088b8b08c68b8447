"""PSCN's receptive fields: a fixed number of small ordered neighbourhoods of each graph, made once for a data set."""

import hashlib

import numpy as np
from scipy.sparse import csr_matrix

from ganet_tf.data.cache import cache_folder, cache_path, load_arrays, save_arrays

VERSION = 1  # raise it when fields change their meaning
WL_ROUNDS = 16  # with 6, the order of one graph of MUTAG still depended on its numbers
GOLDEN_RATIO = 0.6180339887
GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the same ratio of 2⁶⁴
NODES_AT_ONCE = 16384
CELLS_AT_ONCE = 4_000_000  # nodes x sources of shortest paths


def receptive_fields(dataset, width, size=10, cache=True):
    """The fields of each graph, as PATCHY-SAN (Niepert et al. 2016) chooses and orders them.

    The nodes of a graph are put in order by (betweenness, label, Weisfeiler-Lehman hash), the largest betweenness
    first. The first `width` of them are roots; the field of a root are the `size` nodes nearest to it, those at the
    same distance in that order. The label is the node's row of features. The order does not depend on the numbers of
    the nodes as far as betweenness, label and hash tell nodes apart; nodes that they do not tell apart have equal
    features, so that a network on these fields sees the same. The original breaks such ties with nauty.

    Args:
        dataset: A `GraphDataset`.
        width: Number of roots of each graph; PSCN takes the mean number of nodes, `pscn_width(dataset)`.
        size: Number of nodes of a field.
        cache: Whether to keep the result in the cache, and to take it from there.

    Returns:
        int32 [graphs, width * size] node numbers within each graph, -1 where there is none.

    Example:
    ```python
    fields = receptive_fields(ds, width=pscn_width(ds))
    ```
    """
    file = cache_path(cache_folder(), f"{_plain(dataset.name)}-fields", _key(dataset, width, size)) if cache else None
    found = load_arrays(file) if cache else None
    if found is not None:
        return found[0]["fields"]
    fields = np.full((len(dataset), width, size), -1, np.int32)
    for graphs in _parts(dataset.sizes):
        fields[graphs] = _fields(dataset[graphs].arrays(), dataset.sizes[graphs], width, size)
    fields = fields.reshape(len(dataset), width * size)
    if cache:
        save_arrays(file, {"fields": fields})
    return fields


def pscn_width(dataset):
    """PSCN's number of roots: the mean number of nodes, rounded."""
    return max(1, round(float(dataset.sizes.mean())))


def _plain(name):
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _key(dataset, width, size):
    """A digest of all that the fields depend on."""
    digest = hashlib.sha256(f"{VERSION} {WL_ROUNDS} {width} {size} {len(dataset)}".encode())
    for graphs in _parts(dataset.sizes):
        for array in dataset[graphs].arrays().values():
            digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


def _parts(sizes):
    """Graph numbers in parts of like size, each of a bounded number of nodes."""
    order = np.argsort(sizes, kind="stable")
    part = (np.cumsum(sizes[order]) - 1) // NODES_AT_ONCE
    return np.split(order, np.flatnonzero(np.diff(part)) + 1)


def _fields(arrays, sizes, width, size):
    """The fields [graphs, width, size] of some graphs, as `GraphDataset.arrays` gives them."""
    edges, graph_ids = arrays["edges"], arrays["graph_ids"]
    first = np.cumsum(sizes) - sizes
    labels = row_hashes(arrays["x"])
    # Rounded, because sums in another order differ in the last bits. The borders between two numbers are where no sum
    # of fractions is: the golden ratio is the farthest from all of them.
    centrality = np.floor(betweenness(edges, sizes) * 1e6 + GOLDEN_RATIO)
    hashes = weisfeiler_lehman(labels, edges, WL_ROUNDS)
    order = np.lexsort((hashes, labels, -centrality, graph_ids))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    place = np.arange(len(order)) - first[graph_ids[order]]
    roots = order[place < width]
    fields = np.full((len(sizes), width, size), -1, np.int32)
    nearest = _nearest(roots, edges, ranks, size)
    offset = np.where(nearest < 0, 0, first[graph_ids[roots]][:, None])
    fields[graph_ids[roots], place[place < width]] = nearest - offset
    return fields


def _nearest(roots, edges, ranks, size):
    """The `size` nodes nearest to each root, by (distance, rank): [roots, size], -1 where there are fewer."""
    num_nodes = len(ranks)
    degrees = np.bincount(edges[:, 1], minlength=num_nodes)  # edges are sorted by target
    starts = np.cumsum(degrees) - degrees
    owner, node = np.arange(len(roots)), roots.astype(np.int64)
    seen, distance, found = owner * num_nodes + node, 0, []
    counts = np.zeros(len(roots), np.int64)
    while len(node):
        found.append((owner, np.full(len(node), distance), node))
        counts += np.bincount(owner, minlength=len(roots))
        short = counts[owner] < size  # whole levels, until there are enough
        owner, node = owner[short], node[short]
        times = degrees[node]
        step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        keys = np.unique(np.repeat(owner, times) * num_nodes + edges[np.repeat(starts[node], times) + step, 0])
        keys = np.setdiff1d(keys, seen, assume_unique=True)
        seen, distance = np.concatenate([seen, keys]), distance + 1
        owner, node = keys // num_nodes, keys % num_nodes
    owner, distances, node = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((ranks[node], distances, owner))
    owner, node = owner[order], node[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    nearest = np.full((len(roots), size), -1, np.int64)
    nearest[owner[place < size], place[place < size]] = node[place < size]
    return nearest


def betweenness(edges, sizes):
    """How many shortest paths between two others go through each node, ways of equal length sharing: float [N].

    Brandes' algorithm, level by level, from one node of every graph at a time.

    Args:
        edges: [E, 2] pairs (source, target); numbers run through all graphs.
        sizes: Number of nodes of each graph.
    """
    num_nodes = int(np.sum(sizes))
    forward = csr_matrix((np.ones(len(edges)), (edges[:, 1], edges[:, 0])), shape=(num_nodes, num_nodes))
    backward = forward.T.tocsr()
    first, result = np.cumsum(sizes) - sizes, np.zeros(num_nodes)
    columns = max(1, CELLS_AT_ONCE // num_nodes)
    for start in range(0, int(np.max(sizes)), columns):
        # Column s has, as its source, node s of each graph that has one: graphs do not meet.
        source = [first[sizes > s] + s for s in range(start, min(start + columns, int(np.max(sizes))))]
        column = np.repeat(np.arange(len(source)), [len(nodes) for nodes in source])
        result += _dependencies(forward, backward, np.concatenate(source), column, len(source))
    return result


def _dependencies(forward, backward, source, column, num_columns):
    """Brandes' dependencies of the sources, summed over the columns: [N]."""
    shape = (forward.shape[0], num_columns)
    depth, ways, dependency = np.full(shape, -1, np.int32), np.zeros(shape), np.zeros(shape)
    levels, rows, values = [], source, np.ones(len(source))
    while len(rows):
        depth[rows, column], ways[rows, column] = len(levels), values
        levels.append((rows, column))
        reached = (forward @ csr_matrix((values, (rows, column)), shape=shape)).tocoo()
        new = depth[reached.row, reached.col] < 0
        rows, column, values = reached.row[new], reached.col[new], reached.data[new]
    for level in range(len(levels) - 1, 1, -1):
        places = levels[level]
        share = csr_matrix(((1 + dependency[places]) / ways[places], places), shape=shape)
        reached = (backward @ share).tocoo()
        before = depth[reached.row, reached.col] == level - 1
        places = reached.row[before], reached.col[before]
        dependency[places] = ways[places] * reached.data[before]
    return dependency.sum(axis=1)


def weisfeiler_lehman(labels, edges, rounds):
    """A hash of each node's surroundings up to `rounds` hops, the same in every graph and process: uint64 [N]."""
    hashes = _mixed(labels)
    splits = np.searchsorted(edges[:, 1], np.arange(len(labels) + 1))  # edges are sorted by target
    for _ in range(rounds):
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_mixed(hashes)[edges[:, 0]], dtype=np.uint64)])
        hashes = _mixed(hashes * GAMMA + (sums[splits[1:]] - sums[splits[:-1]]))
    return hashes


def row_hashes(x):
    """A hash of each row of features, equal for equal rows: uint64 [N]."""
    hashes = np.zeros(len(x), np.uint64)
    for channel in range(x.shape[1]):
        bits = (x[:, channel] + np.float32(0)).view(np.uint32)  # -0 and 0 are equal
        hashes = _mixed(hashes + bits.astype(np.uint64))
    return hashes


def _mixed(values):
    """The mixing of SplitMix64 (Steele et al. 2014)."""
    values = values + GAMMA
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
