"""The soft graph attention operator."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import ScoredLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class GAO(ScoredLayer):
    """Graph attention operator (GAO), eq. (3): each node attends to all of its neighbours and itself.

        e_ij = x_i · k_j for j in N(i),    K = X W_K,    V = X W_V
        o_i = Σ_j softmax_j(e_ij) v_j

    The softmax runs over neighbours only. Cost: O(E · (F + units)) a head, dense O(N² · F). Other scores than the
    paper's:

        "cosine":   e_ij = τ q_i · k_j / (‖q_i‖ ‖k_j‖),    Q = X W_Q,    τ learned, 4 at the start
        "uniform":  o_i = (1 / |N(i)|) Σ_j v_j, without W_K
        weighted edges:  a_ij e_ij in the place of e_ij, a_ii = 1

    Args:
        units: Number of output channels.
        scale: Factor on e_ij: `None` (the paper's: none), `"sqrt"` for 1/√F, or a number.
        implementation: `"auto"` (the default: native kernels where they can be, else sparse ones), `"native"`,
            `"sparse"` or `"dense"` (the paper's [N, N] matrices).
        heads, concat: How many heads, each with kernels of its own and `units` channels, and whether they are
            concatenated ([N, heads · units]) or averaged ([N, units]).
        score: `"dot"` (the paper's), `"cosine"` or `"uniform"`.
        query_units: Channels of queries and keys for `score="cosine"`.
        attention_dropout: Rate at which attention weights are dropped in training. (`GAM` and the models have it
            under `attention_weights_dropout`; what they call `attention_dropout` is this layer's `dropout`.)
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint` (for every kernel), the same three for the bias, `activity_regularizer`,
            `dropout` (on x), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target): the target attends to the source.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij of eq. (3); left out, 1 for every edge.
        training: Whether dropout is active.

    Returns:
        [N, heads · units], or [N, units] for `concat=False`.

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

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """Eq. (3), with the key and value matrices of section 4.7."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        keys, values = self.project(x)
        options = {**self.score_options, **self.dropout_options(training), "edge_weights": edge_weights}
        return self.finish(ops.gao(self.queries(x), keys, values, edges, **options))
