"""Linear: the control without attention."""

import numpy as np

from ganet_tf.layers import Linear
from tests.layers.contract import LayerContract


class TestLinear(LayerContract):
    needs_edges = False
    has_dense = False

    def make(self, **kwargs):
        return Linear(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return np.array([row @ weights["kernel"] for row in x])
