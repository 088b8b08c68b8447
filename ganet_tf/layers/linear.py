"""The control without attention."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class Linear(GraphLayer):
    """Linear map in the place of the attention: the control (eq. (9) without attn) that shows what it adds.

        O = X W

    Args:
        units: Number of output channels.
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint`, the same three for the bias, `activity_regularizer`, `dropout` (on x),
            `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features, dense or a `tf.SparseTensor`.
        edges: Not used; may be left out.
        graph_ids: Not used; may be left out.
        edge_weights: Not used; may be left out.
        training: Whether dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape.

    Example:

    >>> Linear(2, kernel_initializer="ones")(np.array([[1.0, 2.0]], dtype="float32")).numpy().tolist()
    [[3.0, 3.0]]
    """

    needs_edges = False
    takes_sparse = True

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.kernel = self.add_kernel("kernel", (x_shape[-1], self.units))

    def call(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        return self.finish(ops.features_matmul(x, self.kernel))
