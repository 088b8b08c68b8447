"""The additive attention of Veličković et al., for the GAT baseline."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer
from ganet_tf.layers.checks import check_rate, check_units
from ganet_tf.layers.dropout import SavesSeed, next_seed


@keras.saving.register_keras_serializable(package="ganet_tf")
class GAT(SavesSeed, GraphLayer):
    """Graph attention layer with additive scores (Veličković et al. 2018, eqs. (1) to (6)), the baseline.

    For each of H heads, with h_j = W x_j and N(i) the neighbours of i and i itself:

        e_ij = LeakyReLU(a_t · h_i + a_s · h_j),    o_i = Σ_j softmax_j(e_ij) h_j

    The heads are concatenated, or averaged. Cost: O(N · F · H · units + E · H · units).

    Args:
        units: Number of channels of a head.
        heads: Number of heads.
        concat: Whether heads are concatenated ([N, heads · units]) or averaged ([N, units]).
        attention_dropout: Rate at which attention weights are dropped in training.
        negative_slope: Of the LeakyReLU.
        use_bias: Whether `bias` is added to the output; `True` here.
        **kwargs: `activation`, `kernel_initializer` (also for the two score vectors), `kernel_regularizer`,
            `kernel_constraint`, the same three for the bias, `activity_regularizer`, `dropout` (on x),
            `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target): the target attends to the source.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij e_ij in the place of e_ij, as in GAO; left out, 1 for every edge.
        training: Whether dropout is active.

    Returns:
        [N, heads · units], or [N, units] for `concat=False`.

    Raises:
        ValueError: For a wrong shape, an edge out of range, an option out of range.
        TypeError: For `edges` that are not integers.

    Example:

    >>> x = np.eye(3, dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> GAT(8, heads=4)(x, edges).shape
    TensorShape([3, 32])
    """

    takes_sparse = True

    def __init__(
        self,
        units: int,
        heads: int = 8,
        concat: bool = True,
        attention_dropout: float = 0.0,
        negative_slope: float = 0.2,
        use_bias: bool = True,
        **kwargs,
    ):
        super().__init__(units, use_bias=use_bias, **kwargs)
        self.heads = check_units(heads, "heads")
        self.concat = concat
        self.attention_dropout = check_rate(attention_dropout, "attention_dropout")
        self.negative_slope = negative_slope
        self.seed_generator = keras.random.SeedGenerator(self.seed)

    @property
    def output_units(self):
        return self.heads * self.units if self.concat else self.units

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes kernel [F, heads · units] and the score vectors [heads, units] of source and target."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.kernel = self.add_kernel("kernel", (x_shape[-1], self.heads * self.units))
        self.source_kernel = self.add_kernel("source_kernel", (self.heads, self.units))
        self.target_kernel = self.add_kernel("target_kernel", (self.heads, self.units))

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        h = tf.reshape(ops.features_matmul(x, self.kernel), [-1, self.heads, self.units])
        dropping = training and self.attention_dropout > 0
        outputs = ops.gat(
            h,
            tf.reduce_sum(h * self.source_kernel, axis=-1),
            tf.reduce_sum(h * self.target_kernel, axis=-1),
            edges,
            negative_slope=self.negative_slope,
            dropout_seed=next_seed(self.seed_generator) if dropping else None,
            dropout=self.attention_dropout if dropping else 0.0,
            edge_weights=edge_weights,
        )
        if self.concat:
            return self.finish(tf.reshape(outputs, [-1, self.output_units]))
        return self.finish(tf.reduce_mean(outputs, axis=1))

    def get_config(self):
        return {
            **super().get_config(),
            "heads": self.heads,
            "concat": self.concat,
            "attention_dropout": self.attention_dropout,
            "negative_slope": self.negative_slope,
        }
