"""A user's molecules: networkx graphs with atoms and bond weights, as files that train.py and predict.py read."""

import csv

import networkx as nx
import numpy as np

# The linear operator is the quickest to trace.
TINY = ["model.operator=linear", "model.num_modules=1", "model.units=8", "model.module_units=4", "model.out_units=9"]
FLAGS = ["--deterministic", "--threads", "1", "--quiet"]


def molecules(count, atoms="CNO", seed=0):
    """Chains of atoms; every bond has a weight."""
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        graph = nx.Graph()
        graph.add_nodes_from((i, {"label": str(rng.choice(list(atoms)))}) for i in range(int(rng.integers(4, 8))))
        graph.add_weighted_edges_from((i, i + 1, float(rng.choice([1.0, 1.5, 2.0]))) for i in range(len(graph) - 1))
        graphs.append(graph)
    return graphs


def carbons(graph):
    return sum(atom == "C" for _, atom in graph.nodes(data="label"))


def write_table(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def write_graphs(folder, graphs, targets=None, names=("label",)):
    """edges.csv, nodes.csv and, where there are targets, graphs.csv."""
    folder.mkdir(parents=True)
    edges = [(f"m{g}", *edge) for g, graph in enumerate(graphs) for edge in graph.edges(data="weight")]
    nodes = [(f"m{g}", *node) for g, graph in enumerate(graphs) for node in graph.nodes(data="label")]
    write_table(folder / "edges.csv", ["graph", "source", "target", "weight"], edges)
    write_table(folder / "nodes.csv", ["graph", "node", "label"], nodes)
    if targets is not None:
        rows = [(f"m{g}", *np.atleast_1d(target).tolist()) for g, target in enumerate(targets)]
        write_table(folder / "graphs.csv", ["graph", *names], rows)
    return folder


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_nodes(path, kind="classes", width=3, labelled=True, **masks):
    """60 nodes of three kinds, which their features tell; neighbours are of one kind."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    x = np.eye(3)[y] + rng.normal(0, 0.1, (60, 3))
    source = rng.integers(0, 60, 150)
    edges = np.stack([source, (source + 3 * rng.integers(1, 20, 150)) % 60], axis=1)
    y = {"classes": y, "regression": 100 + 10 * y + 0.5, "multilabel": np.stack([y == 0, y == 1], 1).astype(int)}[kind]
    np.savez(path, edges=edges, x=x[:, :width], **({"y": y} if labelled else {}), **masks)
    return path
