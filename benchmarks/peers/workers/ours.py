"""Our side: the layers of this package, in the project's own environment."""

import tensorflow as tf

from ganet_tf import layers, native, ops
from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.selection import select_by_node
from peers.workers.protocol import Worker, serve
from peers.workers.tensorflow_steps import compiled, set_threads

WIDTH = 48
K = 8


class Ours(Worker):
    """The operators of this package, in the implementation that they choose, or that is in a name."""

    packages = ("tensorflow", "keras", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "hgao": lambda: layers.HGAO(WIDTH, k=K),
        "gao": lambda: layers.GAO(WIDTH),
        "topk": lambda: layers.TopKGAO(WIDTH, k=K),
        "hgao sparse": lambda: layers.HGAO(WIDTH, k=K, implementation="sparse"),
        "gao sparse": lambda: layers.GAO(WIDTH, implementation="sparse"),
        "gcn sparse": lambda: layers.GCN(WIDTH, implementation="sparse"),
        "cgao": lambda: layers.CGAO(WIDTH),
        "gcn": lambda: layers.GCN(WIDTH),
        "gat": lambda: layers.GAT(WIDTH, heads=1),
        "gao dense": lambda: layers.GAO(WIDTH, implementation="dense"),
    }

    def __init__(self, threads):
        super().__init__(threads)
        set_threads(threads)
        self.x = self.edges = None
        self.training = None

    def hello(self):
        """Says which implementation runs as well, or why it is not the native one."""
        return {**super().hello(), "implementation": chosen("auto"), "native": str(native.available())}

    def drop_graph(self):
        self.x = self.edges = None

    def set_graph(self, x, edges):
        self.x, self.edges = tf.constant(x), tf.constant(edges)

    def make_step(self, operator, mode):
        if operator.startswith("stage "):
            return self.make_stage(operator.removeprefix("stage "), mode)
        layer = self.operators[operator]()
        layer.build(self.x.shape, self.edges.shape)
        return compiled(layer, lambda: layer.trainable_variables, mode, self.x, self.edges)

    def make_stage(self, stage, mode):
        """Parts of hGAO's forward pass: what the lists, the ranking and the matrix products alone take."""
        layer = layers.HGAO(WIDTH, k=K)
        layer.build(self.x.shape, self.edges.shape)

        def transforms(x, edges):
            return layer.project_gated(x, layer.gates(x)[1])

        def lists(x, edges):
            nb = neighborhood(edges, tf.shape(x)[0])
            return nb.columns, nb.row_splits

        def lists_and_selection(x, edges):
            nb = neighborhood(edges, tf.shape(x)[0])
            return select_by_node(nb, ops.projection_scores(x, layer.projection), K).columns

        def attention(x, edges):
            # As many places a node as hGAO has, without any list or ranking: only the attention is left.
            near = (tf.range(tf.shape(x)[0])[:, None] * 7919 + tf.range(K) * 104729) % tf.shape(x)[0]
            return attend_to(x, near)

        stages = {
            "transforms": transforms,
            "lists": lists,
            "lists and selection": lists_and_selection,
            "attention": attention,
        }
        weights = {"transforms": lambda: layer.trainable_variables}.get(stage, list)
        return compiled(stages[stage], weights, mode, self.x, self.edges)

    def probe(self):
        """GCN with an identity kernel, for comparing the sides' results: the first rows and the sum of squares."""
        layer = layers.GCN(WIDTH, kernel_initializer="identity")
        y = layer(self.x, self.edges).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}

    def prepare_training(self, config, path, limit=None):
        """Makes data, model and optimizer of a config, and writes the training graphs for the other side."""
        from peers.workers.ours_training import Training

        self.training = Training(config, limit)
        self.training.export(path)
        return {**self.training.warm_up(), "settings": self.training.settings()}

    def prepare_rival(self, config, path, limit=None):
        """The same for one of the paper's rivals; returns its settings."""
        from peers.workers.ours_rivals import Rival

        self.training = Rival(config, limit)
        self.training.export(path)
        self.training.warm_up()
        return self.training.settings()

    def rival_memory(self):
        """Bytes of an update on the batch with the largest graph."""
        return self.training.memory()

    def epoch(self):
        """Trains one epoch: seconds and mean loss."""
        return self.training.epoch()


def attend_to(x, columns):
    """hGAO's attention kernel, x attending to itself at given places."""
    from ganet_tf.ops.attention import Head, attend
    from ganet_tf.ops.neighbor_tables import Table, table_matrix

    table = Table(columns, tf.ones_like(columns, tf.bool), None)
    return attend(Head(x, x, x, False), table, table_matrix(table, tf.shape(x)[0]))


if __name__ == "__main__":
    serve(Ours)
