"""A small graph, its weighted twin, and a small model: what the tests of `explain` share."""

import functools

import keras
import numpy as np

from ganet_tf import data, models

EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [3, 4], [4, 5]])
BOTH = np.concatenate([EDGES, EDGES[:, ::-1]])
X = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
GRAPH = data.Graph(X, BOTH, 1)
WEIGHTED = data.Graph(X, BOTH, 1, edge_weights=np.tile([1.0, 2.0, 0.5, 3.0, 1.0, 0.25], 2))
STAR = data.Graph(X[:5], [[i, 0] for i in range(1, 5)] + [[0, i] for i in range(1, 5)], 0)


@functools.cache
def trained():
    """A classifier of two modules, k = 2; nothing here needs it to have learned anything."""
    keras.utils.set_random_seed(0)
    model = models.GraphClassifier(2, k=2, num_modules=2, units=6, module_units=4, out_units=5, sort_pooling_k=10)
    model({"x": GRAPH.x, "edges": GRAPH.edges, "graph_ids": np.zeros(6, "int32")})
    return model


def dataset():
    """The two graphs, with names for their classes."""
    return data.GraphDataset([GRAPH, STAR], ["tree", "star"], name="small")
