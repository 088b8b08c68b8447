"""Planetoid: a baseline for nodes that learns vectors from the graph and classifies them with the features."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers import Linear
from ganet_tf.layers.checks import check_units
from ganet_tf.models.base import GraphModel, as_logits, take_nodes
from ganet_tf.models.context_training import ContextTraining
from ganet_tf.models.pretraining import Pretrained

# What the authors' two demos use, where a variant leaves it open.
PLANS = {
    "T": {
        "label_steps": 2000,
        "graph_steps": 70,
        "label_batch": 100,
        "graph_batch": 200,
        "context_rate": 1e-2,
        "joint": 0.0,
    },
    "I": {
        "label_steps": 10000,
        "graph_steps": 400,
        "label_batch": 20,
        "graph_batch": 20,
        "context_rate": 1e-3,
        "joint": 0.1,
    },
}


@keras.saving.register_keras_serializable(package="ganet_tf")
class Planetoid(Pretrained, GraphModel):
    """Planetoid (Yang et al. 2016) for nodes: vectors e that predict a node's context, classified with its features.

        h = softmax(x W_1 + b_1),    u = softmax(e W_2 + b_2),    O = [h, u] W_3 + b_3

    T (transductive): e is a vector of its own for each node. I (inductive): e = ReLU(x W + b), so that it can be
    asked about nodes that it has not seen. `pretrain` trains e and the context weights (see `ContextTraining`);
    `fit` then trains the classifier, and e, on loss(O) + loss(h) + loss(u). The callback that `pretrain` returns
    goes on with a step on walks in a share `joint` of the epochs, as the authors' demo of I does. Theirs is plain SGD
    with rate 0.1, all labelled nodes in one batch, features as they are.

    Args:
        num_classes: Number of classes.
        num_nodes: Nodes of the graph: `dataset.num_nodes`.
        variant: `"T"` or `"I"`.
        units: Channels of a vector.
        walk_length: Steps of a walk.
        window: How far two nodes of a walk may be apart.
        layer_loss: Whether the losses of h and u are part of training.
        label_steps, graph_steps: Steps on pairs of a class, then on walks, before the first epoch. None here and
            below: the authors' for the variant, T 2000 and 70, I 10,000 and 400.
        label_batch, graph_batch: Pairs, or walks, in a step: T 100 and 200, I 20 and 20.
        context_rate: Learning rate of these steps: T 0.01, I 0.001.
        joint: Share of the epochs that begin with a step on walks: T 0, I 0.1.
        kernel_initializer, kernel_regularizer: For the matrices of the classifier.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], dense or a `tf.SparseTensor`, `edges` [E, 2], which are not looked at, and, if
            wanted, `nodes` [n], the nodes to put out.
        training: Not used.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, an unknown variant.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> Planetoid(num_classes=4, num_nodes=3)({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    """

    optional = ("graph_ids", "nodes")

    def __init__(
        self,
        num_classes,
        num_nodes,
        variant="T",
        units=50,
        walk_length=10,
        window=3,
        layer_loss=True,
        label_steps=None,
        graph_steps=None,
        label_batch=None,
        graph_batch=None,
        context_rate=None,
        joint=None,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        **kwargs,
    ):
        ops.checks.check_choice(variant, "variant", tuple(PLANS))
        asked = {
            "label_steps": label_steps,
            "graph_steps": graph_steps,
            "label_batch": label_batch,
            "graph_batch": graph_batch,
            "context_rate": context_rate,
            "joint": joint,
        }
        sizes = {"num_nodes": num_nodes, "units": units, "walk_length": walk_length, "window": window}
        sizes = {name: check_units(value, name) for name, value in sizes.items()}
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        own = {"num_classes": num_classes, "variant": variant, "layer_loss": layer_loss}
        super().__init__({**own, **sizes, **asked, **matrix}, **kwargs)
        self._add_layers({**matrix, "dtype": self.dtype_policy})

    @property
    def transductive(self):
        """Whether nodes have vectors of their own, so that others are not known."""
        return self.variant == "T"

    @property
    def plan(self):
        """The settings of the steps before the first epoch, the variant's where none were given."""
        defaults = PLANS[self.variant]
        return {name: value if getattr(self, name) is None else getattr(self, name) for name, value in defaults.items()}

    def _add_layers(self, dense):
        dtype = {"dtype": self.dtype_policy}
        if self.variant == "T":
            small = keras.initializers.RandomNormal(stddev=0.01)
            self.embedding = keras.layers.Embedding(self.num_nodes, self.units, small, name="embedding", **dtype)
        else:
            self.embedding = FeatureDense(self.units, activation="relu", name="embedding", **dense)
        self.from_x = FeatureDense(self.num_classes, name="from_x", **dense)
        self.from_vector = keras.layers.Dense(self.num_classes, name="from_vector", **dense)
        self.out = keras.layers.Dense(self.num_classes, name="out", **dense)
        self.context = keras.layers.Dense(self.num_nodes, name="context", trainable=False, **dtype)

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Makes the vectors, the classifier on them and on the features, and the context weights."""
        self.embedding.build((None,) if self.variant == "T" else x_shape)
        if self.variant == "I":  # the context's vectors share the matrix, but not the bias
            self.context_bias = self.add_weight((self.units,), "zeros", name="context_bias", trainable=False)
        self.from_x.build(x_shape)
        self.from_vector.build((None, self.units))
        self.out.build((None, 2 * self.num_classes))
        self.context.build((None, self.units))

    def pretraining(self, dataset, seed):
        """The steps on pairs of a class and on the walks of a `NodeDataset`."""
        self.check_nodes(dataset)
        return ContextTraining(self, dataset, seed)

    def call(self, inputs, training=None):
        """Class scores of the nodes asked for."""
        both = tf.concat([tf.nn.softmax(scores) for scores in self.branch_scores(inputs)], axis=1)
        return as_logits(self.out(both))

    def branch_scores(self, inputs):
        """The class scores from the features alone and from the vectors alone, [n, num_classes] each."""
        x, _, _, nodes = self.unpack(inputs)
        if self.variant == "I":
            vectors = take_nodes(self.embedding(x), nodes)
        else:
            vectors = self.embedding(tf.range(tf.shape(x)[0]) if nodes is None else nodes)
        return take_nodes(self.from_x(x), nodes), self.from_vector(vectors)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss it was compiled with; in training also the cross-entropy of both branches."""
        total = super().compute_loss(x, y, y_pred, sample_weight, training)
        if training and self.layer_loss:
            for scores in self.branch_scores(x):
                scores = tf.cast(scores, tf.float32)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y, tf.int32), scores)
                total = total + tf.cast(tf.reduce_mean(losses), total.dtype)
        return total

    def context_vectors(self, source):
        """The vectors that predict contexts: of node numbers [R] for T, of node features [R, F] for I."""
        if self.variant == "T":
            return tf.gather(self.embedding.embeddings.value, source)
        return tf.nn.relu(source @ self.embedding.kernel.value + self.context_bias.value)

    def move_vectors(self, source, vectors, change):
        """Adds `change` [R, units] to the vectors, or to what they are made of, as gradient descent would."""
        if self.variant == "T":
            table = self.embedding.embeddings
            table.assign(tf.tensor_scatter_nd_add(table.value, source[:, None], change))
            return
        change = tf.where(vectors > 0, change, 0)
        self.embedding.kernel.assign_add(tf.matmul(source, change, transpose_a=True))
        self.context_bias.assign_add(tf.reduce_sum(change, axis=0))

    def compute_output_shape(self, input_shape):
        """[n, num_classes]."""
        return (None, self.num_classes)


@keras.saving.register_keras_serializable(package="ganet_tf")
class FeatureDense(Linear):
    """A dense layer with a bias that takes sparse features, too."""

    takes_sparse = True

    def __init__(self, units, use_bias=True, **kwargs):
        super().__init__(units, use_bias=use_bias, **kwargs)

    def call(self, x, edges=None, graph_ids=None, training=None):
        """X W + b."""
        return self.finish(ops.features_matmul(self.prepare(x, edges, graph_ids, training), self.kernel))
