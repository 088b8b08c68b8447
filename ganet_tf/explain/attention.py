"""What each attention layer of a model does with a graph: whom a node could attend to, by what it chooses, how much.

A layer is looked at with the features that it really gets, in a forward pass without dropout.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.layers.swapping import other_calls
from ganet_tf.ops.attention import split_heads
from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.topk_gao import entry_scores

INPUTS = ("x", "edges", "graph_ids", "edge_weights")


class Attention(NamedTuple):
    """One attention layer (or one head of it) on one graph; entry e says that rows[e] may attend to columns[e].

        α_ij = softmax_j(s_ij) over the k candidates j of i with the largest r_ij, 0 for the others

    Attributes:
        name: of the module, and of the head where there are several.
        rows, columns: [P] node numbers, rows ascending, columns ascending within a row; a node is its own candidate.
        ranks: [P], r_ij: for hGAO the projection y_j (eq. 4), for the other operators the similarity.
        similarities: [P], s_ij, what the softmax is over; all 0 for `score="uniform"`.
        k: how many a node chooses; None: all of them.
        gates: [N], hGAO's gate of each node (eq. 7), or None.
    """

    name: str
    rows: np.ndarray
    columns: np.ndarray
    ranks: np.ndarray
    similarities: np.ndarray
    k: int | None = None
    gates: np.ndarray | None = None

    def chosen(self, k: int | None = None) -> np.ndarray:
        """[P] booleans: which entries are attended to; `k` instead of the layer's own, if you like."""
        k = self.k if k is None else k
        if k is None:
            return np.ones(len(self.rows), bool)
        # Ties go to the smaller index, as in the layers.
        order = np.lexsort((self.columns, -self.ranks, self.rows))
        kept = np.zeros(len(order), bool)
        kept[order] = np.arange(len(order)) - np.searchsorted(self.rows, self.rows) < k
        return kept

    def weights(self, k: int | None = None) -> np.ndarray:
        """[P] attention weights α_ij: those of a node sum to 1, and what is not chosen has 0."""
        chosen = self.chosen(k)
        return row_softmax(self.rows, np.where(chosen, self.similarities, -np.inf)[:, None])[:, 0]


