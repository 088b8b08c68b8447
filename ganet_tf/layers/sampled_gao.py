"""Hard attention by sampling, as Xu et al. (2015) have it, on a graph."""

import keras

from ganet_tf import ops
from ganet_tf.layers.base import AttentionLayer
from ganet_tf.layers.dropout import SavesSeed, next_seed


@keras.saving.register_keras_serializable(package="ganet_tf")
class SampledGAO(SavesSeed, AttentionLayer):
    """Sampled hard attention, eq. (2) on a graph: each node takes the value of one neighbour.

        e_ij = x_i · k_j for j in N(i),    K = X W_K,    V = X W_V
        training:   o_i = v_j with j drawn from softmax_j(e_ij)
        inference:  o_i = v_j with j = argmax_j e_ij (ties: the smaller node index)

    The draw is a straight-through Gumbel-softmax: one neighbour forward, the softmax of (e + noise) /
    `temperature` in the gradient. The paper says that nobody had realised this operator: it needs all scores
    before one neighbour is drawn. Cost: O(E · F + N · units).

    Args:
        units: Number of output channels.
        temperature: Of the Gumbel-softmax; lower is closer to the draw and has noisier gradients.
        scale: Factor on e_ij: `None` (none), `"sqrt"` for 1/√F, or a number.
        implementation: `"sparse"`, which `"auto"` and `"native"` are as well (there is no native kernel), or
            `"dense"` ([N, N] matrices).
        **kwargs: `activation`, `use_bias` (False), `kernel_initializer`, `kernel_regularizer`,
            `kernel_constraint` (for both kernels), the same three for the bias, `activity_regularizer`,
            `dropout` (on x), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target): the target attends to the source.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, a_ij e_ij in the place of e_ij, as in GAO; left out, 1 for every edge.
        training: Whether a neighbour is drawn and dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape, an edge out of range, a temperature of 0 or below.
        TypeError: For `edges` that are not integers.
        OutOfMemoryError: For a dense matrix that would not fit in memory.

    Example:

    >>> x = np.array([[1.0], [2.0], [3.0]], dtype="float32")
    >>> edges = np.array([[1, 0], [2, 0]])  # node 0 sees 1 and 2
    >>> SampledGAO(1, kernel_initializer="identity")(x, edges).numpy().tolist()
    [[3.0], [2.0], [3.0]]
    """

    has_native = False

    def __init__(
        self,
        units: int,
        temperature: float = 1.0,
        scale: float | str | None = None,
        implementation: str = "auto",
        **kwargs,
    ):
        super().__init__(units, scale=scale, implementation=implementation, **kwargs)
        if isinstance(temperature, str) or not temperature > 0:
            raise ValueError(f"`temperature` must be a number above 0, but is {temperature!r}.")
        self.temperature = float(temperature)
        self.seed_generator = keras.random.SeedGenerator(self.seed)

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """Draws a neighbour in training, takes the most probable one otherwise."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        keys, values = self.project(x)
        seed = next_seed(self.seed_generator) if training else None
        options = {**self.score_options, "edge_weights": edge_weights}
        outputs = ops.sampled_gao(x, keys, values, edges, temperature=self.temperature, noise_seed=seed, **options)
        return self.finish(outputs)

    def get_config(self):
        return {**super().get_config(), "temperature": self.temperature}
