"""Which graphs, and which nodes in them, are worth drawing: those where the hard selection leaves somebody out."""

from typing import NamedTuple

import numpy as np

PANELS = 4
QUERIES = 2  # nodes of one graph whose choice is drawn
FEWEST, MOST = 6, 40  # nodes in a drawing


class Panel(NamedTuple):
    """One drawing.

    Attributes:
        title: what it shows.
        nodes: [n] node numbers of the batch, ascending.
        queries: those nodes whose choice is drawn.
    """

    title: str
    nodes: np.ndarray
    queries: list


def pick_panels(candidates, k, graph_ids=None):
    """Up to four drawings of a batch: whole graphs, or where all nodes are one graph, neighbourhoods of a node.

    Args:
        candidates: the batch's `Candidates`.
        k: how many a node keeps.
        graph_ids: [N], the graph of each node, or None for one graph.
    """
    return _neighborhoods(candidates, k) if graph_ids is None else _graphs(candidates, k, np.asarray(graph_ids))


def _graphs(candidates, k, graph_ids):
    """Graphs of a size that can be drawn: first those with an active node, the sparsest first."""
    sizes = np.bincount(graph_ids)
    active = np.bincount(graph_ids, candidates.sizes > k)
    entries = np.bincount(graph_ids, candidates.sizes)
    fitting = np.flatnonzero((sizes >= FEWEST) & (sizes <= MOST))
    ranked = sorted(fitting, key=lambda graph: (active[graph] == 0, entries[graph] / sizes[graph] ** 2, graph))
    panels = []
    for graph in ranked[:PANELS]:
        nodes = np.flatnonzero(graph_ids == graph)
        queries = _queries(candidates, nodes)
        panels.append(Panel(f"test graph {graph + 1}, {len(nodes)} nodes", nodes, queries))
    return panels


def _queries(candidates, nodes):
    """The node with the most candidates, and then with the most among those that are no candidates of the first."""
    left, queries = nodes, []
    while len(left) and len(queries) < QUERIES:
        queries.append(int(left[np.argmax(candidates.sizes[left])]))
        left = np.setdiff1d(left, candidates_of_node(candidates, queries[-1]))
    return queries


def _neighborhoods(candidates, k):
    """Nodes with more than k candidates (or, without any, with the most), spread evenly over the graph."""
    fitting = np.flatnonzero((candidates.sizes > k) & (candidates.sizes <= MOST))
    if not len(fitting):
        fitting = np.sort(np.argsort(-candidates.sizes, kind="stable")[:PANELS])
    chosen = fitting[np.linspace(0, len(fitting) - 1, min(PANELS, len(fitting))).astype(int)]
    return [
        Panel(f"node {node}, {candidates.sizes[node]} candidates", candidates_of_node(candidates, node), [int(node)])
        for node in chosen
    ]


def candidates_of_node(candidates, node):
    """Node numbers, ascending, the node itself among them."""
    start, end = np.searchsorted(candidates.rows, (node, node + 1))
    return candidates.columns[start:end]
