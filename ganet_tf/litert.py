"""Models for phones and small boards: a form of inference that LiteRT (TensorFlow Lite) has every operation for.

>>> content = litert.convert(model, max_nodes=100, path="model.tflite")
>>> litert.Runner(content).predict(graph)  # the logits, as Keras gives them

The sparse layers need operations that LiteRT does not have. Here one graph of up to `max_nodes` nodes is padded, its
adjacency matrix is dense, and every layer is a few products, softmaxes and top-k on it: built-in operations alone.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ganet_tf import layers, models, native
from ganet_tf.files import write_whole
from ganet_tf.layers.swapping import other_calls
from ganet_tf.models.dgcnn_head import DGCNNHead, NodeConv1D
from ganet_tf.models.graph_classifier import PoolingHead
from ganet_tf.ops.attention import split_heads
from ganet_tf.ops.checks import check_choice, check_k

__all__ = ["Runner", "convert", "inference"]

NOTHING = -1e30  # below every score; infinity would make NaN of a padded row
QUANTIZATIONS = (None, "float16", "int8")
EDGES_PER_NODE = 16


class Padded(NamedTuple):
    """One graph in a frame of fixed size.

    Attributes:
        adjacency: [M, M] of 0 and 1, row i for whom i attends to, 1 on the diagonal.
        mask: [M], 1 for nodes and 0 for padding.
    """

    adjacency: tf.Tensor
    mask: tf.Tensor


def convert(
    model: keras.Model,
    max_nodes: int,
    max_edges: int | None = None,
    quantization: str | None = None,
    path: str | os.PathLike | None = None,
) -> bytes:
    """Converts a trained model to a LiteRT file for single graphs, with built-in operations alone.

    The file takes `x` [max_nodes, F] float32, `edges` [max_edges, 2] int32 and `num_nodes` [] int32. Rows of x from
    num_nodes on do not count; edges that are not needed are (0, 0). It gives the logits: [1, classes], or for a
    model of nodes [max_nodes, classes]. Time and memory grow with max_nodes², so choose it no larger than your graphs.

    Args:
        model: A model with weights, made of `GCN`, `GAO`, `HGAO`, `CGAO`, `TopKGAO`, `GAT`, `Linear`, `GAM`, the
            poolings and Keras's own layers, or one of `ganet_tf.models` that is: GraphClassifier, NodeClassifier,
            GANet, DGCNN, GCN, GAT. Edge weights are not taken.
        max_nodes: The largest graph.
        max_edges: The most edges, both directions counted; 16 for each node by default.
        quantization: `None`; `"float16"`, weights of half the size; `"int8"`, weights of a quarter, computed with in
            eight bits where that is quicker.
        path: A file to write, too.

    Returns:
        The file's content.

    Raises:
        ValueError: For a model without weights, or with a layer that has no such form.

    Example:

    >>> litert.convert(model, max_nodes=28, quantization="float16", path="mutag.tflite")
    """
    check_choice(quantization, "quantization", QUANTIZATIONS)
    check_k(max_nodes)
    if not model.built:
        raise ValueError(f"'{model.name}' has no weights yet: fit it, or call it once, before it is converted.")
    max_edges = min(EDGES_PER_NODE * max_nodes, max_nodes**2) if max_edges is None else max_edges
    function = inference(model, max_nodes, max_edges)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], tf.Module())
    if quantization is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if quantization == "float16":
        converter.target_spec.supported_types = [tf.float16]
    content = converter.convert()
    if path is not None:
        write_whole(Path(path), content)
    return content


def inference(model: keras.Model, max_nodes: int, max_edges: int):
    """The model as a function (x, edges, num_nodes) of fixed shapes, traced with the padded form of every layer."""
    parts = [part for part in model._flatten_layers() if part is not model]
    refuse_others(model, parts)
    features = width_of(model, parts)
    values = [(variable, variable.numpy()) for variable in model.variables]

    def run(x, edges, num_nodes):
        graph = padded(edges, num_nodes, max_nodes)
        inputs = {"x": x, "edges": edges, "graph_ids": tf.zeros([max_nodes], "int32")}
        known = getattr(model, "required", None) or [tensor.name for tensor in model.inputs]
        swapped = [part for part in parts if type(part) in FORMS]
        # Constants in the place of variables: a converter may leave those for the interpreter to read, empty.
        weights = keras.StatelessScope([(v, tf.constant(value)) for v, value in values])
        with weights, native.disabled(), other_calls(swapped, lambda layer, call: form_of(layer, graph)):
            return tf.identity(model({name: inputs[name] for name in known}, training=False), name="logits")

    return tf.function(run).get_concrete_function(
        x=tf.TensorSpec([max_nodes, features], tf.float32, name="x"),
        edges=tf.TensorSpec([max_edges, 2], tf.int32, name="edges"),
        num_nodes=tf.TensorSpec([], tf.int32, name="num_nodes"),
    )


def form_of(layer, graph):
    """The padded form of a layer's call."""

    def call(x, edges=None, graph_ids=None, edge_weights=None, training=None):
        return FORMS[type(layer)](layer, graph, x)

    return call


