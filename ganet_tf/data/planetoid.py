"""Reading the Planetoid files of Cora, Citeseer and Pubmed."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ganet_tf.data.node_dataset import NodeDataset
from ganet_tf.data.safe_pickle import load_pickle
from ganet_tf.data.tu import read_numbers
from ganet_tf.errors import DataFormatError

PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
NUM_VALIDATION = 500
MAX_EDGES = 1 << 30


def read_planetoid(folder: str | os.PathLike, name: str, **options: Any) -> NodeDataset:
    """Reads `ind.NAME.*`: the split of Yang et al. (2016), 20 training nodes of each class, 500 and 1,000 others.

    `allx` and `ally` are the nodes with the lowest numbers; `tx` and `ty` are the test nodes, in the order of
    `test.index`. Test numbers that are missing there (15 of Citeseer) are nodes with no features.

    Args:
        folder: Where the eight files are.
        name: "cora", "citeseer" or "pubmed".
        **options: Further arguments of `NodeDataset`.

    Returns:
        `NodeDataset`.
    """
    paths = {part: Path(folder) / f"ind.{name.lower()}.{part}" for part in PARTS}
    parts = {part: load_pickle(path) for part, path in paths.items() if part not in ("graph", "test.index")}
    with open(paths["test.index"], "rb") as stream:
        test = read_numbers(stream, paths["test.index"].name, np.int64, columns=1)[:, 0]
    num_known = parts["allx"].shape[0]
    check_counts(name, parts, test)
    num_nodes = int(test.max()) + 1
    x = np.zeros((num_nodes, parts["allx"].shape[1]), np.float32)
    one_hot = np.zeros((num_nodes, parts["ally"].shape[1]), np.int32)
    x[:num_known], one_hot[:num_known] = parts["allx"].toarray(), parts["ally"]
    x[test], one_hot[test] = parts["tx"].toarray(), parts["ty"]
    num_train = len(parts["y"])
    return NodeDataset(
        undirected_edges(load_pickle(paths["graph"]), paths["graph"].name),
        x,
        one_hot.argmax(axis=1),
        train_mask=np.arange(num_train),
        val_mask=np.arange(num_train, num_train + NUM_VALIDATION),
        test_mask=np.sort(test),
        name=name,
        num_classes=one_hot.shape[1],
        **options,
    )


def check_counts(name, parts, test):
    """The parts must fit each other."""
    for features, classes in (("x", "y"), ("tx", "ty"), ("allx", "ally")):
        if not hasattr(parts[features], "toarray") or not hasattr(parts[classes], "shape") or parts[classes].ndim != 2:
            raise DataFormatError(f"ind.{name}.{features} must hold a sparse matrix and .{classes} a dense one")
        if parts[features].shape[0] != len(parts[classes]):
            raise DataFormatError(
                f"ind.{name}.{features} has {parts[features].shape[0]} rows, but .{classes} {len(parts[classes])}"
            )
    for one, other in (("allx", "tx"), ("ally", "ty")):
        if parts[one].shape[1] != parts[other].shape[1]:
            raise DataFormatError(
                f"ind.{name}.{one} has {parts[one].shape[1]} columns, but .{other} {parts[other].shape[1]}"
            )
    if len(test) == 0 or len(test) != len(parts["ty"]) or len(np.unique(test)) != len(test):
        raise DataFormatError(f"ind.{name}.test.index must name {len(parts['ty'])} different nodes, it has {len(test)}")
    if test.min() < parts["allx"].shape[0]:
        raise DataFormatError(f"ind.{name}.test.index names node {test.min()}, which is in allx")
    if test.max() > 2 * (parts["allx"].shape[0] + len(test)):
        raise DataFormatError(f"ind.{name}.test.index names node {test.max()}, far more than there are")


def undirected_edges(graph: dict[int, list[int]], name: str) -> np.ndarray:
    """Pairs in both directions from a dict of neighbour lists."""
    if not isinstance(graph, dict):
        raise DataFormatError(f"{name} must hold a dict of neighbour lists, but holds a {type(graph).__name__}")
    try:
        counts = [len(neighbours) for neighbours in graph.values()]
        if sum(counts) > MAX_EDGES:
            raise DataFormatError(f"{name} has {sum(counts):,} edges, more than {MAX_EDGES:,}")
        source = np.repeat(np.fromiter(graph, np.int64, len(graph)), counts)
        target = np.fromiter((node for neighbours in graph.values() for node in neighbours), np.int64, len(source))
    except (TypeError, ValueError, OverflowError) as error:
        raise DataFormatError(f"{name} must hold lists of node numbers ({error})") from error
    edges = np.stack([source, target], axis=1)
    return np.concatenate([edges, edges[:, ::-1]])
