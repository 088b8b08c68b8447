import io, zipfile
from pathlib import Path
import numpy as np
from ganet_tf.data.features import build_features
from ganet_tf.data.graph_dataset import GraphDataset, offsets
from ganet_tf.data.graph_store import GraphStore


def load_zip(path, name, features):
    with zipfile.ZipFile(path) as archive:
        stem = Path(path).stem
        def read(part, dtype=np.int64):
            try:
                text = archive.read(f"{stem}/{stem}_{part}.txt").replace(b",", b" ")
            except KeyError:
                return None
            return np.fromstring(text, dtype=dtype, sep=" ")
        pairs = read("A").reshape(-1, 2) - 1
        graph_of = read("graph_indicator") - 1
        labels = read("graph_labels")
        node_labels = read("node_labels")
        attributes = read("node_attributes", np.float32)
    n = len(graph_of)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    key = np.unique(pairs[:, 1] * n + pairs[:, 0])
    pairs = np.stack([key % n, key // n], 1)
    node_offsets = offsets(np.bincount(graph_of))
    edge_offsets = offsets(np.bincount(graph_of[pairs[:, 1]], minlength=len(labels)))
    edges = (pairs - node_offsets[graph_of[pairs[:, 1]]][:, None]).astype(np.int32)
    degrees = np.bincount(pairs[:, 1], minlength=n)
    codes, width = None, 0
    if node_labels is not None:
        values, codes = np.unique(node_labels, return_inverse=True)
        width = len(values)
    if attributes is not None:
        attributes = attributes.reshape(n, -1)
    x = build_features(features, degrees, np.diff(node_offsets), codes, width, attributes)
    classes, y = np.unique(labels, return_inverse=True)
    store = GraphStore(x, edges, node_offsets, edge_offsets, y.astype(np.int32))
    return store, classes
