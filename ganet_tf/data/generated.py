"""Data sets that are made on the spot: they need no network and no file."""

import networkx as nx
import numpy as np

from ganet_tf.data.graph import Graph
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.node_dataset import NodeDataset
from ganet_tf.data.targets import MISSING

HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]  # a square with a roof
CYCLE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
SHARES = (0.6, 0.2)  # of the graphs of PATTERN, CLUSTER and Dictionary: for training and for validation


def ba2motifs(num_graphs: int = 1000, seed: int = 0, channels: int = 10) -> GraphDataset:
    """BA2Motifs: is there a house or a five-cycle in the graph?

    Each graph is a Barabási-Albert tree of 20 nodes with one of the two motifs attached by an edge, 25 nodes in all,
    as in Luo et al., Parameterized explainer for graph neural networks (2020). Half of the graphs have the house
    (class 0), half the cycle (class 1).

    Args:
        num_graphs: Number of graphs.
        seed: Decides the graphs.
        channels: Number of node features, constant 0.1 as in the original: the structure has to tell.
    """
    rng = np.random.default_rng(seed)
    graphs = [_with_motif(index % 2, rng, channels) for index in range(num_graphs)]
    return GraphDataset.from_graphs(graphs, name="BA2Motifs", num_classes=2)


def _with_motif(y, rng, channels):
    base = nx.barabasi_albert_graph(20, 1, seed=int(rng.integers(2**31)))
    motif = np.array(CYCLE if y else HOUSE) + 20
    bridge = [(int(rng.integers(20)), 20 + int(rng.integers(5)))]
    edges = np.concatenate([np.array(base.edges), motif, bridge])
    x = np.full((25, channels), 0.1, np.float32)
    return Graph(x, np.concatenate([edges, edges[:, ::-1]]), y)


def karate(seed: int = 0, per_class: int = 4) -> NodeDataset:
    """Karate: which side did each of the 34 members of Zachary's club take?

    The features are the identity matrix: a node is known by its place alone. Training nodes: `per_class` of each
    side; validation: as many; the others are for testing.
    """
    graph = nx.karate_club_graph()
    y = np.array([int(graph.nodes[node]["club"] == "Officer") for node in graph])
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.flatnonzero(y == side)) for side in (0, 1)]
    train = np.concatenate([nodes[:per_class] for nodes in members])
    val = np.concatenate([nodes[per_class : 2 * per_class] for nodes in members])
    test = np.concatenate([nodes[2 * per_class :] for nodes in members])
    edges = np.array(graph.edges)
    return NodeDataset(np.concatenate([edges, edges[:, ::-1]]), np.eye(len(y)), y, train, val, test, name="Karate")


