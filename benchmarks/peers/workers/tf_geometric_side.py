"""tf_geometric, on legacy Keras (TF_USE_LEGACY_KERAS=1): its GCN and GAT fail on Keras 3."""

import tensorflow as tf
import tf_geometric as tfg

from peers.workers.protocol import Worker, serve
from peers.workers.tensorflow_steps import compiled, set_threads

WIDTH = 48


class TFGeometric(Worker):
    """GAT and GCN; GCN with its cache of the normalised matrix, filled beforehand, as tf_geometric's demos do."""

    packages = ("tensorflow", "tf_keras", "tf_geometric", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "gat": lambda: tfg.layers.GAT(WIDTH, num_heads=1),
        "gcn": lambda: tfg.layers.GCN(WIDTH),
    }

    def __init__(self, threads):
        super().__init__(threads)
        set_threads(threads)
        self.x = self.edge_index = None

    def drop_graph(self):
        self.x = self.edge_index = None

    def set_graph(self, x, edges):
        self.x = tf.constant(x)
        self.edge_index = tf.constant(edges[:, ::-1].T)  # the first row is the node that aggregates

    def make_call(self, layer, operator):
        """The layer as a function of x and edge_index."""
        # Its weights are made by its first call (`build` would be run once more by that), here on two nodes.
        layer([self.x[:2], tf.constant([[0, 1], [1, 0]])])
        if operator == "gat":
            return lambda x, edge_index: layer([x, edge_index])
        graph = tfg.Graph(self.x, self.edge_index)
        layer.build_cache_for_graph(graph)
        return lambda x, edge_index: layer([x, edge_index], cache=graph.cache)

    def make_step(self, operator, mode):
        layer = self.operators[operator]()
        call = self.make_call(layer, operator)
        return compiled(call, lambda: layer.trainable_variables, mode, self.x, self.edge_index)

    def probe(self):
        """GCN with an identity kernel, for comparing the sides' results."""
        layer = self.operators["gcn"]()
        call = self.make_call(layer, "gcn")
        layer.kernel.assign(tf.eye(WIDTH))
        y = call(self.x, self.edge_index).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}


if __name__ == "__main__":
    serve(TFGeometric)
