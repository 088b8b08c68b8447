"""GraphSAGE's convolution."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class SAGEConv(GraphLayer):
    """GraphSAGE's convolution (Hamilton et al. 2017): a node and, apart from it, what its neighbours are together.

        m_i = mean_{j in N(i)} x_j,    o_i = x_i W_self + m_i W_neighbors + b

    N(i) is without i; a node without neighbours has m_i = 0. With edge weights m_i is Σ_j a_ij x_j / Σ_j a_ij, the sum
    Σ_j a_ij x_j, the maximum that of a_ij x_j. The original sets the two products side by side instead
    of adding them; with a matrix behind it, that is the same. Cost: O(E · min(F, units) + N · F · units); for
    `"max"`, whose memory is O(E · F), O(E · F + N · F · units).

    Args:
        units: Number of output channels.
        aggregator: `"mean"`, `"max"` (channel by channel) or `"sum"` over the neighbours.
        normalize: Whether rows are divided by their lengths, before the activation.
        use_bias: Whether `bias` is added; `True` here.
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `activation`, `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same
            three for the bias, `activity_regularizer`, `dropout` (on x), `seed`, `name`, `dtype`: see
            `GraphLayer`.

    Call arguments:
        x: [N, F] node features; for `"mean"` and `"sum"` also a `tf.SparseTensor`.
        edges: [E, 2] integers, a row = (source, target): the target gathers from the source.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij; left out, 1 for every edge.
        training: Whether dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape, an edge out of range, an unknown aggregator.
        TypeError: For `edges` that are not integers.

    Example:

    >>> x = np.array([[1.0], [2.0], [4.0]], dtype="float32")
    >>> edges = np.array([[1, 0], [0, 1], [2, 1], [1, 2]])  # 0 - 1 - 2
    >>> SAGEConv(1, kernel_initializer="ones")(x, edges).numpy().ravel().tolist()
    [3.0, 4.5, 6.0]
    """

    def __init__(self, units, aggregator="mean", normalize=False, use_bias=True, implementation="auto", **kwargs):
        super().__init__(units, use_bias=use_bias, **kwargs)
        ops.checks.check_choice(aggregator, "aggregator", ops.AGGREGATORS)
        self.aggregator = aggregator
        ops.check_implementation(implementation, ops.WITHOUT_DENSE)
        self.normalize = normalize
        self.implementation = implementation

    @property
    def takes_sparse(self):
        """Whether x may be sparse: a maximum needs every feature, sums come after the product."""
        return self.aggregator != "max"

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes self_kernel and neighbor_kernel, [F, units] each."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.self_kernel = self.add_kernel("self_kernel", (x_shape[-1], self.units))
        self.neighbor_kernel = self.add_kernel("neighbor_kernel", (x_shape[-1], self.units))

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """Adds what the node and what its neighbours say."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        return self.finish(ops.features_matmul(x, self.self_kernel) + self.from_neighbors(x, edges, edge_weights))

    def from_neighbors(self, x, edges, edge_weights=None):
        """m W_neighbors; sums are taken on the narrower side of the product, where an edge costs less."""
        first = self.aggregator == "max" or (not ops.is_sparse(x) and self.units > x.shape[-1])
        how = (edges, self.aggregator, edge_weights, self.implementation)
        if first:
            return tf.matmul(ops.aggregate_neighbors(x, *how), self.neighbor_kernel)
        return ops.aggregate_neighbors(ops.features_matmul(x, self.neighbor_kernel), *how)

    def finish(self, outputs):
        """Adds the bias, divides by the length if asked to, and applies the activation."""
        if self.use_bias:
            outputs = outputs + tf.cast(self.bias, outputs.dtype)
        return self.activation(ops.unit_rows(outputs) if self.normalize else outputs)

    def get_config(self):
        """The constructor's arguments."""
        own = {"aggregator": self.aggregator, "normalize": self.normalize, "implementation": self.implementation}
        return {**super().get_config(), **own}
