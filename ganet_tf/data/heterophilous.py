"""Reading the heterophilous graphs of Platonov et al. (2023)."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ganet_tf.data.converters import read_npz
from ganet_tf.data.node_dataset import NodeDataset
from ganet_tf.errors import DataFormatError

ARRAYS = ("node_features", "node_labels", "edges", "train_masks", "val_masks", "test_masks")


def read_heterophilous(folder: str | os.PathLike, file: str, name: str, **options: Any) -> NodeDataset:
    """Reads one of their `.npz` files, with its ten published splits: A critical look at the evaluation of GNNs under
    heterophily (2023).

    Each undirected edge stands there once. `chameleon` and `squirrel` are the filtered ones: the usual files have
    nodes twice, in training and test.

    Args:
        folder: Where the file is.
        file: Its name.
        name: Name of the data set.
        **options: Further arguments of `NodeDataset`.

    Returns:
        `NodeDataset` with the first split; `published_split` gives the others.
    """
    arrays = read_npz(Path(folder) / file)
    missing = [key for key in ARRAYS if key not in arrays]
    if missing:
        raise DataFormatError(f"{file} has no array {missing[0]!r}; it has {', '.join(arrays)}")
    edges = arrays["edges"]
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise DataFormatError(f"the edges of {file} must be pairs [E, 2], but their shape is {edges.shape}")
    both = np.concatenate([edges, edges[:, ::-1]]).T
    published = [arrays[f"{split}_masks"].astype(bool) for split in ("train", "val", "test")]
    return NodeDataset.from_edge_index(
        both, arrays["node_features"], arrays["node_labels"], name=name, published=published, **options
    )