def refuse_others(model, parts):
    """Raises for a layer that only exists as a sparse one."""
    for part in parts:
        ours = type(part).__module__.startswith("ganet_tf.")
        if ours and type(part) not in (*FORMS, *AS_THEY_ARE):
            names = ", ".join(sorted(kind.__name__ for kind in FORMS))
            raise ValueError(
                f"'{part.name}' of '{model.name}' is a {type(part).__name__}, which has no form for LiteRT; there are "
                f"{names}. Use model.export for a SavedModel, or build the model of these."
            )


def width_of(model, parts):
    """Number of features that a model takes."""
    shapes = [getattr(model, "_num_features", None), *(getattr(part, "_num_features", None) for part in parts)]
    return next(int(width) for width in shapes if width is not None)


def padded(edges, num_nodes, max_nodes):
    """The frame of a graph; repeated edges and the (0, 0) that fill up `edges` count once."""
    loops = tf.tile(tf.range(max_nodes)[:, None], [1, 2])  # as edges: an identity matrix would be most of the file
    pairs = tf.concat([tf.reverse(edges, axis=[1]), loops], axis=0)
    counts = tf.scatter_nd(pairs, tf.ones([pairs.shape[0]]), [max_nodes, max_nodes])
    return Padded(tf.minimum(counts, 1.0), tf.cast(tf.range(max_nodes) < num_nodes, tf.float32))


def _gcn(layer, graph, x):
    degrees = tf.reduce_sum(graph.adjacency, axis=1, keepdims=True)
    before, after = {
        "sym": (tf.math.rsqrt(degrees), tf.math.rsqrt(degrees)),
        "row": (1.0, 1.0 / degrees),
        None: (1.0, 1.0),
    }[layer.normalization]
    return layer.finish(after * tf.matmul(graph.adjacency, before * tf.matmul(x, layer.kernel)))


def _gao(layer, graph, x):
    keys, values = layer.project(x)
    return by_head(layer, x, keys, values, lambda head, _: whole(graph, head))


def _topk(layer, graph, x):
    keys, values = layer.project(x)
    keys = x if keys is None else keys  # uniform scores: x_i · x_j ranks
    return by_head(layer, x, keys, values, lambda head, _: best(graph, head, product(head), layer.k))


def _hgao(layer, graph, x):
    scores, gates = layer.gates(x)
    keys, values = layer.project_gated(x, gates)
    ranks = [scores] if layer.heads == 1 else tf.unstack(scores, layer.heads, axis=1)
    return by_head(layer, x, keys, values, lambda head, h: best(graph, head, ranks[h][None, :], layer.k))


def by_head(layer, x, keys, values, attend):
    """A layer's heads side by side, or their mean."""
    options = {name: value for name, value in layer.score_options.items() if name != "implementation"}
    heads = split_heads(layer.queries(x), keys, values, **options)
    return joined(layer, [attend(head, number) for number, head in enumerate(heads)])


def joined(layer, outputs):
    """Concatenated or averaged heads, bias and activation."""
    if len(outputs) == 1 or layer.concat:
        return layer.finish(tf.concat(outputs, axis=1))
    return layer.finish(tf.add_n(outputs) / len(outputs))


def product(head):
    """q_i · k_j for all pairs."""
    return tf.matmul(head.queries, head.keys, transpose_b=True)


def whole(graph, head):
    """Attention to all neighbours."""
    scores = tf.zeros_like(graph.adjacency) if head.uniform else product(head)
    return tf.matmul(tf.nn.softmax(tf.where(graph.adjacency > 0, scores, NOTHING)), head.values)


def best(graph, head, ranks, k):
    """Attention to the k neighbours that rank first; ties go to the smaller index."""
    ranks = tf.where(graph.adjacency > 0, ranks, NOTHING)
    values, columns = tf.math.top_k(ranks, min(k, graph.mask.shape[0]))
    there = values > NOTHING / 2
    scores = tf.zeros_like(values)
    if not head.uniform:
        scores = tf.reduce_sum(head.queries[:, None] * tf.gather(head.keys, columns), axis=-1)
    weights = tf.nn.softmax(tf.where(there, scores, NOTHING))
    return tf.reduce_sum(weights[:, :, None] * tf.gather(head.values, columns), axis=1)


def _cgao(layer, graph, x):
    keys, values = layer.project(x * graph.mask[:, None])
    count = tf.reduce_sum(graph.mask)
    factor = {None: 1.0, "sqrt": tf.math.rsqrt(count), "mean": 1.0 / count}.get(layer.scale, layer.scale)
    pairs = zip(tf.split(keys, layer.heads, axis=1), tf.split(values, layer.heads, axis=1), strict=True)
    outputs = [
        tf.matmul(v, tf.nn.softmax(factor * tf.matmul(k, k, transpose_a=True)), transpose_b=True) for k, v in pairs
    ]
    return joined(layer, outputs)


