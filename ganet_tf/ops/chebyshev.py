"""Chebyshev polynomials of a graph's Laplacian (Defferrard et al., 2016), by Clenshaw's recurrence."""

import numpy as np
import tensorflow as tf

from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.neighbor_sum import neighbors
from ganet_tf.ops.precision import in_float32


@in_float32
def chebyshev(coefficients, edges, lambda_max=2.0, edge_weights=None, implementation="auto"):
    """Σ_k T_k(L̃) C_k with L̃ = 2 L / λ_max - I and L = I - D^-½ A D^-½.

    Clenshaw needs K products with L̃ of the width of C_k, and never forms T_k(L̃) X, which is as wide as X:

        B_k = C_k + 2 L̃ B_{k+1} - B_{k+2},    the sum = C_0 + L̃ B_1 - B_2

    Args:
        coefficients: [N, K + 1, C], C_0 to C_K for each node.
        edges: [E, 2] (source, target), both directions of each edge; D counts them, without the node itself.
        lambda_max: largest eigenvalue of L; it is never above 2.
        edge_weights: [E], the entries of A, which D sums; None is 1 for every edge.
        implementation: "auto", "native" or "sparse": see `implementations`.

    Returns:
        [N, C].
    """
    graph = neighbors(edges, tf.shape(coefficients)[0], chosen(implementation, coefficients), edge_weights)
    counts = graph.counts(coefficients.dtype)
    some = tf.where(counts > 0, counts, 1)
    scale = tf.where(counts > 0, tf.math.rsqrt(some), 0)  # a lone node has L_ii = 1
    factor = tf.constant(2.0 / lambda_max, coefficients.dtype)

    def scaled_laplacian(h):
        return (factor - 1) * h - factor * scale * graph.sum(scale * h)

    terms = tf.unstack(coefficients, axis=1)
    later, next_one = None, terms[-1]  # B_{k+2} and B_{k+1}
    for k in range(len(terms) - 2, -1, -1):
        product = scaled_laplacian(next_one)
        current = terms[k] + (2 * product if k else product)
        later, next_one = next_one, current if later is None else current - later
    return next_one


def largest_eigenvalue(edges, num_nodes, edge_weights=None):
    """λ_max of L = I - D^-½ A D^-½, for `lambda_max`; computed once for a data set, outside of any model.

    It is 2 where a connected part of the graph is bipartite, and below 2 elsewhere.

    Args:
        edges: array [E, 2], both directions of each edge.
        num_nodes: N.
        edge_weights: array [E], the entries of A; None is 1 for every edge.

    Returns:
        A float.
    """
    from scipy.sparse import coo_matrix, identity
    from scipy.sparse.linalg import eigsh

    source, target = np.asarray(edges).T
    weights = np.ones(len(target)) if edge_weights is None else np.asarray(edge_weights, float)
    degrees = np.bincount(target, weights, minlength=num_nodes)
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(num_nodes), where=degrees > 0)
    adjacency = coo_matrix((weights * scale[source] * scale[target], (target, source)), shape=(num_nodes, num_nodes))
    laplacian = identity(num_nodes) - adjacency.tocsr()
    if num_nodes < 16:  # too small for the iteration
        return float(np.linalg.eigvalsh(laplacian.toarray())[-1])
    start = np.random.default_rng(0).normal(size=num_nodes)  # ARPACK's own is another in every process
    return float(eigsh(laplacian, 1, which="LA", v0=start, return_eigenvectors=False)[0])
