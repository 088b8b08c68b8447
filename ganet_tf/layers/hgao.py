"""The hard graph attention operator, the first of the paper's two."""

from typing import NamedTuple

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import AttentionLayer, fresh


class Selection(NamedTuple):
    """What each node attends to, one row a node, the best-ranked neighbour first.

    Attributes:
        indices: [N, w] int32, the chosen neighbours (the node itself among them); -1 where there are fewer.
        gate: [N, w], the gate sigmoid(y_j) of each chosen neighbour; 0 where there is none.
        weights: [N, w], the attention weights; each row sums to 1.
    """

    indices: tf.Tensor
    gate: tf.Tensor
    weights: tf.Tensor


@keras.saving.register_keras_serializable(package="ganet_tf")
class HGAO(AttentionLayer):
    """Hard graph attention operator (hGAO), eqs. (4) to (10): each node attends to its k best neighbours.

        y = |X p| / ‖p‖                                            (4)
        idx_i = the k nodes of N(i) with the largest y             (5)
        X̃ = X ∘ sigmoid(y),    K = X̃ W_K,    V = X̃ W_V            (6)-(8)
        z_i = Σ_j softmax_j(x_i · k_j) v_j over j in idx_i         (9)

    Ties in y go to the smaller node index; a node with fewer than k neighbours keeps all of them. The choice
    itself has no gradient: p learns through the gate. Cost: O(E + N · k · (F + units)).

    Args:
        units: Number of output channels.
        k: How many neighbours, the node itself among them, a node attends to at most.
        scale: Factor on the scores: `None` (the paper's: none), `"sqrt"` for 1/√F, or a number.
        implementation: `"sparse"` (the default) or `"dense"` (the paper's: `top_k` over an [N, N] matrix).
        projection_initializer, projection_regularizer, projection_constraint: For p.
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
        ValueError: For a wrong shape, an edge out of range, k below 1, an unknown option.
        TypeError: For `edges` that are not integers.
        OutOfMemoryError: For a dense matrix that would not fit in memory.

    Example:

    >>> x = np.array([[1.0], [2.0], [3.0]], dtype="float32")
    >>> edges = np.array([[1, 0], [2, 0]])  # node 0 sees 1 and 2
    >>> layer = HGAO(4, k=2)
    >>> layer(x, edges).shape
    TensorShape([3, 4])
    >>> layer.selected(x, edges).indices.numpy().tolist()
    [[2, 1], [1, -1], [2, -1]]
    """

    def __init__(
        self,
        units: int,
        k: int = 8,
        scale: float | str | None = None,
        implementation: str = "sparse",
        projection_initializer="glorot_uniform",
        projection_regularizer=None,
        projection_constraint=None,
        **kwargs,
    ):
        super().__init__(units, scale=scale, implementation=implementation, **kwargs)
        ops.checks.check_k(k)
        self.k = int(k)
        self.projection_initializer = keras.initializers.get(projection_initializer)
        self.projection_regularizer = keras.regularizers.get(projection_regularizer)
        self.projection_constraint = keras.constraints.get(projection_constraint)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes projection [F] beside the two kernels."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.projection = self.add_weight(
            name="projection",
            shape=(x_shape[-1],),
            initializer=fresh(self.projection_initializer),
            regularizer=self.projection_regularizer,
            constraint=self.projection_constraint,
        )

    def call(self, x, edges, graph_ids=None, training=None):
        """Eqs. (4) to (10)."""
        x = self.prepare(x, edges, graph_ids, training)
        scores, _, gated = self.gate(x)
        keys, values = self.project(gated)
        return self.finish(ops.hgao(x, keys, values, scores, edges, self.k, **self.score_options))

    def gate(self, x):
        """The scores y [N], their sigmoid [N] and the gated features [N, F]: eqs. (4), (7) and (8)."""
        scores = ops.projection_scores(x, tf.cast(self.projection, x.dtype))
        gate = tf.sigmoid(scores)
        return scores, gate, x * tf.cast(gate, x.dtype)[:, None]

    def selected(self, x, edges):
        """Which neighbours each node attends to, with their gates and attention weights.

        Args:
            x: [N, F] node features, as in a call.
            edges: [E, 2] integers, as in a call.

        Returns:
            A `Selection` (indices, gate, weights), each [N, w] with w at most k.
        """
        x = tf.cast(tf.convert_to_tensor(x), self.compute_dtype)
        edges = tf.convert_to_tensor(edges)
        if not self.built:
            self.build(tuple(x.shape), tuple(edges.shape))
        self.check_inputs(x, edges)
        scores, gate, gated = self.gate(x)
        keys, _ = self.project(gated)
        indices, weights = ops.selected(x, keys, scores, edges, self.k, scale=self.scale)
        chosen = tf.gather(gate, tf.maximum(indices, 0))
        return Selection(indices, tf.where(indices >= 0, chosen, tf.zeros_like(chosen)), weights)

    def get_config(self):
        return {
            **super().get_config(),
            "k": self.k,
            "projection_initializer": keras.initializers.serialize(self.projection_initializer),
            "projection_regularizer": keras.regularizers.serialize(self.projection_regularizer),
            "projection_constraint": keras.constraints.serialize(self.projection_constraint),
        }
