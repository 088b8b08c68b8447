import pickle, warnings
from pathlib import Path
import numpy as np
import scipy.sparse as sp
from ganet_tf.data.node_dataset import NodeDataset


def load(folder, name, **options):
    parts = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in ("x", "y", "tx", "ty", "allx", "ally", "graph"):
            with open(Path(folder) / f"ind.{name.lower()}.{part}", "rb") as file:
                parts[part] = pickle.load(file, encoding="latin1")
    test = np.loadtxt(Path(folder) / f"ind.{name.lower()}.test.index", dtype=np.int64)
    n = test.max() + 1
    known = parts["allx"].shape[0]
    x = np.zeros((n, parts["allx"].shape[1]), np.float32)
    y = np.zeros((n, parts["ally"].shape[1]))
    x[:known], y[:known] = parts["allx"].toarray(), parts["ally"]
    x[test], y[test] = parts["tx"].toarray(), parts["ty"]
    edges = np.array([(i, j) for i, js in parts["graph"].items() for j in js])
    edges = np.concatenate([edges, edges[:, ::-1]])
    train = np.arange(len(parts["y"]))
    return NodeDataset(edges, x, y.argmax(1), train, np.arange(len(train), len(train) + 500), np.sort(test),
                       name=name, **options)
