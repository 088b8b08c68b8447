"""Which way an operator is computed, and the neighbour lists of the native way, made once and shared by every layer.

    "native"   kernels of `ganet_tf.native`, compiled C++ for CPUs
    "sparse"   TensorFlow's own kernels on neighbour lists and CSR matrices
    "dense"    the paper's [N, N] matrices
    "auto"     "native" where that is possible, else "sparse"

All give the same numbers but for rounding. (Attention weights that are dropped are others under "native", though as
many, and the same ones for the same seed.)
"""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.checks import check_choice, check_edge_weights, check_edges
from ganet_tf.ops.tensor_cache import TensorCache, cached

IMPLEMENTATIONS = ("auto", "native", "sparse", "dense")
WITHOUT_DENSE = IMPLEMENTATIONS[:3]


def check_implementation(implementation: str, choices: tuple = IMPLEMENTATIONS) -> None:
    """`implementation` must be one of `choices`."""
    check_choice(implementation, "implementation", choices)


def chosen(implementation: str, *tensors: tf.Tensor, choices: tuple = IMPLEMENTATIONS) -> str:
    """ "native", "sparse" or "dense": what `implementation` comes to here, for floating `tensors`.

    Where native kernels must not be (`native.unwelcome`: a model that is exported, XLA), it is never "native".

    Raises:
        ValueError: For another word.
        RuntimeError: For "native" where there are no native kernels, with the reason.
    """
    check_implementation(implementation, choices)
    if implementation == "auto":
        return "native" if native.usable(*tensors) else "sparse"
    if implementation != "native":
        return implementation
    if not (found := native.available()):
        raise RuntimeError(f'implementation="native" is not possible here: {found} Use "auto" or "sparse".')
    return "sparse" if native.unwelcome() else "native"


def neighbor_lists(edges: tf.Tensor, num_nodes: tf.Tensor, edge_weights: tf.Tensor | None = None) -> native.Lists:
    """The `native.Lists` of a graph: kept on `edges` (on `edge_weights`, where there are some), or made now.

    Bad edges are told as `neighborhood` does; in a compiled step the kernel looks at them, and names the row.
    """
    if edge_weights is None:
        return cached(_Lists, edges, num_nodes).lists
    return cached(_WeightedLists, edge_weights, tf.convert_to_tensor(edges), num_nodes).lists


class _Lists(TensorCache):
    def __init__(self, edges, num_nodes, edge_weights=None):
        super().__init__()
        self._num_nodes = tf.get_static_value(num_nodes)
        check_edges(edges, num_nodes, compiled=False)
        self.lists = native.lists(edges, num_nodes, edge_weights)

    def usable(self, num_nodes):
        """Whether this can serve here: made in the same graph (or eagerly) for as many nodes."""
        asked = tf.get_static_value(num_nodes)
        return super().usable() and (self._num_nodes is None or asked is None or self._num_nodes == asked)


class _WeightedLists(_Lists):
    def __init__(self, edge_weights, edges, num_nodes):
        self._edges = edges
        with tf.control_dependencies(check_edge_weights(edge_weights, edges)):
            super().__init__(edges, num_nodes, tf.stop_gradient(edge_weights))

    def usable(self, edges, num_nodes):
        """Whether this was made here, for the same edges."""
        return super().usable(num_nodes) and self._edges is edges
