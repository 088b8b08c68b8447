"""A tiny data set in TU layout and a tiny config: training takes a moment."""

import numpy as np
import pytest
import yaml

# The linear operator is the quickest to trace; kill-and-resume takes the real one.
CONFIG = {
    "task": "graph",
    "model": {
        "name": "hganet",
        "operator": "linear",
        "num_modules": 1,
        "units": 8,
        "module_units": 4,
        "out_units": 9,
    },
    "optimizer": {"learning_rate": 0.01, "weight_decay": 1e-3, "amsgrad": True},
    "folds": 3,
    "splits": "stratified",
    "epochs": 3,
    "batch_size": 5,
}


def write_tu(folder, num_graphs=24, seed=0):
    """Paths (class 0) and cycles (class 1) with random node labels."""
    rng = np.random.default_rng(seed)
    edges, graph_of, classes, labels, first = [], [], [], [], 1
    for graph in range(num_graphs):
        size = int(rng.integers(4, 9))
        pairs = [(i, i + 1) for i in range(size - 1)] + ([(size - 1, 0)] if graph % 2 else [])
        edges += [(first + a, first + b) for a, b in pairs] + [(first + b, first + a) for a, b in pairs]
        graph_of += [graph + 1] * size
        labels += rng.integers(0, 3, size).tolist()
        classes.append(graph % 2)
        first += size
    folder.mkdir(parents=True)
    name = folder.name
    (folder / f"{name}_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in edges))
    (folder / f"{name}_graph_indicator.txt").write_text("".join(f"{i}\n" for i in graph_of))
    (folder / f"{name}_graph_labels.txt").write_text("".join(f"{c}\n" for c in classes))
    (folder / f"{name}_node_labels.txt").write_text("".join(f"{c}\n" for c in labels))
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a tiny data set."""
    return write_tu(tmp_path_factory.mktemp("data") / "TINY")


@pytest.fixture(scope="session")
def tiny_config(tiny, tmp_path_factory):
    """Path of a config that trains on it in a moment."""
    path = tmp_path_factory.mktemp("configs") / "tiny.yaml"
    path.write_text(yaml.safe_dump({**CONFIG, "dataset": str(tiny)}))
    return path
