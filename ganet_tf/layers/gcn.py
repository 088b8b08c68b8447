"""The graph convolution of Kipf and Welling."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class GCN(GraphLayer):
    """Graph convolution (Kipf and Welling 2017), at both ends of a GANet and in each of its modules.

        O = D̂^-½ Â D̂^-½ X W + b,    Â = A + I,    d̂_i = 1 + number of i's neighbours

    A node of degree 0 keeps its own features. With edge weights Â has a_ij, and d̂_i = 1 + Σ_j a_ij.
    Cost: O(E · min(F, units) + N · F · units).

    Args:
        units: Number of output channels.
        normalization: `"sym"` (the formula above), `"row"` (DGCNN's D̂^-1 Â: the mean over neighbours) or
            `None` (Â: the sum).
        implementation: `"auto"` (the default: native kernels where they can be, else sparse ones), `"native"`,
            `"sparse"` or `"dense"` (an [N, N] matrix).
        use_bias: Whether `bias` is added; `True` here.
        **kwargs: `activation`, `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same
            three for the bias, `activity_regularizer`, `dropout` (on x), `seed`, `name`, `dtype`: see
            `GraphLayer`.

    Call arguments:
        x: [N, F] node features, dense or a `tf.SparseTensor` (bags of words: much quicker so).
        edges: [E, 2] integers, a row = (source, target), unique, without self-loops.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij; left out, 1 for every edge.
        training: Whether dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape, an edge out of range, an unknown option.
        TypeError: For `edges` that are not integers.

    Example:

    >>> x = np.eye(3, dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> mean = GCN(3, normalization="row", kernel_initializer="identity")(x, edges)
    >>> mean.numpy().tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    takes_sparse = True

    def __init__(
        self,
        units: int,
        normalization: str | None = "sym",
        implementation: str = "auto",
        use_bias: bool = True,
        **kwargs,
    ):
        super().__init__(units, use_bias=use_bias, **kwargs)
        ops.checks.check_choice(normalization, "normalization", ops.checks.NORMALIZATIONS)
        ops.check_implementation(implementation)
        self.normalization = normalization
        self.implementation = implementation

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.kernel = self.add_kernel("kernel", (x_shape[-1], self.units))

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """Propagates on the narrower side of the product with the kernel, where an edge costs less."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        if not ops.is_sparse(x) and self.units > x.shape[-1]:
            return self.finish(tf.matmul(self.propagate(x, edges, edge_weights), self.kernel))
        return self.finish(self.propagate(ops.features_matmul(x, self.kernel), edges, edge_weights))

    def propagate(self, h, edges, edge_weights=None):
        """Â h, normalised."""
        return ops.gcn(h, edges, self.normalization, self.implementation, edge_weights=edge_weights)

    def get_config(self):
        return {
            **super().get_config(),
            "normalization": self.normalization,
            "implementation": self.implementation,
        }
