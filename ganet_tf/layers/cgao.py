"""The channel-wise graph attention operator, the second of the paper's two."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import HeadsLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class CGAO(HeadsLayer):
    """Channel-wise graph attention operator (cGAO), eq. (11): the channels of a graph attend to each other.

    For each graph of the batch, with n nodes:

        K = X W_K,    V = X W_V,    E = Kᵀ K [units, units]
        O = V softmax(E)ᵀ, the softmax over each row of E

    No edges are needed. The query channels are the key channels, so that both have `units` of them.
    Of several heads each has kernels of its own, and its channels attend to each other only: the block-diagonal form.
    There are no other kinds of score: a channel's cosine with itself would be 1 always, and a mean over all channels
    says nothing. Cost: O(N · units · (F + units)) a head.

    Args:
        units: Number of output channels.
        scale: Factor on E, which grows with the number of nodes: `None` (the paper's: none), `"sqrt"` for
            1/√n or `"mean"` for 1/n in a graph of n nodes, or a number.
        heads, concat: How many heads of `units` channels, and whether they are concatenated ([N, heads · units]) or
            averaged ([N, units]).
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint` (for both kernels), the same three for the bias, `activity_regularizer`,
            `dropout` (on x), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: Not used; may be left out.
        graph_ids: [N] ascending integers, the graph of each node; left out, all nodes are one graph.
        edge_weights: Not used, as edges.
        training: Whether dropout is active.

    Returns:
        [N, heads · units], or [N, units] for `concat=False`.

    Raises:
        ValueError: For a wrong shape, `graph_ids` that are not ascending, an unknown option.
        TypeError: For `graph_ids` that are not integers.

    Example:

    >>> x = np.eye(2, dtype="float32")
    >>> print(CGAO(2, kernel_initializer="identity")(x).numpy().round(2))
    [[0.73 0.27]
     [0.27 0.73]]
    """

    needs_edges = False
    scale_names = ("sqrt", "mean")

    def __init__(self, units: int, scale: float | str | None = None, **kwargs):
        super().__init__(units, scale=scale, **kwargs)

    def key_width(self, num_features):
        """Keys are as wide as values: the attention is among their channels."""
        return self.units

    def call(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """Eq. (11), graph by graph."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        keys, values = self.project(x)
        return self.finish(ops.cgao(keys, values, graph_ids, scale=self.scale, heads=self.heads))

    def get_config(self):
        config = super().get_config()
        config.pop("implementation")  # there is only one
        return config
