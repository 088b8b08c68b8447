"""Data sets that are made on the spot: they need no network and no file."""

import networkx as nx
import numpy as np

from ganet_tf.data.graph import Graph
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.node_dataset import NodeDataset

HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]  # a square with a roof
CYCLE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


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
