"""How often the hard selection is active at all: a node with no more than k candidates keeps them all.

That is a property of the data and k alone, so it needs no model.
"""

import json

import numpy as np

from experiments.report.runs import GRAPH_SETS, K_VALUES, NODE_SETS
from ganet_tf import data
from ganet_tf.data import GraphDataset
from ganet_tf.files import write_whole

DATASETS = (*GRAPH_SETS, *NODE_SETS)
GRAPHS_AT_ONCE = 500


def write_selection(path, data_dir=None, datasets=DATASETS):
    """Adds to a JSON file what it does not have yet: {data set: `selection` of it}.

    Data do not change, so what is there stays; to count anew, delete the file.
    """
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in datasets:
        if name not in known:
            known[name] = selection(degrees_of(load(name, data_dir)))
    ordered = {name: known[name] for name in sorted(known, key=lambda name: order(name, datasets))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(ordered, indent=2) + "\n")
    return ordered


def order(name, datasets=DATASETS):
    """Where a data set stands in a table."""
    return (datasets.index(name), name) if name in datasets else (len(datasets), name)


def load(name, data_dir=None):
    """A data set with the smallest features: only its edges count here."""
    features = "constant" if name in GRAPH_SETS else "auto"
    return data.load(name, data_dir=data_dir, features=features)


def degrees_of(dataset):
    """Number of neighbours of every node, [N]; some graphs at a time, to be spare with memory."""
    if not isinstance(dataset, GraphDataset):
        return np.bincount(dataset.edges[:, 1], minlength=dataset.num_nodes)
    parts = []
    for start in range(0, len(dataset), GRAPHS_AT_ONCE):
        batch = dataset[start : start + GRAPHS_AT_ONCE].arrays()
        parts.append(np.bincount(batch["edges"][:, 1], minlength=len(batch["x"])))
    return np.concatenate(parts)


def selection(degrees, ks=K_VALUES):
    """Counts of nodes with more than k candidates, the node itself among them, and with more than k neighbours."""
    return {
        "nodes": len(degrees),
        "max_degree": int(degrees.max()),
        "active": {str(k): int((degrees + 1 > k).sum()) for k in ks},
        "active_without_self": {str(k): int((degrees > k).sum()) for k in ks},
    }
