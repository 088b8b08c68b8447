"""DiffPool: a graph of many nodes into one of few clusters."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer
from ganet_tf.layers.checks import check_shapes, check_units, shape_of


@keras.saving.register_keras_serializable(package="ganet_tf")
class DiffPool(GraphLayer):
    """Differentiable pooling (Ying et al. 2018): each graph becomes one of c nodes, joined by weighted edges.

        S = softmax(H W + b) [n, c],    X' = Sᵀ X [c, F],    A' = Sᵀ A S [c, c]

    H is what the assignment is made of, X itself if nothing else is given. A' is dense, weighted and not normalised:
    its entries sum to the number of (directed) edges, or to their weights. Two losses are added to the model's, the
    mean over graphs of

        link:     ‖A - S Sᵀ‖²_F / n²    (neighbours belong together; from Sᵀ A S and Sᵀ S, no [n, n] matrix)
        entropy:  (1/n) Σ_i H(S_i)      (a node belongs to one cluster)

    Cost: O(E · c + N · c · (F + c)) time, O(N · (F + c) + B · c · (F + c)) memory.

    Args:
        clusters: c, the same for every graph; the original takes a tenth of the largest graph's nodes.
        link_weight: Of the link loss. The paper's norm is not squared; here it is the mean over all pairs.
        entropy_weight: Of the entropy.
        use_bias: Whether `bias` is added to the assignment's scores; `True` here.
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same three for the bias,
            `dropout` (on H), `seed`, `name`, `dtype`: see `GraphLayer`.

    Call arguments:
        x: [N, F] node features, what is pooled.
        edges: [E, 2] integers, a row = (source, target).
        graph_ids: [N] ascending integers, the graph of each node; left out, all nodes are one graph.
        edge_weights: [E] floats of at least 0, the entries of A; left out, 1 for every edge.
        assignment: [N, C] H, what the clusters are chosen by; left out, x.
        training: Whether dropout is active.

    Returns:
        X' [B, c, F] and A' [B, c, c], B the number of graphs; `DenseSAGEConv` goes on from there.

    Raises:
        ValueError: For `clusters` below 1, a wrong shape, an edge out of range, `graph_ids` that are not ascending.
        TypeError: For `edges` or `graph_ids` that are not integers.

    Example:

    >>> x = np.array([[1.0], [2.0], [4.0]], dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> pooled, adjacency = DiffPool(2, kernel_initializer="zeros")(x, edges)  # every node half in each cluster
    >>> pooled.numpy().tolist(), adjacency.numpy().tolist()
    ([[[3.5], [3.5]]], [[[0.5, 0.5], [0.5, 0.5]]])
    """

    def __init__(self, clusters, link_weight=1.0, entropy_weight=1.0, use_bias=True, implementation="auto", **kwargs):
        super().__init__(check_units(clusters, "clusters"), use_bias=use_bias, **kwargs)
        ops.check_implementation(implementation, ops.WITHOUT_DENSE)
        self.clusters = self.units
        self.implementation = implementation
        self.link_weight = float(link_weight)
        self.entropy_weight = float(entropy_weight)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None, assignment_shape=None):
        """Makes kernel [C, clusters], C the width of what clusters are chosen by."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        width = (assignment_shape or x_shape)[-1]
        self.kernel = self.add_kernel("kernel", (width, self.clusters))

    def call(self, x, edges, graph_ids=None, edge_weights=None, *, assignment=None, training=None):
        """Pools, and adds the two losses."""
        self.check_inputs(x, edges, graph_ids, edge_weights, assignment)
        if graph_ids is None:
            graph_ids = tf.zeros(tf.shape(x)[:1], "int32")
        h = self._drop(x if assignment is None else assignment, training=training)
        logits = self.finish(tf.matmul(h, self.kernel))
        pooled = ops.diff_pool(x, logits, edges, graph_ids, edge_weights, self.implementation)
        for weight, losses in ((self.link_weight, pooled.link_loss), (self.entropy_weight, pooled.entropy)):
            if weight:
                self.add_loss(weight * _mean(losses))
        return pooled.x, pooled.adjacency

    def check_inputs(self, x, edges=None, graph_ids=None, edge_weights=None, assignment=None):
        """Static checks that cost nothing in a step."""
        super().check_inputs(x, edges, graph_ids, edge_weights)
        if assignment is not None:
            check_shapes(shape_of(assignment), None, shape_of(x)[:1], f"{self.name}: assignment")

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None, assignment_shape=None):
        """[N, F] -> [B, c, F] and [B, c, c]."""
        return (None, self.clusters, x_shape[-1]), (None, self.clusters, self.clusters)

    def compute_output_spec(self, x, edges=None, graph_ids=None, edge_weights=None, *, assignment=None, training=None):
        """Checks symbolic inputs too, so that a Functional model fails where it is written."""
        self.check_inputs(x, edges, graph_ids, edge_weights, assignment)
        shapes = self.compute_output_shape(shape_of(x))
        return tuple(keras.KerasTensor(shape, dtype=self.compute_dtype) for shape in shapes)

    def get_config(self):
        """The constructor's arguments."""
        config = super().get_config()
        config.pop("units")
        config.pop("activation")  # it is the softmax
        own = {"clusters": self.clusters, "link_weight": self.link_weight, "entropy_weight": self.entropy_weight}
        return {**config, **own, "implementation": self.implementation}


def _mean(losses):
    """The mean over graphs, in float32 at least; 0 without graphs."""
    losses = tf.cast(losses, "float32") if losses.dtype in (tf.float16, tf.bfloat16) else losses
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.cast(tf.size(losses), losses.dtype))
