"""The Chebyshev network of Kipf and Welling's table: a baseline for nodes."""

import keras

from ganet_tf import layers
from ganet_tf.models.base import GraphModel, as_logits, take_nodes
from ganet_tf.models.gcn import KIPF_L2


@keras.saving.register_keras_serializable(package="ganet_tf")
class Chebyshev(GraphModel):
    """Chebyshev network (Defferrard et al. 2016) for nodes, as Kipf and Welling compared with it: two convolutions.

        O = Σ_k T_k(L̃) ReLU(Σ_k T_k(L̃) X W_k) V_k,    k = 0..K

    Args:
        num_classes: Number of classes.
        K: Degree of the polynomials: K + 1 matrices in each convolution.
        lambda_max: Largest eigenvalue of the graph's Laplacian; see `ops.largest_eigenvalue`. Theirs is computed:
            2.0000 for Cora and Citeseer, 1.9855 for Pubmed.
        units: Hidden channels.
        activation: Between the two.
        use_bias: Whether the convolutions have a bias; theirs have none.
        dropout: On the features that enter each convolution.
        kernel_initializer: For all matrices.
        kernel_regularizer: For the matrices of the first convolution only, as theirs; their 5e-4 is L2(2.5e-4) in
            Keras's terms.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        implementation: `"auto"`, `"native"` or `"sparse"`: see `ChebConv`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if wanted, `nodes` [n], the nodes to put out,
            and `edge_weights` [E] if edges have weights.
        training: Whether dropout is active.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, or an option out of range.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> Chebyshev(num_classes=4, K=2)({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    """

    optional = ("graph_ids", "nodes", "edge_weights")

    def __init__(
        self,
        num_classes,
        K=2,
        lambda_max=2.0,
        units=16,
        activation="relu",
        use_bias=False,
        dropout=0.5,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=KIPF_L2,
        num_features=None,
        implementation="auto",
        **kwargs,
    ):
        shared = {
            "K": K,
            "lambda_max": lambda_max,
            "use_bias": use_bias,
            "dropout": dropout,
            "implementation": implementation,
            "kernel_initializer": kernel_initializer,
        }
        first = {"activation": activation, "kernel_regularizer": kernel_regularizer}
        own = {"num_classes": num_classes, "units": units, "num_features": num_features}
        super().__init__({**own, **first, **shared}, **kwargs)
        shared["dtype"] = self.dtype_policy
        self.hidden = layers.ChebConv(units, name="hidden", **first, **shared)
        self.out = layers.ChebConv(num_classes, name="out", **shared)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds both layers."""
        self.hidden.build(x_shape, edges_shape, graph_ids_shape)
        self.out.build((None, self.units), edges_shape, graph_ids_shape)

    def call(self, inputs, training=None):
        """Class scores of every node, then those asked for."""
        x, edges, _, nodes = self.unpack(inputs)
        weights = inputs.get("edge_weights")
        x = self.hidden(x, edges, edge_weights=weights, training=training)
        return as_logits(take_nodes(self.out(x, edges, edge_weights=weights, training=training), nodes))

    def compute_output_shape(self, input_shape):
        """[n, num_classes]."""
        return (None, self.num_classes)
