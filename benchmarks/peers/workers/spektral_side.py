"""Spektral, on legacy Keras (TF_USE_LEGACY_KERAS=1): it does not run on Keras 3."""

import numpy as np
import scipy.sparse
import tensorflow as tf
from spektral.layers import GATConv, GCNConv
from spektral.utils.sparse import sp_matrix_to_sp_tensor

from peers.workers.protocol import Worker, serve
from peers.workers.tensorflow_steps import compiled, set_threads

WIDTH = 48


class Spektral(Worker):
    """GATConv and GCNConv on a SparseTensor; GCN's normalisation is done beforehand, as Spektral's users do."""

    packages = ("tensorflow", "tf_keras", "spektral", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "gat": lambda: GATConv(WIDTH, attn_heads=1, dropout_rate=0.0),
        "gcn": lambda: GCNConv(WIDTH),
    }

    def __init__(self, threads):
        super().__init__(threads)
        set_threads(threads)
        self.x = self.adjacency = self.tensors = None

    def drop_graph(self):
        self.x = self.adjacency = self.tensors = None

    def set_graph(self, x, edges):
        source, target = edges.T
        ones = np.ones(len(edges), np.float32)
        # A row is the node that aggregates.
        self.adjacency = scipy.sparse.csr_matrix((ones, (target, source)), shape=(len(x), len(x)))
        self.x, self.tensors = tf.constant(x), {}

    def matrix(self, operator):
        """The SparseTensor that an operator wants, made once a graph, outside the clock."""
        if operator not in self.tensors:
            prepared = GCNConv.preprocess(self.adjacency) if operator == "gcn" else self.adjacency
            self.tensors[operator] = tf.cast(sp_matrix_to_sp_tensor(prepared), tf.float32)
        return self.tensors[operator]

    def make_step(self, operator, mode):
        layer, matrix = self.operators[operator](), self.matrix(operator)
        layer.build([self.x.shape, matrix.shape])
        return compiled(lambda x, a: layer([x, a]), lambda: layer.trainable_variables, mode, self.x, matrix)

    def probe(self):
        """GCNConv with an identity kernel, for comparing the sides' results."""
        layer = GCNConv(WIDTH, kernel_initializer="identity")
        y = layer([self.x, self.matrix("gcn")]).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}


if __name__ == "__main__":
    serve(Spektral)