def row_softmax(rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Softmax of `scores` [P, heads] over the entries of the same row; `rows` ascending, each row there."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    scores = np.asarray(scores, np.float64)
    exps = np.exp(scores - np.maximum.reduceat(scores, starts)[rows])
    return exps / np.add.reduceat(exps, starts)[rows]


def attention(model: keras.Model, graph: Any) -> list[Attention]:
    """What every attention layer of a model does with a graph.

    Args:
        model: Any model with layers `HGAO`, `GAO`, `TopKGAO`, `SampledGAO` or `GAT` in it.
        graph: A `Graph`, a `NodeDataset`, or the dict of inputs that the model takes.

    Returns:
        A list of `Attention`, in the order in which the layers are called; heads stand beside each other.

    Raises:
        ValueError: If the model has no such layer, or does not call it.

    Example:

    >>> look = explain.attention(model, graph)[0]
    >>> mine = look.rows == 3
    >>> look.columns[mine], look.weights()[mine]  # whom node 3 attends to, and how much
    """
    found = []
    for name, layer, inputs in recorded(model, inputs_of(model, graph), tuple(_LOOKS)):
        looks = list(_LOOKS[type(layer)](layer, *inputs))
        names = [name] if len(looks) == 1 else [f"{name}, head {head + 1}" for head in range(len(looks))]
        found += [Attention(name, *look) for name, look in zip(names, looks, strict=True)]
    return found


def channel_attention(model: keras.Model, graph: Any) -> dict[str, np.ndarray]:
    """What the cGAO layers of a model do with one graph: {name: [units, units]}, row a attends to column b, eq. (11).

    Args:
        model: Any model with layers `CGAO`.
        graph: As in `attention`; all nodes are one graph here.

    Raises:
        ValueError: If the model has no such layer.
    """
    found = {}
    for name, layer, (x, *_) in recorded(model, inputs_of(model, graph), (layers.CGAO,)):
        keys = layer.project(x)[0].numpy().astype(np.float64)
        factor = {None: 1.0, "sqrt": len(keys) ** -0.5, "mean": 1 / len(keys)}.get(layer.scale, layer.scale)
        for head, own in enumerate(np.split(keys, layer.heads, axis=1)):
            rows = np.repeat(np.arange(layer.units), layer.units)
            weights = row_softmax(rows, factor * (own.T @ own).reshape(-1, 1))
            found[name if layer.heads == 1 else f"{name}, head {head + 1}"] = weights.reshape(layer.units, -1)
    return found


def inputs_of(model: keras.Model, graph: Any) -> dict[str, Any]:
    """The model's inputs for a `Graph`, a `NodeDataset` or a dict of them: those of its keys that the model takes."""
    if hasattr(graph, "keys"):
        given = dict(graph)
    else:
        x = graph.x.toarray() if hasattr(graph.x, "toarray") else graph.x
        given = {"x": x, "edges": graph.edges, "graph_ids": np.zeros(x.shape[0], np.int32)}
        if graph.edge_weights is not None:
            given["edge_weights"] = graph.edge_weights
    known = [*getattr(model, "required", ()), *getattr(model, "optional", ())]
    known = known or [tensor.name for tensor in getattr(model, "inputs", None) or ()] or list(given)
    return {name: _tensor(part) for name, part in given.items() if name in known and part is not None}


def _tensor(part):
    return part if isinstance(part, tf.SparseTensor) else tf.convert_to_tensor(np.asarray(part))


def recorded(model, inputs, kinds):
    """[(name, layer, (x, edges, graph_ids, edge_weights))] of the layers of some kinds, in the order of their calls."""
    found = []
    names = {id(part.attention): part.name for part in model._flatten_layers() if isinstance(part, layers.GAM)}
    watched = [part for part in model._flatten_layers() if isinstance(part, kinds)]

    def remembering(layer, call):
        def remember(x, edges=None, graph_ids=None, edge_weights=None, **options):
            x = tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else tf.convert_to_tensor(x)
            given = tf.cast(x, layer.compute_dtype), edges, graph_ids, edge_weights
            found.append((names.get(id(layer), layer.name), layer, given))
            return call(x, edges, graph_ids=graph_ids, edge_weights=edge_weights, **options)

        return remember

    with other_calls(watched, remembering):
        model(inputs, training=False)
    if not found:
        expected = ", ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"'{model.name}' has no attention to look at: none of its layers is one of {expected}.")
    return found


def _hgao(layer, x, edges, graph_ids, edge_weights):
    scores, gates = (np.reshape(tensor, (len(x), layer.heads)) for tensor in layer.gates(x))
    keys, _ = layer.project_gated(x, layer.gates(x)[1])
    rows, columns, similarities, factors = entries(layer, x, keys, edges, edge_weights)
    for own, gate, similarity in zip(scores.T, gates.T, similarities.T, strict=True):
        ranks = own[columns] if factors is None else factors * own[columns]
        yield rows, columns, ranks, similarity, layer.k, gate


def _dot(layer, x, edges, graph_ids, edge_weights):
    rows, columns, scores, factors = entries(layer, x, layer.project(x)[0], edges, edge_weights, ranking=True)
    scores = scores if factors is None else scores * factors[:, None]
    k = 1 if isinstance(layer, layers.SampledGAO) else getattr(layer, "k", None)
    for own in scores.T:
        yield rows, columns, own, 0 * own if is_uniform(layer) else own, k


def entries(layer, x, keys, edges, edge_weights, ranking=False):
    """Rows, columns, e_ij [P, heads] and edge weights [P] (or None) of all neighbour lists.

    Where a layer has no scores of its own (`score="uniform"`) they are 0, or x_i · x_j for `ranking`.
    """
    nb = neighborhood(edges, tf.shape(x)[0])
    factors = entry_weights(nb, edges, edge_weights, x.dtype)
    options = {name: value for name, value in layer.score_options.items() if name != "implementation"}
    if is_uniform(layer) and not ranking:
        scores = np.zeros((len(nb.rows), layer.heads), np.float32)
    else:
        heads = split_heads(layer.queries(x), x if keys is None else keys, None, **options)
        scores = np.stack([entry_scores(head.queries, head.keys, nb) for head in heads], axis=1)
    return nb.rows.numpy(), nb.columns.numpy(), scores, None if factors is None else factors.numpy()


def is_uniform(layer):
    """Whether the layer is a mean over whom it chose."""
    return layer.score_options.get("score") == "uniform"


def _gat(layer, x, edges, graph_ids, edge_weights):
    nb = neighborhood(edges, tf.shape(x)[0])
    h = tf.reshape(tf.matmul(x, layer.kernel), [-1, layer.heads, layer.units])
    source, target = (
        tf.reduce_sum(h * kernel, axis=-1).numpy() for kernel in (layer.source_kernel, layer.target_kernel)
    )
    rows, columns = nb.rows.numpy(), nb.columns.numpy()
    scores = target[rows] + source[columns]  # [P, heads]
    scores = np.where(scores > 0, scores, layer.negative_slope * scores)
    factors = entry_weights(nb, edges, edge_weights, x.dtype)
    for own in scores.T:
        own = own if factors is None else own * factors.numpy()
        yield rows, columns, own, own


_LOOKS = {
    layers.HGAO: _hgao,
    layers.GAO: _dot,
    layers.TopKGAO: _dot,
    layers.SampledGAO: _dot,
    layers.GAT: _gat,
}
