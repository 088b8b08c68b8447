"""Argument checks shared by the operators.

Rank, dtype and static shape are checked on every call, at trace time in graph mode, where they cost nothing.
Values (edges in range, `graph_ids` ascending) are checked eagerly; in graph mode only after
`debug_checks(True)`, because they would cost time on every step.
"""

import numpy as np
import tensorflow as tf

from ganet_tf.spelling import closest

_debug = False

IMPLEMENTATIONS = ("sparse", "dense")
NORMALIZATIONS = ("sym", "row", None)
SCORES = ("dot", "cosine", "uniform")
GATES = ("sigmoid", "double", None)


def debug_checks(enabled: bool = True) -> bool:
    """Switch value checks inside `tf.function` (and so inside `fit`) on or off. Returns the setting before.

    Functions that were traced already keep what they were traced with.
    """
    global _debug
    before, _debug = _debug, bool(enabled)
    return before


def check_edges(edges: tf.Tensor, num_nodes: tf.Tensor) -> list:
    """`edges` must be an integer [edges, 2] tensor of (source, target) pairs below `num_nodes`.

    Returns the checks to depend on in graph mode, an empty list where there are none.
    """
    shape = edges.shape
    if shape.rank is not None and (shape.rank != 2 or shape[1] not in (None, 2)):
        hint = ": transpose it" if shape.rank == 2 and shape[0] == 2 else ""
        raise ValueError(
            f"`edges` must have shape [edges, 2], a row = (source, target), but has {_shape(edges)}{hint}."
        )
    if not edges.dtype.is_integer:
        raise TypeError(f"`edges` must be integers (int32), but is {edges.dtype.name}.")
    if _has_values(edges, num_nodes):
        _check_edge_values(edges.numpy(), int(tf.get_static_value(num_nodes)))
        return []
    if not _debug:
        return []
    in_range = tf.reduce_all((edges >= 0) & (tf.cast(edges, tf.int32) < num_nodes))
    return [tf.debugging.Assert(in_range, ["`edges` names a node outside 0 .. number of nodes - 1:", num_nodes])]


def _check_edge_values(edges, num_nodes):
    if edges.size and not (edges.min() >= 0 and edges.max() < num_nodes):
        bad = int(np.flatnonzero(((edges < 0) | (edges >= num_nodes)).any(1))[0])
        raise ValueError(
            f"`edges` row {bad} is {edges[bad].tolist()}, but `x` has {num_nodes} nodes: "
            f"node numbers must be 0 to {num_nodes - 1}."
        )


def check_graph_ids(graph_ids: tf.Tensor, num_nodes: tf.Tensor) -> list:
    """`graph_ids` must be an integer [nodes] tensor, ascending from 0. Returns checks as `check_edges` does."""
    if graph_ids.shape.rank is not None and graph_ids.shape.rank != 1:
        raise ValueError(f"`graph_ids` must have shape [nodes], but has {_shape(graph_ids)}.")
    if not graph_ids.dtype.is_integer:
        raise TypeError(f"`graph_ids` must be integers (int32), but is {graph_ids.dtype.name}.")
    if _has_values(graph_ids, num_nodes):
        _check_graph_id_values(graph_ids.numpy(), int(tf.get_static_value(num_nodes)))
        return []
    if not _debug:
        return []
    ascending = tf.reduce_all(graph_ids[1:] >= graph_ids[:-1]) & tf.equal(tf.shape(graph_ids)[0], num_nodes)
    return [tf.debugging.Assert(ascending, ["`graph_ids` must be ascending, one number for each node."])]


def _check_graph_id_values(graph_ids, num_nodes):
    if len(graph_ids) != num_nodes:
        raise ValueError(f"`graph_ids` has {len(graph_ids)} entries, but `x` has {num_nodes} nodes.")
    steps = np.diff(graph_ids)
    if (steps < 0).any() or (len(graph_ids) and graph_ids[0] < 0):
        bad = int(np.flatnonzero(steps < 0)[0]) + 1 if (steps < 0).any() else 0
        raise ValueError(
            f"`graph_ids` must be ascending from 0, but entry {bad} is {graph_ids[bad]}"
            + (f" after {graph_ids[bad - 1]}" if bad else "")
            + ": put the nodes of one graph next to each other."
        )


def check_edge_weights(edge_weights: tf.Tensor, edges: tf.Tensor) -> list:
    """`edge_weights` must be an [edges] tensor of floats, finite and not negative. Returns checks as `check_edges`."""
    if not edge_weights.shape.is_compatible_with(edges.shape[:1]):
        raise ValueError(
            f"`edge_weights` must have shape [edges], one number for each of the {edges.shape[0]} rows of `edges`, but "
            f"has {_shape(edge_weights)}."
        )
    if not edge_weights.dtype.is_floating:
        raise TypeError(f"`edge_weights` must be floating point (float32), but is {edge_weights.dtype.name}.")
    text = "must be finite and at least 0: leave out an edge that is not there."
    if isinstance(edge_weights, tf.__internal__.EagerTensor):
        weights = edge_weights.numpy()
        if (bad := np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))).size:
            raise ValueError(f"`edge_weights` entry {bad[0]} is {weights[bad[0]]}, but weights {text}")
        return []
    if not _debug:
        return []
    right = tf.reduce_all(tf.math.is_finite(edge_weights) & (edge_weights >= 0))
    return [tf.debugging.Assert(right, [f"`edge_weights` {text}"])]


def check_k(k: int) -> None:
    """`k`, a number of nodes to keep, must be a whole number of at least 1."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"`k` must be an int, but is {k!r} ({type(k).__name__}).")
    if k < 1:
        raise ValueError(f"`k` must be at least 1, but is {k}.")


def check_choice(value, name: str, choices: tuple) -> None:
    """`value` must be one of `choices`; the nearest one is named otherwise."""
    if value not in choices:
        near = closest(value, [c for c in choices if c is not None], 0.6)
        hint = f" Did you mean {near!r}?" if near else ""
        raise ValueError(f"`{name}` must be one of {', '.join(map(repr, choices))}, but is {value!r}.{hint}")


def check_implementation(implementation: str) -> None:
    """`implementation` must be "sparse" or "dense"."""
    check_choice(implementation, "implementation", IMPLEMENTATIONS)


def _has_values(tensor, num_nodes):
    """Whether the values are there to look at: an eager tensor, and a number of nodes that is known."""
    return isinstance(tensor, tf.__internal__.EagerTensor) and tf.get_static_value(num_nodes) is not None


def _shape(tensor):
    return tuple(tensor.shape.as_list()) if tensor.shape.rank is not None else "an unknown shape"
