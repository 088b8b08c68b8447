"""The hard graph attention operator, the first of the paper's two."""

from typing import NamedTuple

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import ScoredLayer, fresh


class Selection(NamedTuple):
    """What each node attends to, one row a node, the best-ranked neighbour first; [N, heads, w] for several heads.

    Attributes:
        indices: [N, w] int32, the chosen neighbours (the node itself among them); -1 where there are fewer.
        gate: [N, w], the gate of each chosen neighbour, sigmoid(y_j); 0 where there is none.
        weights: [N, w], the attention weights; each row sums to 1.
    """

    indices: tf.Tensor
    gate: tf.Tensor
    weights: tf.Tensor


@keras.saving.register_keras_serializable(package="ganet_tf")
class HGAO(ScoredLayer):
    """Hard graph attention operator (hGAO), eqs. (4) to (10): each node attends to its k best neighbours.

        y = |X p| / ‖p‖                                            (4)
        idx_i = the k nodes of N(i) with the largest y             (5)
        X̃ = X ∘ sigmoid(y),    K = X̃ W_K,    V = X̃ W_V            (6)-(8)
        z_i = Σ_j softmax_j(x_i · k_j) v_j over j in idx_i         (9)

    Ties in y go to the smaller node index; a node with fewer than k neighbours keeps all of them. The choice
    itself has no gradient: p learns through the gate. Cost: O(E + N · k · (F + units)) a head. Other scores and
    gates than the paper's:

        "cosine":   τ q_i · k_j / (‖q_i‖ ‖k_j‖) in the softmax,    Q = X W_Q,    τ learned, 4 at the start
        "uniform":  z_i = (1 / |idx_i|) Σ_j v_j: the hard selection alone, without W_K
        gate="double":  X̃ = X ∘ 2 sigmoid(y);    gate=None:  X̃ = X, and p stays as it was drawn
        weighted edges:  idx_i by a_ij y_j, a_ii = 1; the softmax as without

    Each of several heads has a p of its own, and so chooses for itself.

    Args:
        units: Number of output channels.
        k: How many neighbours, the node itself among them, a node attends to at most.
        scale: Factor on the scores: `None` (the paper's: none), `"sqrt"` for 1/√F, or a number.
        implementation: `"auto"` (the default: native kernels where they can be, else sparse ones), `"native"`,
            `"sparse"` or `"dense"` (the paper's: `top_k` over an [N, N] matrix).
        gate: `"sigmoid"` (the paper's), `"double"` or `None`.
        heads, concat: How many heads, each with kernels of its own and `units` channels, and whether they are
            concatenated ([N, heads · units]) or averaged ([N, units]).
        score: `"dot"` (the paper's), `"cosine"` or `"uniform"`.
        query_units: Channels of queries and keys for `score="cosine"`.
        attention_dropout: Rate at which attention weights are dropped in training. (`GAM` and the models have it
            under `attention_weights_dropout`; what they call `attention_dropout` is this layer's `dropout`.)
        projection_initializer, projection_regularizer, projection_constraint: For p.
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint` (for every kernel), the same three for the bias, `activity_regularizer`,
            `dropout` (on x), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target): the target attends to the source.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij of eq. (5); left out, 1 for every edge.
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
        implementation: str = "auto",
        projection_initializer="glorot_uniform",
        projection_regularizer=None,
        projection_constraint=None,
        gate: str | None = "sigmoid",
        **kwargs,
    ):
        super().__init__(units, scale=scale, implementation=implementation, **kwargs)
        ops.checks.check_k(k)
        ops.checks.check_choice(gate, "gate", ops.checks.GATES)
        self.k = int(k)
        self.gate = gate
        self.projection_initializer = keras.initializers.get(projection_initializer)
        self.projection_regularizer = keras.regularizers.get(projection_regularizer)
        self.projection_constraint = keras.constraints.get(projection_constraint)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes projection [F], or [heads, F], beside the kernels."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.projection = self.add_weight(
            name="projection",
            shape=(x_shape[-1],) if self.heads == 1 else (self.heads, x_shape[-1]),
            trainable=self.gate is not None,  # without a gate no gradient reaches it
            initializer=fresh(self.projection_initializer),
            regularizer=self.projection_regularizer,
            constraint=self.projection_constraint,
        )

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """Eqs. (4) to (10)."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        scores, gates = self.gates(x)
        keys, values = self.project_gated(x, gates)
        options = {**self.score_options, **self.dropout_options(training), "edge_weights": edge_weights}
        return self.finish(ops.hgao(self.queries(x), keys, values, scores, edges, self.k, **options))

    def gates(self, x):
        """The scores y of eq. (4) and the gates of eq. (7): both [N], or [N, heads] for several heads."""
        projection = tf.cast(self.projection, x.dtype)
        if self.heads == 1:
            scores = ops.projection_scores(x, projection)
        else:
            scores = tf.stack([ops.projection_scores(x, p) for p in tf.unstack(projection)], axis=1)
        return scores, ops.gate(scores, self.gate)

    def project_gated(self, x, gates):
        """Keys and values of the gated features, eq. (8)."""
        if self.gate is None:
            return self.project(x)
        gates = tf.cast(gates, x.dtype)
        if self.heads == 1:
            return self.project(x * gates[:, None])
        # A gate is one number a node and head: after the product it does what it does before.
        return tuple(None if t is None else _by_head(t, gates) for t in self.project(x))

    def selected(self, x, edges, edge_weights=None):
        """Which neighbours each node attends to, with their gates and attention weights.

        Args:
            x: [N, F] node features, as in a call.
            edges: [E, 2] integers, as in a call.
            edge_weights: [E] floats or None, as in a call.

        Returns:
            A `Selection` (indices, gate, weights), each [N, w] with w at most k; [N, heads, w] for several heads.
        """
        x = tf.cast(tf.convert_to_tensor(x), self.compute_dtype)
        edges = tf.convert_to_tensor(edges)
        if not self.built:
            self.build(tuple(x.shape), tuple(edges.shape))
        if edge_weights is not None:
            edge_weights = tf.cast(tf.convert_to_tensor(edge_weights), self.compute_dtype)
        self.check_inputs(x, edges, edge_weights=edge_weights)
        scores, gates = self.gates(x)
        keys, _ = self.project_gated(x, gates)
        options = {key: value for key, value in self.score_options.items() if key != "implementation"}
        indices, weights = ops.selected(
            self.queries(x), keys, scores, edges, self.k, edge_weights=edge_weights, **options
        )
        chosen = _at(gates, tf.maximum(indices, 0))
        return Selection(indices, tf.where(indices >= 0, chosen, tf.zeros_like(chosen)), weights)

    def get_config(self):
        return {
            **super().get_config(),
            "k": self.k,
            "gate": self.gate,
            "projection_initializer": keras.initializers.serialize(self.projection_initializer),
            "projection_regularizer": keras.regularizers.serialize(self.projection_regularizer),
            "projection_constraint": keras.constraints.serialize(self.projection_constraint),
        }


def _by_head(tensor, gates):
    """`tensor` [N, heads · D] times `gates` [N, heads]."""
    shape = tf.shape(tensor)
    parts = tf.reshape(tensor, [shape[0], gates.shape[1], tensor.shape[1] // gates.shape[1]])
    return tf.reshape(parts * gates[:, :, None], shape)


def _at(gates, indices):
    """What `gates` [N] has at `indices` [N, w]; or [N, heads] at [N, heads, w]."""
    if gates.shape.rank == 1:
        return tf.gather(gates, indices)
    found = tf.gather(tf.transpose(gates), tf.transpose(indices, [1, 0, 2]), batch_dims=1)
    return tf.transpose(found, [1, 0, 2])
