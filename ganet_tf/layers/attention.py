"""What the attention layers share: the key and value matrices, the scale and the choice of implementation."""

import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer
from ganet_tf.layers.checks import check_scale


class AttentionLayer(GraphLayer):
    """Base of the attention layers: keys are x W_K, values x W_V, and queries x itself.

    Args:
        units: Number of output channels.
        scale: Factor on the scores e_ij before the softmax: `None` (the paper's: none), `"sqrt"` for
            1/√F, or a number.
        implementation: `"sparse"` (neighbour lists, the default) or `"dense"` (the paper's [N, N] matrices).
        **kwargs: See `GraphLayer`.
    """

    scale_names = ("sqrt",)

    def __init__(self, units, scale=None, implementation="sparse", **kwargs):
        super().__init__(units, **kwargs)
        ops.checks.check_implementation(implementation)
        self.scale = check_scale(scale, self.scale_names)
        self.implementation = implementation

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes key_kernel [F, key width] and value_kernel [F, units]."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        self.key_kernel = self.add_kernel("key_kernel", (x_shape[-1], self.key_width(x_shape[-1])))
        self.value_kernel = self.add_kernel("value_kernel", (x_shape[-1], self.units))

    def key_width(self, num_features):
        """Channels of a key: those of the query, which is x itself, so that W_K is square."""
        return num_features

    def project(self, x):
        """Keys x W_K and values x W_V."""
        # The casts matter only outside of a Keras call (HGAO.selected): inside, Keras has cast the weights.
        keys = tf.matmul(x, tf.cast(self.key_kernel, x.dtype))
        return keys, tf.matmul(x, tf.cast(self.value_kernel, x.dtype))

    @property
    def score_options(self):
        """The keyword arguments that every attention function of `ops` takes."""
        return {"scale": self.scale, "implementation": self.implementation}

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), "scale": self.scale, "implementation": self.implementation}
