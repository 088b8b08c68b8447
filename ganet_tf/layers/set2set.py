"""Set2Set: a readout with an LSTM."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import fresh
from ganet_tf.layers.checks import check_units
from ganet_tf.layers.pooling import GraphPooling


@keras.saving.register_keras_serializable(package="ganet_tf")
class Set2Set(GraphPooling):
    """Set2Set (Vinyals et al. 2016): an LSTM asks the nodes of a graph, T times, and reads a weighted mean of them.

        q_t = LSTM(q*_{t-1}),    a_i = softmax_{i in g}(x_i · q_t),    r_t = Σ_{i in g} a_i x_i,    q*_t = [q_t, r_t]

    q*_0 = 0; the output is q*_T. The order of the nodes does not matter. Cost: O(T · (N · F + B · F²)).

    Args:
        steps: T, how often the nodes are asked.
        kernel_initializer, recurrent_initializer, bias_initializer: Of the LSTM's weights.
        unit_forget_bias: Whether 1 is added to the initial bias of the forget gate, as Keras does.
        kernel_regularizer: For both matrices of the LSTM.
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, F] node features.
        edges: Not used; may be left out.
        graph_ids: [N] ascending integers, the graph of each node; left out, all nodes are one graph.
        training: Not used.

    Returns:
        [B, 2F], B the number of graphs: q_T, then r_T.

    Raises:
        ValueError: For `steps` below 1, a wrong shape, `graph_ids` that are not ascending.
        TypeError: For `graph_ids` that are not integers.

    Example:

    >>> x = np.array([[1.0], [3.0], [7.0]], dtype="float32")
    >>> same = Set2Set(steps=2, kernel_initializer="zeros", recurrent_initializer="zeros")  # every query is 0
    >>> same(x, graph_ids=np.array([0, 0, 1])).numpy().tolist()
    [[0.0, 2.0], [0.0, 7.0]]
    """

    def __init__(
        self,
        steps=4,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.steps = check_units(steps, "steps")
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.unit_forget_bias = unit_forget_bias
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes the LSTM's kernel [2F, 4F], recurrent_kernel [F, 4F] and bias [4F]."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        width = self._num_features = x_shape[-1]
        matrix = {"regularizer": self.kernel_regularizer}
        self.kernel = self.add_weight(
            name="kernel", shape=(2 * width, 4 * width), initializer=fresh(self.kernel_initializer), **matrix
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel", shape=(width, 4 * width), initializer=fresh(self.recurrent_initializer), **matrix
        )
        self.bias = self.add_weight(name="bias", shape=(4 * width,), initializer=self._initial_bias)

    def _initial_bias(self, shape, dtype=None):
        bias = tf.convert_to_tensor(self.bias_initializer(shape, dtype=dtype))
        forget = tf.repeat(tf.constant([0.0, 1.0, 0.0, 0.0], bias.dtype), shape[0] // 4)
        return bias + forget if self.unit_forget_bias else bias

    def pooled(self, x, graph_ids):
        """The last query and what it read."""
        weights = (tf.cast(w, x.dtype) for w in (self.kernel, self.recurrent_kernel, self.bias))
        return ops.set2set(x, graph_ids, *weights, self.steps, self.implementation)

    def output_units(self, num_features):
        """A query and a mean, each as wide as a node."""
        return 2 * num_features

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "steps": self.steps,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(self.recurrent_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "unit_forget_bias": self.unit_forget_bias,
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
        }
