"""k3-node, Keras 3 on TensorFlow: the broadest of the libraries on Keras 3."""

import tensorflow as tf
from k3_node.layers import GATConv, GCNConv

from peers.workers.protocol import Worker, serve
from peers.workers.tensorflow_steps import compiled, set_threads

WIDTH = 48


class K3Node(Worker):
    """GATConv and GCNConv, which take a [2, E] tensor and add self-loops themselves."""

    packages = ("tensorflow", "keras", "k3-node", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "gat": lambda: GATConv(WIDTH, WIDTH, heads=1),
        "gcn": lambda: GCNConv(WIDTH, WIDTH),
    }

    def __init__(self, threads):
        super().__init__(threads)
        set_threads(threads)
        self.x = self.edges = None

    def drop_graph(self):
        self.x = self.edges = None

    def set_graph(self, x, edges):
        self.x, self.edges = tf.constant(x), tf.constant(edges.T)

    def make_step(self, operator, mode):
        layer = self.operators[operator]()
        layer.build(tuple(self.x.shape))
        return compiled(layer, lambda: layer.trainable_variables, mode, self.x, self.edges)

    def probe(self):
        """GCNConv with an identity kernel, for comparing the sides' results."""
        layer = GCNConv(WIDTH, WIDTH)
        layer.build(tuple(self.x.shape))
        layer.lin.kernel.assign(tf.eye(WIDTH))
        y = layer(self.x, self.edges).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}


if __name__ == "__main__":
    serve(K3Node)
