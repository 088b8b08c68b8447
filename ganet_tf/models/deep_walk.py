"""DeepWalk: a baseline for nodes that looks at the graph alone."""

import keras
import numpy as np
import tensorflow as tf

from ganet_tf.layers.checks import check_units
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.pretraining import Pretrained
from ganet_tf.models.skip_gram import SkipGram, logistic_regression


@keras.saving.register_keras_serializable(package="ganet_tf")
class DeepWalk(Pretrained, GraphModel):
    """DeepWalk (Perozzi et al. 2014) for nodes: vectors learned from random walks, then logistic regression on them.

        u = skip-gram of random walks (see `SkipGram`),    O_i = u_i W + b

    `pretrain` learns the vectors, which need no labels and no features. The regression has no epochs: each one of
    `fit` solves it to the end, for one strength of `C` after the other, so that `fit` for `len(C)` epochs goes
    through all of them and validation chooses the strength where it chooses an epoch elsewhere. More epochs stay
    with the last one. The optimizer that the model is compiled with only counts.

    Args:
        num_classes: Number of classes.
        num_nodes: Nodes of the graph: `dataset.num_nodes`.
        units: Channels of a node's vector.
        walks: Walks that start from each node.
        walk_length: Nodes of a walk.
        window: How far two nodes of a walk may be apart.
        negatives: Nodes that are drawn against each pair.
        passes: How often all walks are gone through.
        learning_rate: Of Adam on the vectors at the start; falls linearly to 1/250 of it.
        C: Strengths of the regression's fit, as scikit-learn counts them, one for each epoch.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F] and `edges` [E, 2], which are not looked at, and, if wanted, `nodes` [n], the
            nodes to put out.
        training: Not used.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it.

    Raises:
        ValueError: For an input that is missing, another graph than the one it was made for.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> DeepWalk(num_classes=4, num_nodes=3)({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    """

    optional = ("graph_ids", "nodes")
    transductive = True

    def __init__(
        self,
        num_classes,
        num_nodes,
        units=128,
        walks=10,
        walk_length=40,
        window=10,
        negatives=5,
        passes=5,
        learning_rate=0.01,
        C=(0.01, 0.1, 1.0, 10.0),
        **kwargs,
    ):
        sizes = {"num_nodes": num_nodes, "units": units, "walks": walks, "walk_length": walk_length, "window": window}
        sizes.update(negatives=negatives, passes=passes)
        sizes = {name: check_units(value, name) for name, value in sizes.items()}
        rest = {"learning_rate": learning_rate, "C": tuple(float(c) for c in C)}
        super().__init__({"num_classes": num_classes, **sizes, **rest}, **kwargs)
        frozen = {"trainable": False, "dtype": self.dtype_policy}
        spread = keras.initializers.RandomUniform(-0.5 / units, 0.5 / units)  # word2vec's
        self.embedding = keras.layers.Embedding(num_nodes, units, spread, name="embedding", **frozen)
        self.context = keras.layers.Embedding(num_nodes, units, "zeros", name="context", **frozen)
        self.out = keras.layers.Dense(num_classes, name="out", dtype=self.dtype_policy)

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Makes both tables of vectors, and the regression on the first."""
        self.embedding.build((None,))
        self.context.build((None,))
        self.out.build((None, self.units))

    def pretraining(self, dataset, seed):
        """The skip-gram on the walks of a `NodeDataset`."""
        self.check_nodes(dataset)
        return SkipGram(self, dataset, seed)

    def call(self, inputs, training=None):
        """Class scores from the vectors of the nodes asked for."""
        return as_logits(self.out(self.vectors(inputs)))

    def vectors(self, inputs):
        """The vectors of the nodes asked for, [n, units]."""
        x, _, _, nodes = self.unpack(inputs)
        return self.embedding(tf.range(tf.shape(x)[0]) if nodes is None else nodes)

    def train_step(self, data):
        """Solves the regression for this epoch's strength, and evaluates it."""
        inputs, y = data[:2]
        strength = tf.gather(tf.constant(self.C), tf.minimum(self.optimizer.iterations.value, len(self.C) - 1))
        arguments = [tf.cast(self.vectors(inputs), tf.float32), y, strength]
        kernel, bias = tf.numpy_function(self._solved, arguments, [tf.float32, tf.float32])
        self.out.kernel.assign(tf.ensure_shape(kernel, [self.units, self.num_classes]))
        self.out.bias.assign(tf.ensure_shape(bias, [self.num_classes]))
        self.optimizer.iterations.assign_add(1)
        return self.test_step(data)

    def _solved(self, vectors, y, strength):
        return logistic_regression(vectors, y.astype(np.int64), self.num_classes, float(strength))

    def compute_output_shape(self, input_shape):
        """[n, num_classes]."""
        return (None, self.num_classes)