def _gat(layer, graph, x):
    outputs = []
    kernels = zip(
        tf.split(layer.kernel, layer.heads, axis=1),
        tf.unstack(layer.source_kernel),
        tf.unstack(layer.target_kernel),
        strict=True,
    )
    for kernel, source, target in kernels:
        h = tf.matmul(x, kernel)
        scores = tf.reduce_sum(h * target, axis=1)[:, None] + tf.reduce_sum(h * source, axis=1)[None, :]
        scores = tf.nn.leaky_relu(scores, layer.negative_slope)
        outputs.append(tf.matmul(tf.nn.softmax(tf.where(graph.adjacency > 0, scores, NOTHING)), h))
    return joined(layer, outputs)


def _linear(layer, graph, x):
    return layer.finish(tf.matmul(x, layer.kernel))


def _sort_pooling(layer, graph, x):
    """The k nodes with the largest last channel, the largest first; zeros where there are fewer."""
    size = graph.mask.shape[0]
    values, nodes = tf.math.top_k(tf.where(graph.mask > 0, x[:, -1], NOTHING), min(layer.k, size))
    rows = tf.gather(x, nodes) * tf.cast(values > NOTHING / 2, tf.float32)[:, None]
    return tf.pad(rows, [[0, max(layer.k - size, 0)], [0, 0]])[None]


def _head(layer, graph, x):
    return layer.stack(layer.pooling(x), training=False)


def _sum(layer, graph, x):
    return tf.reduce_sum(x * graph.mask[:, None], axis=0, keepdims=True)


def _mean(layer, graph, x):
    return _sum(layer, graph, x) / tf.reduce_sum(graph.mask)


def _max(layer, graph, x):
    return tf.reduce_max(tf.where(graph.mask[:, None] > 0, x, NOTHING), axis=0, keepdims=True)


FORMS = {
    layers.GCN: _gcn,
    layers.GAO: _gao,
    layers.HGAO: _hgao,
    layers.CGAO: _cgao,
    layers.TopKGAO: _topk,
    layers.GAT: _gat,
    layers.Linear: _linear,
    layers.SortPooling: _sort_pooling,
    layers.SumPooling: _sum,
    layers.MeanPooling: _mean,
    layers.MaxPooling: _max,
    DGCNNHead: _head,
}
# What is made of the layers above and does nothing of its own to graphs, or nothing at all in inference.
AS_THEY_ARE = (layers.GAM, layers.Dropout, models.GANet, NodeConv1D, PoolingHead)


class Runner:
    """Runs a converted file on graphs of any size up to its own: pads the inputs, cuts the outputs.

    Args:
        model: The file's content or path.

    Example:

    >>> runner = litert.Runner("model.tflite")
    >>> runner.predict(graph)
    """

    def __init__(self, model: bytes | str | os.PathLike):
        content = model if isinstance(model, bytes) else Path(model).read_bytes()
        self._interpreter = interpreter(content)
        self._interpreter.allocate_tensors()
        names = {(2, np.float32): "x", (2, np.int32): "edges", (0, np.int32): "num_nodes"}
        details = self._interpreter.get_input_details()
        self._inputs = {names[len(detail["shape"]), detail["dtype"]]: detail for detail in details}
        self.max_nodes = int(self._inputs["x"]["shape"][0])
        self.max_edges = int(self._inputs["edges"]["shape"][0])
        self.num_features = int(self._inputs["x"]["shape"][1])

    def predict(self, graph: Any) -> np.ndarray:
        """The logits of a `Graph` (or anything with `x` and `edges`): [1, classes], or [n, classes] of its nodes.

        Raises:
            ValueError: For a graph that is larger than the file was made for, or has other features.
        """
        count, edges = len(graph.x), np.asarray(graph.edges)
        if count > self.max_nodes or len(edges) > self.max_edges or graph.x.shape[1] != self.num_features:
            raise ValueError(
                f"The graph has {count} nodes, {len(edges)} edges and {graph.x.shape[1]} features; this file takes up "
                f"to {self.max_nodes} nodes and {self.max_edges} edges, with {self.num_features} features."
            )
        x = np.zeros((self.max_nodes, self.num_features), np.float32)
        x[:count] = graph.x
        filled = np.zeros((self.max_edges, 2), np.int32)
        filled[: len(edges)] = edges
        for name, value in (("x", x), ("edges", filled), ("num_nodes", np.int32(count))):
            self._interpreter.set_tensor(self._inputs[name]["index"], value)
        self._interpreter.invoke()
        logits = self._interpreter.get_tensor(self._interpreter.get_output_details()[0]["index"])
        return logits if len(logits) == 1 else logits[:count]


def interpreter(content):
    """LiteRT's interpreter: of the package ai-edge-litert where it is installed, else the one in TensorFlow."""
    import warnings

    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        Interpreter = tf.lite.Interpreter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own is to move to that package
        return Interpreter(model_content=content)
