"""DGCNN's sort pooling: from node features to a table of fixed size for each graph."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.checks import check_shapes, check_types, shape_of


@keras.saving.register_keras_serializable(package="ganet_tf")
class SortPooling(keras.layers.Layer):
    """Sort pooling (Zhang et al. 2018), which section 4.2 keeps: the k first nodes of each graph, in order.

    The nodes of a graph are sorted by their last channel, the largest first (ties: the smaller node index);
    k are kept, and a graph with fewer nodes is filled up with zeros at the end. The zeros rank below every
    node, also where the last channel is negative. Cost: O(N · log N + B · k · C).

    Args:
        k: How many nodes of each graph are kept.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, C] node features.
        edges: Not used; may be left out.
        graph_ids: [N] ascending integers, the graph of each node; left out, all nodes are one graph.
        edge_weights: Not used, as edges.
        training: Not used.

    Returns:
        [B, k, C], B the number of graphs.

    Raises:
        ValueError: For k below 1, a wrong shape, `graph_ids` that are not ascending.
        TypeError: For `graph_ids` that are not integers.

    Example:

    >>> x = np.array([[-3.0], [-1.0], [-2.0], [5.0]], dtype="float32")
    >>> pooled = SortPooling(k=2)(x, graph_ids=np.array([0, 0, 0, 1]))
    >>> pooled.numpy()[..., 0].tolist()
    [[-1.0, -2.0], [5.0, 0.0]]
    """

    def __init__(self, k: int, **kwargs):
        super().__init__(**kwargs)
        ops.checks.check_k(k)
        self.k = int(k)
        self.supports_jit = False

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Checks the static shapes: there are no weights."""
        check_shapes(x_shape, edges_shape, graph_ids_shape, self.name)

    def call(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        self.check_inputs(x, edges, graph_ids)
        if graph_ids is None:
            graph_ids = tf.zeros(tf.shape(x)[:1], "int32")
        return ops.sort_pooling(x, graph_ids, self.k)

    def check_inputs(self, x, edges=None, graph_ids=None):
        """Static checks that cost nothing in a step."""
        check_shapes(shape_of(x), shape_of(edges), shape_of(graph_ids), self.name)
        check_types(x, edges, graph_ids, self.name)

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """[N, C] -> [B, k, C]; how many graphs there are, only the values of graph_ids tell."""
        return (None, self.k, x_shape[-1])

    def compute_output_spec(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """Checks symbolic inputs too, so that a Functional model fails where it is written."""
        self.check_inputs(x, edges, graph_ids)
        return keras.KerasTensor(self.compute_output_shape(shape_of(x)), dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "k": self.k}
