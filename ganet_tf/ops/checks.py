"""Argument checks shared by the operators.

Rank, dtype and static shape are checked on every call, at trace time in graph mode, where they cost nothing. Values
(edges in range, `graph_ids` ascending, edge weights of at least 0) are checked in compiled steps as well: one pass
over them, well below a hundredth of a training step. Eagerly, and after `debug_checks(True)`, an error names the row.
"""

import numpy as np
import tensorflow as tf

from ganet_tf.spelling import closest

_debug = False

NORMALIZATIONS = ("sym", "row", None)
SCORES = ("dot", "cosine", "uniform")
GATES = ("sigmoid", "double", None)
EMPTY_GRAPHS = 2**16

_NODES = "only so many nodes:"
_ADVICE = "(to see the row: call it outside of tf.function, or ops.debug_checks(True) before it is traced)"


def debug_checks(enabled: bool = True) -> bool:
    """Let errors inside `tf.function` (and so inside `fit`) name the row that is wrong. Returns the setting before.

    That something is wrong is noticed in any case; looking for the row costs time on every step. Functions that were
    traced already keep what they were traced with.
    """
    global _debug
    before, _debug = _debug, bool(enabled)
    return before


def check_edges(edges: tf.Tensor, num_nodes: tf.Tensor, compiled: bool = True) -> list:
    """`edges` must be an integer [edges, 2] tensor of (source, target) pairs below `num_nodes`.

    Returns the checks to depend on in graph mode, an empty list where there are none; never any if not `compiled`, for
    kernels that look at the values themselves.
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
    if not compiled:
        return []
    numbers = _unsigned(edges)
    limit = tf.cast(num_nodes, numbers.dtype)
    largest = tf.reduce_max(numbers)
    found = ["`edges` names the node", _as_given(largest, edges), f"but `x` has {_NODES}", num_nodes]
    if _debug:
        row = tf.argmax(tf.reduce_any(numbers >= limit, axis=1))
        found = ["`edges` row", row, "is", edges[row : row + 1], f"but `x` has {_NODES}", num_nodes]
    return [_assertion((largest < limit) | tf.equal(tf.size(edges), 0), found)]


def _check_edge_values(edges, num_nodes):
    if edges.size and not (edges.min() >= 0 and edges.max() < num_nodes):
        bad = int(np.flatnonzero(((edges < 0) | (edges >= num_nodes)).any(1))[0])
        raise ValueError(
            f"`edges` row {bad} is {edges[bad].tolist()}, but `x` has {num_nodes} nodes: "
            f"node numbers must be 0 to {num_nodes - 1}."
        )


def check_graph_ids(graph_ids: tf.Tensor, num_nodes: tf.Tensor, compiled: bool = True) -> list:
    """`graph_ids` must be an integer [nodes] tensor, ascending from 0. Returns checks as `check_edges` does.

    Numbers may be left out (graphs without nodes), but not more than `EMPTY_GRAPHS`: one wild number would otherwise
    take all the memory there is.
    """
    if graph_ids.shape.rank is not None and graph_ids.shape.rank != 1:
        raise ValueError(f"`graph_ids` must have shape [nodes], but has {_shape(graph_ids)}.")
    if not graph_ids.dtype.is_integer:
        raise TypeError(f"`graph_ids` must be integers (int32), but is {graph_ids.dtype.name}.")
    if _has_values(graph_ids, num_nodes):
        _check_graph_id_values(graph_ids.numpy(), int(tf.get_static_value(num_nodes)))
        return []
    if not compiled:
        return []
    wide = tf.cast(graph_ids, tf.int64)
    steps = wide[1:] >= wide[:-1]
    ends = tf.concat([wide[:1], wide[-1:]], 0)  # of no node: none
    in_range = (ends >= 0) & (ends < tf.cast(num_nodes, tf.int64) + EMPTY_GRAPHS)
    length = tf.shape(graph_ids)[0]
    fine = tf.reduce_all(steps) & tf.reduce_all(in_range) & tf.equal(length, num_nodes)
    found = ["`graph_ids` must be ascending from 0, one number for each of", num_nodes, "nodes, but has", length]
    found += ["entries from", ends[:1], "to", ends[1:]]
    if _debug:
        found += ["and the first entry below the one before it is", tf.argmin(tf.cast(steps, tf.int32)) + 1]
    return [_assertion(fine, found)]


def _check_graph_id_values(graph_ids, num_nodes):
    if len(graph_ids) != num_nodes:
        raise ValueError(f"`graph_ids` has {len(graph_ids)} entries, but `x` has {num_nodes} nodes.")
    falls = np.flatnonzero(graph_ids[1:] < graph_ids[:-1])
    if len(falls) or (len(graph_ids) and graph_ids[0] < 0):
        bad = int(falls[0]) + 1 if len(falls) else 0
        raise ValueError(
            f"`graph_ids` must be ascending from 0, but entry {bad} is {graph_ids[bad]}"
            + (f" after {graph_ids[bad - 1]}" if bad else "")
            + ": put the nodes of one graph next to each other."
        )
    if len(graph_ids) and graph_ids[-1] >= num_nodes + EMPTY_GRAPHS:
        raise ValueError(
            f"`graph_ids` goes up to {graph_ids[-1]} for {num_nodes} nodes, so that more than {EMPTY_GRAPHS} graphs "
            "would have none: number the graphs 0, 1, 2, ..."
        )


def check_entries(x: tf.SparseTensor) -> list:
    """The entries of sparse features must be inside of their shape. Returns checks as `check_edges` does."""
    if isinstance(x.indices, tf.__internal__.EagerTensor) and tf.executing_eagerly():
        places, shape = x.indices.numpy(), x.dense_shape.numpy()
        outside = np.flatnonzero(((places < 0) | (places >= shape)).any(1))
        if len(outside):
            raise ValueError(
                f"sparse `x` of shape {shape.tolist()} has an entry at {places[outside[0]].tolist()} (entry "
                f"{outside[0]}), outside of it."
            )
        return []
    numbers = tf.bitcast(x.indices, tf.uint64)
    fine = tf.reduce_all(tf.reduce_max(numbers, axis=0) < tf.bitcast(x.dense_shape, tf.uint64))
    largest = tf.bitcast(tf.reduce_max(numbers, axis=0), tf.int64)
    found = [
        "sparse `x` of shape",
        x.dense_shape,
        "has an entry outside of it; the largest row and column are",
        largest,
    ]
    return [_assertion(fine | tf.equal(tf.size(x.values), 0), found)]


def _unsigned(numbers):
    """Integers read as unsigned, so that a negative one is larger than any node: one pass then finds both kinds."""
    if numbers.dtype.is_unsigned:
        return tf.cast(numbers, tf.uint64)
    if numbers.dtype == tf.int32:
        return tf.bitcast(numbers, tf.uint32)
    return tf.bitcast(tf.cast(numbers, tf.int64), tf.uint64)


def _as_given(number, numbers):
    """A number out of `_unsigned(numbers)` as the user wrote it."""
    return number if numbers.dtype.is_unsigned else tf.bitcast(number, tf.int32 if number.dtype.size == 4 else tf.int64)


def _assertion(fine, found):
    advice = "" if _debug else _ADVICE
    return tf.debugging.Assert(fine, [*found, advice] if advice else found)


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
    fine = (edge_weights >= 0) & (edge_weights <= edge_weights.dtype.max)  # NaN is neither
    found = [f"`edge_weights` {text}"]
    if _debug:
        entry = tf.argmin(tf.cast(fine, tf.int32))
        found = ["`edge_weights` entry", entry, "is", edge_weights[entry : entry + 1], f"but weights {text}"]
    return [_assertion(tf.reduce_all(fine), found)]


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


def open_rows(x: tf.Tensor) -> tf.Tensor:
    """x [N, ...] itself, but in graph mode with an unknown number of rows where it is known to have none.

    TensorFlow's graph optimiser divides by zero on some graphs that it knows to be empty (a product with a broadcast
    sigmoid is enough), which ends the process. A graph of any size, run with no rows, is safe.
    """
    if tf.executing_eagerly() or not isinstance(x, tf.Tensor) or x.shape.rank is None or x.shape[0] != 0:
        return x
    return tf.raw_ops.PlaceholderWithDefault(input=x, shape=[None, *x.shape[1:]])


def _has_values(tensor, num_nodes):
    """Whether the values are there to look at: an eager tensor, and a number of nodes that is known."""
    return isinstance(tensor, tf.__internal__.EagerTensor) and tf.get_static_value(num_nodes) is not None


def _shape(tensor):
    return tuple(tensor.shape.as_list()) if tensor.shape.rank is not None else "an unknown shape"
