"""Checks of what can be known before a step runs: shapes and types, also of symbolic Keras tensors.

Values (edges in range, ascending `graph_ids`) are checked by `ganet_tf.ops.checks`.
"""

import numbers
import os
import sys

import keras
import tensorflow as tf

from ganet_tf.ops.sparse import is_sparse

TRAINER = os.path.join("keras", "src", "backend", "tensorflow", "trainer.py")  # where Keras has its loops


def shape_of(tensor):
    """The static shape as a tuple, None for no tensor."""
    if tensor is None:
        return None
    if getattr(tensor.shape, "rank", 0) is None:
        raise ValueError("A tensor of unknown rank came in: set its shape, for example with tf.ensure_shape.")
    return tuple(tensor.shape)


def check_shapes(x_shape, edges_shape, graph_ids_shape, layer):
    """Raises ValueError unless the shapes are [N, F], [E, 2] and [N], as far as they are known."""
    if len(x_shape) != 2 or x_shape[-1] is None:
        raise ValueError(f"`x` of '{layer}' must have shape [nodes, features], but has {x_shape}.")
    if edges_shape is not None and (len(edges_shape) != 2 or edges_shape[-1] not in (2, None)):
        hint = ": transpose it" if len(edges_shape) == 2 and edges_shape[0] == 2 else ""
        raise ValueError(
            f"`edges` of '{layer}' must have shape [edges, 2], a row = (source, target), but has {edges_shape}{hint}."
        )
    if graph_ids_shape is not None and not _agree(graph_ids_shape, x_shape[:1]):
        raise ValueError(
            f"`graph_ids` of '{layer}' must have shape [nodes], one number for each row of `x` {x_shape}, "
            f"but has {graph_ids_shape}."
        )


def check_edge_weights(edge_weights, edges, layer):
    """Raises unless weights, where given, are floating point and one for each edge, as far as that is known."""
    if edge_weights is None:
        return
    if "float" not in (dtype := keras.backend.standardize_dtype(edge_weights.dtype)):
        raise TypeError(f"`edge_weights` of '{layer}' must be floating point, but is {dtype}: cast it to float32.")
    shape = shape_of(edge_weights)
    if len(shape) != 1 or (edges is not None and not _agree(shape, shape_of(edges)[:1])):
        raise ValueError(
            f"`edge_weights` of '{layer}' must have shape [edges], one number for each row of `edges`"
            f"{'' if edges is None else f' {shape_of(edges)}'}, but has {shape}."
        )


def _agree(shape, expected):
    """Whether two shapes can be of the same tensor: None fits any size."""
    return len(shape) == len(expected) and all(a == b or None in (a, b) for a, b in zip(shape, expected, strict=True))


def check_width(width, expected, layer):
    """Raises ValueError unless x has the number of features that the layer was built for."""
    if expected is not None and width != expected:
        raise ValueError(
            f"`x` has {width} features a node, but '{layer}' was built for {expected}: give it the features "
            "it was built with, or make a new one."
        )


def check_types(x, edges, graph_ids, layer):
    """Raises TypeError unless x is floating point and edges and graph_ids, where given, are integers."""
    if "float" not in (dtype := keras.backend.standardize_dtype(x.dtype)):
        raise TypeError(f"`x` of '{layer}' must be floating point, but is {dtype}: cast it to float32.")
    for name, tensor in (("edges", edges), ("graph_ids", graph_ids)):
        if tensor is not None and "int" not in (dtype := keras.backend.standardize_dtype(tensor.dtype)):
            raise TypeError(
                f"`{name}` of '{layer}' must be integers, but is {dtype}: cast it to int32, or give its "
                "keras.Input dtype='int32'."
            )


def check_dense(x, layer):
    """Raises TypeError for sparse features where a layer needs each of them."""
    if is_sparse(x):
        raise TypeError(
            f"`x` of '{layer}' must be dense, but is sparse: put a GCN before it, or use tf.sparse.to_dense."
        )


def check_edges_given(edges, layer):
    """Raises ValueError for a layer that follows edges and got none."""
    if edges is None:
        raise ValueError(f"'{layer}' needs `edges` [edges, 2]: call it as layer(x, edges).")


def check_whole_batches():
    """Raises where Keras' own loops run under a `tf.distribute` strategy with several replicas.

    A loop of one's own that gives each replica a batch may call layers and models there.
    """
    if num_replicas() > 1 and (loop := _keras_loop()):
        raise RuntimeError(cut_batch(num_replicas(), loop))


def num_replicas():
    """Replicas of the `tf.distribute` strategy that is active."""
    return tf.distribute.get_strategy().num_replicas_in_sync


def cut_batch(replicas, loop):
    """The sentence on `fit` and its like under a strategy."""
    return (
        f"A tf.distribute strategy with {replicas} replicas is active, and Keras' `{loop}` would cut a batch, which "
        "holds several graphs in one tensor, in the middle of a graph. Give each replica its own with "
        "ds.batches(..., share=(index, count)) and call strategy.run(model.train_step) yourself, in the 20 lines that "
        "docs/distributed.md has; or run `python train.py --workers N`."
    )


def _keras_loop():
    """The name of a loop of Keras' that is running, in any thread: a strategy may call replicas in threads."""
    for frame in sys._current_frames().values():
        while frame is not None:
            code = frame.f_code
            if code.co_name in ("fit", "evaluate", "predict") and code.co_filename.endswith(TRAINER):
                return code.co_name
            frame = frame.f_back
    return None


def check_units(units, name="units"):
    """A number of channels, or of heads, as an int of at least 1."""
    if isinstance(units, bool) or not isinstance(units, numbers.Real) or units != int(units) or units < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, but is {units!r}.")
    return int(units)


def check_rate(rate, name):
    """A dropout rate as a float in [0, 1)."""
    if not 0 <= rate < 1:
        raise ValueError(f"`{name}` is the share that is dropped, at least 0 and below 1, but is {rate!r}.")
    return float(rate)


def check_scale(scale, names=("sqrt",)):
    """The scale, if it is None, one of the names or a positive number."""
    if scale is None or scale in names:
        return scale
    if isinstance(scale, str) or not scale > 0:
        known = ", ".join(map(repr, names))
        raise ValueError(f"`scale` must be None, {known} or a number above 0, but is {scale!r}.")
    return float(scale)
