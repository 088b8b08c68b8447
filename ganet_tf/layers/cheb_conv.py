"""The Chebyshev convolution."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import GraphLayer


@keras.saving.register_keras_serializable(package="ganet_tf")
class ChebConv(GraphLayer):
    """Chebyshev graph convolution (Defferrard et al. 2016): a polynomial of degree K of the graph's Laplacian.

        O = Σ_{k=0..K} T_k(L̃) X W_k + b,    L̃ = 2 L / λ_max - I,    L = I - D^-½ A D^-½
        T_0 = I,    T_1 = L̃,    T_k = 2 L̃ T_{k-1} - T_{k-2}

    K + 1 matrices, as in Kipf and Welling's `max_degree`; PyG's and Defferrard's K is the number of matrices. The sum
    is formed by Clenshaw's recurrence, K sparse products of width `units`. Cost: O(K · E · units + K · N · F · units).

    Args:
        units: Number of output channels.
        K: Degree of the polynomial, from 0 (a dense layer): how many hops away a node looks.
        lambda_max: Largest eigenvalue of L, above 0: 2, its bound, or that of your graph, which
            `ops.largest_eigenvalue(edges, num_nodes, edge_weights)` computes.
        use_bias: Whether `bias` is added; `True` here.
        implementation: `"auto"` (native kernels where they can be, else sparse ones), `"native"` or `"sparse"`.
        **kwargs: `activation`, `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same
            three for the bias, `activity_regularizer`, `dropout` (on x), `seed`, `name`, `dtype`: see
            `GraphLayer`.

    Call arguments:
        x: [N, F] node features, dense or a `tf.SparseTensor`.
        edges: [E, 2] integers, a row = (source, target), each edge in both directions.
        graph_ids: Not used; taken so that all layers are called alike.
        edge_weights: [E] floats of at least 0, the entries of A, the same in both directions; left out, 1.
        training: Whether dropout is active.

    Returns:
        [N, units].

    Raises:
        ValueError: For a wrong shape, an edge out of range, a K below 0, a `lambda_max` not above 0.
        TypeError: For `edges` that are not integers.

    Example:

    >>> x = np.array([[1.0], [5.0]], dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])  # here L̃ swaps the two nodes, and changes the sign
    >>> ChebConv(1, K=1, kernel_initializer="ones")(x, edges).numpy().ravel().tolist()
    [-4.0, 4.0]
    """

    takes_sparse = True

    def __init__(self, units, K, lambda_max=2.0, use_bias=True, implementation="auto", **kwargs):
        super().__init__(units, use_bias=use_bias, **kwargs)
        if isinstance(K, bool) or int(K) != K or K < 0:
            raise ValueError(f"`K`, the degree of the polynomial, must be a whole number of at least 0, but is {K!r}.")
        if not lambda_max > 0:
            raise ValueError(f"`lambda_max` must be above 0 (the bound is 2), but is {lambda_max!r}.")
        ops.check_implementation(implementation, ops.WITHOUT_DENSE)
        self.K = int(K)
        self.lambda_max = float(lambda_max)
        self.implementation = implementation

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes kernel_0 to kernel_K, [F, units] each."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        shape = (x_shape[-1], self.units)
        self.kernels = [self.add_kernel(f"kernel_{k}", shape) for k in range(self.K + 1)]

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        """One product with all matrices side by side, then the recurrence."""
        x = self.prepare(x, edges, graph_ids, training, edge_weights)
        kernels = tf.concat([tf.convert_to_tensor(kernel) for kernel in self.kernels], axis=1)
        products = tf.reshape(ops.features_matmul(x, kernels), [-1, self.K + 1, self.units])
        outputs = ops.chebyshev(products, edges, self.lambda_max, edge_weights, self.implementation)
        return self.finish(outputs)

    def get_config(self):
        """The constructor's arguments."""
        own = {"K": self.K, "lambda_max": self.lambda_max, "implementation": self.implementation}
        return {**super().get_config(), **own}