def experts(seed: int = 0, degree: int = 60) -> NodeDataset:
    """Experts: few neighbours know a node's class, and a mark in their features tells who they are.

    1,000 ordinary nodes of 4 classes and 200 experts. An ordinary node is joined to 3 experts, each of its own class
    with probability 0.9, and to about `degree` ordinary nodes at random. Features have 16 channels, turned by a random
    rotation: a one-hot apparent class, which is the true one for experts and random for ordinary nodes, with noise of
    standard deviation 0.3, and a mark, 1 for experts, with noise of 0.2, as the other 11 have. 150 ordinary nodes
    are for training, 200 for validation, 650 for testing.

    Args:
        seed: Decides the graph, the features and the split.
        degree: Mean number of ordinary neighbours of an ordinary node.
    """
    ordinary, known, classes, channels = 1000, 200, 4, 16
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.integers(classes, size=ordinary), np.arange(known) % classes])
    asked = [_experts_of(y[node], y[ordinary:], rng) for node in range(ordinary)]
    to_experts = np.stack([np.repeat(np.arange(ordinary), 3), ordinary + np.concatenate(asked)], axis=1)
    edges = np.concatenate([to_experts, _random_pairs(ordinary, ordinary * degree // 2, rng)])
    x = np.zeros((ordinary + known, channels))
    x[np.arange(len(y)), np.where(np.arange(len(y)) < ordinary, rng.integers(classes, size=len(y)), y)] = 1
    x[ordinary:, classes] = 1
    x += rng.normal(size=x.shape) * np.where(np.arange(channels) < classes, 0.3, 0.2)
    rotation, _ = np.linalg.qr(rng.normal(size=(channels, channels)))
    masks = np.split(rng.permutation(ordinary), [150, 350])
    return NodeDataset(
        np.concatenate([edges, edges[:, ::-1]]), x @ rotation, y, *masks, name="Experts", num_classes=classes
    )


def _experts_of(y, classes, rng):
    """Three different experts, each of the class y with probability 0.9."""
    own, others = np.flatnonzero(classes == y), np.flatnonzero(classes != y)
    right = int(rng.binomial(3, 0.9))
    return np.concatenate([rng.choice(own, right, replace=False), rng.choice(others, 3 - right, replace=False)])


def _random_pairs(nodes, count, rng):
    """`count` different pairs i < j of nodes."""
    first, second = np.triu_indices(nodes, 1)
    chosen = rng.choice(len(first), min(count, len(first)), replace=False)
    return np.stack([first[chosen], second[chosen]], axis=1)


def dictionary(seed: int = 0, size: int = 16, num_graphs: int = 200) -> NodeDataset:
    """Dictionary: a look-up, in which the right neighbour depends on who asks.

    The problem of Brody et al., How attentive are graph attention networks? (2022): in each of many graphs `size`
    nodes have a key and a value, `size` others have a key and ask for its value, and there is an edge from each of the
    former to each of the latter. Which key has which value is a random permutation in each graph. An operator that
    ranks neighbours without a look at who asks, as hGAO does, gives all of them the same k answers.

    Args:
        seed: Decides the permutations.
        size: Keys of a graph.
        num_graphs: How many graphs; 60 % are for training, 20 % for validation.
    """
    rng = np.random.default_rng(seed)
    keys, values = np.eye(size), np.eye(size + 1)  # the last value is none
    asking = np.concatenate([keys, np.tile(values[-1], (size, 1))], axis=1)
    pairs = np.stack(np.meshgrid(np.arange(size) + size, np.arange(size), indexing="ij"), axis=-1).reshape(-1, 2)
    parts = []
    for _ in range(num_graphs):
        value = rng.permutation(size)
        x = np.concatenate([asking, np.concatenate([keys, values[value]], axis=1)])
        parts.append((pairs, x, np.concatenate([value, np.full(size, MISSING)])))
    return _union(parts, "Dictionary", size)


def pattern(seed: int = 0, size: int = 50) -> NodeDataset:
    """PATTERN: which nodes of a community graph belong to a planted one?

    The procedure of Dwivedi et al., Benchmarking graph neural networks (2020), in fewer graphs: five communities of 5
    to 34 nodes, joined with probability 0.5 within and 0.35 between; a planted graph of 20 nodes, joined with 0.5
    within and 0.5 to the others; features are random numbers below 3, one-hot. Five graphs, one of them for validation
    and one for testing, share the planted graph and its features. Their metric is the mean accuracy over both classes.

    Args:
        seed: Decides the graphs.
        size: Number of graphs, theirs is 14,000.
    """
    rng = np.random.default_rng(seed)
    parts, planted = [], None
    for number in range(size):
        if number % 5 == 0:
            planted = _random_graph(np.full((20, 20), 0.5), rng), rng.integers(3, size=20)
        parts.append(_with_pattern(*planted, rng))
    order = np.argsort(np.arange(size) % 5, kind="stable")  # the fourth of each five validates, the fifth tests
    return _union([parts[i] for i in order], "PATTERN", 2)


def _with_pattern(planted, signal, rng):
    """A graph of five communities with one more planted into it: (edges, x, y)."""
    communities = _communities(5, rng)
    matrix = _random_graph(np.where(communities[:, None] == communities, 0.5, 0.35), rng)
    across = rng.random((len(planted), len(matrix))) < 0.5
    matrix = np.block([[matrix, across.T], [across, planted]])
    signal = np.concatenate([rng.integers(3, size=len(communities)), signal])
    y = np.repeat([0, 1], [len(communities), len(planted)])
    return np.argwhere(matrix), np.eye(3)[signal], y


def cluster(seed: int = 0, size: int = 50) -> NodeDataset:
    """CLUSTER: which of six communities is a node in, if one node of each is named?

    The procedure of Dwivedi et al., Benchmarking graph neural networks (2020), in fewer graphs: six communities of 5
    to 34 nodes, joined with probability 0.55 within and 0.25 between. A node's feature is 0, or the number, from 1, of
    its community, which one node of each has; it is one-hot here.

    Args:
        seed: Decides the graphs.
        size: Number of graphs, theirs is 12,000; 60 % are for training, 20 % for validation.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(size):
        y = _communities(6, rng)
        signal = np.zeros(len(y), int)
        signal[[rng.choice(np.flatnonzero(y == community)) for community in range(6)]] = np.arange(1, 7)
        matrix = _random_graph(np.where(y[:, None] == y, 0.55, 0.25), rng)
        parts.append((np.argwhere(matrix), np.eye(7)[signal], y))
    return _union(parts, "CLUSTER", 6)


def _communities(count, rng):
    """The community of each node."""
    return np.repeat(np.arange(count), rng.integers(5, 35, size=count))


def _random_graph(probabilities, rng):
    """A symmetric boolean matrix without loops."""
    upper = np.triu(rng.random(probabilities.shape) < probabilities, 1)
    return upper | upper.T


def _union(parts, name, num_classes):
    """Graphs (edges, x, y) as one data set; the first ones train, then come validation and testing."""
    sizes = np.array([len(x) for _, x, _ in parts])
    starts = np.cumsum(sizes) - sizes
    edges = np.concatenate([edges + start for (edges, _, _), start in zip(parts, starts, strict=True)])
    x, y = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
    graph_ids = np.repeat(np.arange(len(parts)), sizes)
    bounds = np.round(np.cumsum(SHARES) * len(parts))
    split = np.searchsorted(bounds, graph_ids, side="right")
    masks = [(split == number) & (y != MISSING) for number in range(3)]
    return NodeDataset(edges, x, y, *masks, name=name, num_classes=num_classes, graph_ids=graph_ids)


GENERATED = {
    "BA2Motifs": ba2motifs,
    "Karate": karate,
    "Experts": experts,
    "Dictionary": dictionary,
    "PATTERN": pattern,
    "CLUSTER": cluster,
}
# Of which each run of an experiment takes another sample; the others are the same graphs for all.
RESAMPLED = ("Experts", "Dictionary", "PATTERN", "CLUSTER")
