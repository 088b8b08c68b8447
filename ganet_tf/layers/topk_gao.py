"""The other way to hard attention that the paper's section 3.1 mentions."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import ScoredLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class TopKGAO(ScoredLayer):
    """Top-k attention, the alternative to eqs. (4) to (10) in section 3.1: the k largest scores e_ij attend.

        e_ij = x_i · k_j for j in N(i),    K = X W_K,    V = X W_V
        o_i = Σ_j softmax_j(e_ij) v_j over the k neighbours j with the largest e_ij

    Ties go to the smaller node index; a node with fewer than k neighbours keeps all of them. All scores are
    computed before k are kept, which HGAO avoids. Cost: O(E · F + N · k · units) a head. Other scores:

        "cosine":   e_ij = τ q_i · k_j / (‖q_i‖ ‖k_j‖),    Q = X W_Q,    τ learned, 4 at the start
        "uniform":  the mean of v_j over the k neighbours with the largest x_i · x_j; a W_K would never learn
        weighted edges:  a_ij e_ij in the place of e_ij, a_ii = 1, in the ranking too

    Args:
        units: Number of output channels.
        k: How many neighbours, the node itself among them, a node attends to at most.
        scale: Factor on e_ij: `None` (none), `"sqrt"` for 1/√F, or a number.
        implementation: `"auto"` (the default: native kernels where they can be, else sparse ones), `"native"`,
            `"sparse"` or `"dense"` ([N, N] matrices).
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
        edge_weights: [E] floats of at least 0, a_ij; left out, 1 for every edge.
        training: Whether dropout is active.

    Returns:
        [N, heads · units], or [N, units] for `concat=False`.

    Raises:
        ValueError: For a wrong shape, an edge out of range, k below 1, an unknown option.
        TypeError: For `edges` that are not integers.
        OutOfMemoryError: For a dense matrix that would not fit in memory.

    Example:

    >>> x = np.array([[1.0], [2.0], [3.0]], dtype="float32")
    >>> edges = np.array([[1, 0], [2, 0]])  # node 0 sees 1 and 2
    >>> TopKGAO(1, k=1, kernel_initializer="identity")(x, edges).numpy().tolist()
    [[3.0], [2.0], [3.0]]
    """

    def __init__(
        self, units: int, k: int = 8, scale: float | str | None = None, implementation: str = "auto", **kwargs
    ):
        super().__init__(units, scale=scale, implementation=implementation, **kwargs)
        ops.checks.check_k(k)
        self.k = int(k)

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        keys, values = self.project(x)
        options = {**self.score_options, **self.dropout_options(training), "edge_weights": edge_weights}
        return self.finish(ops.topk_gao(self.queries(x), keys, values, edges, self.k, **options))

    def project(self, x):
        """As the other layers'; without keys the features themselves rank."""
        keys, values = super().project(x)
        return (x if keys is None else keys), values

    def get_config(self):
        return {**super().get_config(), "k": self.k}
