"""What each attention layer of a trained model does with a batch: whom it attends to, and how much.

A look is taken at the features that a layer really gets, in a forward pass without dropout.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from experiments.attention.measures import row_softmax
from ganet_tf import layers, models
from ganet_tf.ops.attention import scaled
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.topk_gao import entry_scores


class Look(NamedTuple):
    """What one layer did with one batch; entry e says that rows[e] attends to columns[e].

    Attributes:
        name: of the module.
        layer: the attention layer.
        rows, columns: [P] integers, rows ascending: nodes, or for cGAO the channels of each graph.
        weights: [P, heads]; those of a row sum to 1 in each head.
        gates: [N], the gate of each node, or None where the operator has none.
        scores: [N], what the choice is made by, or None.
    """

    name: str
    layer: object
    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    gates: np.ndarray | None = None
    scores: np.ndarray | None = None


def looks(model, inputs):
    """A `Look` at every attention layer of a model; `inputs` as the model takes them."""
    for name, layer, x in attention_inputs(model, inputs):
        yield Look(name, layer, *_LOOKS[type(layer)](layer, x, inputs["edges"], inputs.get("graph_ids")))


def attention_inputs(model, inputs):
    """(name, layer, x) for each attention layer, x being what it gets in a forward pass without dropout."""
    x, edges, graph_ids = inputs["x"], inputs["edges"], inputs.get("graph_ids")
    if isinstance(x, tf.SparseTensor):
        x = tf.sparse.to_dense(x)
    if isinstance(model, models.GAT):
        yield "hidden", model.hidden, x
        yield "out", model.out, model.hidden(x, edges, training=False)
        return
    x = model.ganet.embedding(x, edges, graph_ids, training=False)
    for gam in model.ganet.gams:
        yield gam.name, gam.attention, x
        x = gam(x, edges, graph_ids, training=False)


def _hgao(layer, x, edges, graph_ids):
    selection = layer.selected(x, edges)
    indices, weights = selection.indices.numpy(), selection.weights.numpy()
    scores, gates = layer.gates(x)
    there = indices >= 0
    return np.nonzero(there)[0], indices[there], weights[there][:, None], gates.numpy(), scores.numpy()


def _gao(layer, x, edges, graph_ids):
    rows, columns, scores = _similarities(layer, x, edges)
    return rows, columns, row_softmax(rows, scores)


def _topk(layer, x, edges, graph_ids):
    rows, columns, scores = _similarities(layer, x, edges)
    order = np.lexsort((columns, -scores[:, 0], rows))  # ties to the smaller index, as in the layer
    rows, columns, scores = rows[order], columns[order], scores[order]
    first = np.searchsorted(rows, rows)
    kept = np.arange(len(rows)) - first < layer.k
    rows, columns, scores = rows[kept], columns[kept], scores[kept]
    return rows, columns, row_softmax(rows, scores)


def _similarities(layer, x, edges):
    """Rows, columns and x_i · k_j of all neighbour lists."""
    nb = neighborhood(edges, tf.shape(x)[0])
    scores = entry_scores(scaled(x, layer.scale), layer.project(x)[0], nb)
    return nb.rows.numpy(), nb.columns.numpy(), scores.numpy()[:, None]


def _gat(layer, x, edges, graph_ids):
    nb = neighborhood(edges, tf.shape(x)[0])
    h = tf.reshape(tf.matmul(x, layer.kernel), [-1, layer.heads, layer.units])
    source = tf.reduce_sum(h * layer.source_kernel, axis=-1).numpy()
    target = tf.reduce_sum(h * layer.target_kernel, axis=-1).numpy()
    rows, columns = nb.rows.numpy(), nb.columns.numpy()
    scores = target[rows] + source[columns]  # [E + N, heads]
    return rows, columns, row_softmax(rows, np.where(scores > 0, scores, layer.negative_slope * scores))


def _cgao(layer, x, edges, graph_ids):
    keys = layer.project(x)[0].numpy().astype(np.float64)
    ids = np.zeros(len(keys), np.int64) if graph_ids is None else np.asarray(graph_ids)
    starts, sizes = np.unique(ids, return_index=True, return_counts=True)[1:]
    scores = np.stack([keys[s : s + n].T @ keys[s : s + n] for s, n in zip(starts, sizes, strict=True)])
    factor = {None: 1.0, "sqrt": sizes**-0.5, "mean": 1 / sizes}.get(layer.scale, layer.scale)
    scores *= np.broadcast_to(factor, sizes.shape)[:, None, None]
    rows = np.repeat(np.arange(len(sizes) * layer.units), layer.units)
    columns = np.tile(np.arange(layer.units), len(sizes) * layer.units)
    return rows, columns, row_softmax(rows, scores.reshape(-1, 1))


_LOOKS = {
    layers.HGAO: _hgao,
    layers.GAO: _gao,
    layers.TopKGAO: _topk,
    layers.SampledGAO: _gao,  # the probabilities that a neighbour is drawn with
    layers.CGAO: _cgao,
    layers.GAT: _gat,
}
