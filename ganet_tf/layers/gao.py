"""The soft graph attention operator."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import AttentionLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class GAO(AttentionLayer):
    """Graph attention operator (GAO), eq. (3): each node attends to all of its neighbours and itself.

        e_ij = x_i · k_j for j in N(i),    K = X W_K,    V = X W_V
        o_i = Σ_j softmax_j(e_ij) v_j

    The softmax runs over neighbours only. Cost: O(E · (F + units)), dense O(N² · F).

    Args:
        units: Number of output channels.
        scale: Factor on e_ij: `None` (the paper's: none), `"sqrt"` for 1/√F, or a number.
        implementation: `"sparse"` (the default) or `"dense"` (the paper's [N, N] matrices).
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint` (for both kernels), the same three for the bias, `activity_regularizer`,
            `dropout` (on x), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target): the target attends to the source.
        graph_ids: Not used; taken so that all layers are called alike.
        training: Whether dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape, an edge out of range, an unknown option.
        TypeError: For `edges` that are not integers.
        OutOfMemoryError: For a dense matrix that would not fit in memory.

    Example:

    >>> x = np.eye(3, dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> layer = GAO(3, kernel_initializer="identity")
    >>> print(layer(x, edges).numpy().round(2))
    [[0.73 0.27 0.  ]
     [0.27 0.73 0.  ]
     [0.   0.   1.  ]]
    """

    def call(self, x, edges, graph_ids=None, training=None):
        """Eq. (3), with the key and value matrices of section 4.7."""
        x = self.prepare(x, edges, graph_ids, training)
        keys, values = self.project(x)
        return self.finish(ops.gao(x, keys, values, edges, **self.score_options))
