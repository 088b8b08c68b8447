"""What each attention layer of a trained model does with a batch: whom it attends to, and how much.

A look is taken at the features that a layer really gets, in a forward pass without dropout.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ganet_tf import layers, models
from ganet_tf.explain.attention import row_softmax
from ganet_tf.ops.attention import split_heads
from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.topk_gao import entry_scores


class Look(NamedTuple):
    """What one layer did with one batch; entry e says that rows[e] attends to columns[e].

    Heads that choose for themselves (hGAO, top-k) have a `Look` each.

    Attributes:
        name: of the module, and of the head where there are several looks.
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
        graph = inputs["edges"], inputs.get("graph_ids"), inputs.get("edge_weights")
        found = list(_LOOKS[type(layer)](layer, x, *graph))
        for head, look in enumerate(found):
            yield Look(name if len(found) == 1 else f"{name}, head {head + 1}", layer, *look)


def attention_inputs(model, inputs):
    """(name, layer, x) for each attention layer, x being what it gets in a forward pass without dropout."""
    x, edges = inputs["x"], inputs["edges"]
    graph = edges, inputs.get("graph_ids"), inputs.get("edge_weights")
    if isinstance(x, tf.SparseTensor):
        x = tf.sparse.to_dense(x)
    if isinstance(model, models.GAT):
        yield "hidden", model.hidden, x
        yield "out", model.out, model.hidden(x, *graph, training=False)
        return
    x = model.ganet.embedding(x, *graph, training=False)
    for gam in model.ganet.gams:
        yield gam.name, gam.attention, x
        x = gam(x, *graph, training=False)


def _hgao(layer, x, edges, graph_ids, edge_weights):
    selection = layer.selected(x, edges, edge_weights)
    shape = (len(x), layer.heads, -1)
    indices, weights = (np.reshape(tensor, shape) for tensor in (selection.indices, selection.weights))
    scores, gates = (np.reshape(tensor, shape) for tensor in layer.gates(x))
    for h in range(layer.heads):
        there = indices[:, h] >= 0
        chosen = np.nonzero(there)[0], indices[:, h][there], weights[:, h][there][:, None]
        yield *chosen, gates[:, h, 0], scores[:, h, 0]


def _gao(layer, x, edges, graph_ids, edge_weights):
    rows, columns, scores = _similarities(layer, x, edges, edge_weights)
    yield rows, columns, row_softmax(rows, 0 * scores if layer.score == "uniform" else scores)


def _topk(layer, x, edges, graph_ids, edge_weights):
    rows, columns, scores = _similarities(layer, x, edges, edge_weights)
    first = np.searchsorted(rows, rows)
    for own in scores.T:
        order = np.lexsort((columns, -own, rows))  # ties to the smaller index, as in the layer
        kept = order[np.arange(len(rows)) - first < layer.k]
        weights = np.zeros(len(kept)) if layer.score == "uniform" else own[kept]
        yield rows[kept], columns[kept], row_softmax(rows[kept], weights[:, None])


def _similarities(layer, x, edges, edge_weights):
    """Rows, columns and a_ij e_ij [E + N, heads] of all neighbour lists; x_i · x_j where a layer has no scores."""
    nb = neighborhood(edges, tf.shape(x)[0])
    keys = layer.project(x)[0]
    temperature = getattr(layer, "temperature", None)
    heads = split_heads(
        layer.queries(x), x if keys is None else keys, None, layer.heads, layer.score, layer.scale, temperature
    )
    scores = np.stack([entry_scores(head.queries, head.keys, nb) for head in heads], axis=1)
    factors = entry_weights(nb, edges, edge_weights, x.dtype)
    return nb.rows.numpy(), nb.columns.numpy(), scores if factors is None else scores * factors.numpy()[:, None]


def _gat(layer, x, edges, graph_ids, edge_weights):
    nb = neighborhood(edges, tf.shape(x)[0])
    h = tf.reshape(tf.matmul(x, layer.kernel), [-1, layer.heads, layer.units])
    source = tf.reduce_sum(h * layer.source_kernel, axis=-1).numpy()
    target = tf.reduce_sum(h * layer.target_kernel, axis=-1).numpy()
    rows, columns = nb.rows.numpy(), nb.columns.numpy()
    scores = target[rows] + source[columns]  # [E + N, heads]
    scores = np.where(scores > 0, scores, layer.negative_slope * scores)
    factors = entry_weights(nb, edges, edge_weights, x.dtype)
    yield rows, columns, row_softmax(rows, scores if factors is None else scores * factors.numpy()[:, None])


def _cgao(layer, x, edges, graph_ids, edge_weights):
    keys = layer.project(x)[0].numpy().astype(np.float64)
    ids = np.zeros(len(keys), np.int64) if graph_ids is None else np.asarray(graph_ids)
    starts, sizes = np.unique(ids, return_index=True, return_counts=True)[1:]
    factor = {None: 1.0, "sqrt": sizes**-0.5, "mean": 1 / sizes}.get(layer.scale, layer.scale)
    rows = np.repeat(np.arange(len(sizes) * layer.units), layer.units)
    columns = np.tile(np.arange(layer.units), len(sizes) * layer.units)
    for own in np.split(keys, layer.heads, axis=1):
        scores = np.stack([own[s : s + n].T @ own[s : s + n] for s, n in zip(starts, sizes, strict=True)])
        scores *= np.broadcast_to(factor, sizes.shape)[:, None, None]
        yield rows, columns, row_softmax(rows, scores.reshape(-1, 1))


_LOOKS = {
    layers.HGAO: _hgao,
    layers.GAO: _gao,
    layers.TopKGAO: _topk,
    layers.SampledGAO: _gao,  # the probabilities that a neighbour is drawn with
    layers.CGAO: _cgao,
    layers.GAT: _gat,
}
