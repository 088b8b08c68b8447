"""From the nodes of a graph to one row: sum, mean and maximum."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.checks import check_shapes, check_types, check_width, shape_of


class GraphPooling(keras.layers.Layer):
    """Base of the layers that turn node features [N, F] into one row for each graph.

    A subclass gives `pooled(x, graph_ids)` and, where a row is not as wide as a node, `output_units`.

    Args:
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `name`, `dtype`, `trainable`.
    """

    def __init__(self, implementation="auto", **kwargs):
        super().__init__(**kwargs)
        ops.check_implementation(implementation, ops.WITHOUT_DENSE)
        self.implementation = implementation
        self._num_features = None
        self.supports_jit = False  # shapes change with every batch

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Checks the static shapes; a subclass adds its weights."""
        check_shapes(x_shape, edges_shape, graph_ids_shape, self.name)

    def call(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """One row for each graph; without `graph_ids` all nodes are one graph."""
        self.check_inputs(x, edges, graph_ids)
        if graph_ids is None:
            graph_ids = tf.zeros(tf.shape(x)[:1], "int32")
        return self.pooled(x, graph_ids)

    def check_inputs(self, x, edges=None, graph_ids=None):
        """Static checks that cost nothing in a step."""
        check_shapes(shape_of(x), shape_of(edges), shape_of(graph_ids), self.name)
        check_types(x, edges, graph_ids, self.name)
        check_width(shape_of(x)[-1], self._num_features, self.name)

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), "implementation": self.implementation}

    def output_units(self, num_features):
        """Channels of a graph's row, for nodes of so many."""
        return num_features

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """[N, F] -> [B, C]; how many graphs there are, only the values of graph_ids tell."""
        return (None, self.output_units(x_shape[-1]))

    def compute_output_spec(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """Checks symbolic inputs too, so that a Functional model fails where it is written."""
        self.check_inputs(x, edges, graph_ids)
        return keras.KerasTensor(self.compute_output_shape(shape_of(x)), dtype=self.compute_dtype)


@keras.saving.register_keras_serializable(package="ganet_tf")
class SumPooling(GraphPooling):
    """Sum over the nodes of each graph.

        o_g = Σ_{i in g} x_i

    A graph without nodes gets zeros. Cost: O(N · F).

    Args:
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, F] node features.
        edges: Not used; may be left out.
        graph_ids: [N] ascending integers, the graph of each node; left out, all nodes are one graph.
        edge_weights: Not used, as edges.
        training: Not used.

    Returns:
        [B, F], B the number of graphs.

    Raises:
        ValueError: For a wrong shape, `graph_ids` that are not ascending.
        TypeError: For `graph_ids` that are not integers.

    Example:

    >>> x = np.array([[1.0], [2.0], [4.0]], dtype="float32")
    >>> SumPooling()(x, graph_ids=np.array([0, 0, 1])).numpy().tolist()
    [[3.0], [4.0]]
    """

    def pooled(self, x, graph_ids):
        """The sums."""
        return ops.sum_pooling(x, graph_ids, self.implementation)


@keras.saving.register_keras_serializable(package="ganet_tf")
class MeanPooling(GraphPooling):
    """Mean over the nodes of each graph.

        o_g = (1 / n_g) Σ_{i in g} x_i

    A graph without nodes gets zeros. Cost: O(N · F).

    Args:
        implementation: As `SumPooling`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x, edges, graph_ids, edge_weights, training: As `SumPooling`.

    Returns:
        [B, F], B the number of graphs.

    Raises:
        ValueError, TypeError: As `SumPooling`.

    Example:

    >>> x = np.array([[1.0], [2.0], [4.0]], dtype="float32")
    >>> MeanPooling()(x, graph_ids=np.array([0, 0, 1])).numpy().tolist()
    [[1.5], [4.0]]
    """

    def pooled(self, x, graph_ids):
        """The means."""
        return ops.mean_pooling(x, graph_ids, self.implementation)


@keras.saving.register_keras_serializable(package="ganet_tf")
class MaxPooling(GraphPooling):
    """Maximum over the nodes of each graph, channel by channel.

        o_gc = max_{i in g} x_ic

    A graph without nodes gets zeros. Nodes that share a maximum share its gradient. Cost: O(N · F).

    Args:
        implementation: As `SumPooling`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x, edges, graph_ids, edge_weights, training: As `SumPooling`.

    Returns:
        [B, F], B the number of graphs.

    Raises:
        ValueError, TypeError: As `SumPooling`.

    Example:

    >>> x = np.array([[1.0, -1.0], [2.0, -5.0], [4.0, 0.0]], dtype="float32")
    >>> MaxPooling()(x, graph_ids=np.array([0, 0, 1])).numpy().tolist()
    [[2.0, -1.0], [4.0, 0.0]]
    """

    def pooled(self, x, graph_ids):
        """The maxima."""
        return ops.max_pooling(x, graph_ids, self.implementation)
