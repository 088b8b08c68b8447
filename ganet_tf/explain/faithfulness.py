"""Is what attention shows what matters? Attention beside chance, degree and saliency, where the truth is known."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

from ganet_tf.data import Graph, NodeDataset
from ganet_tf.explain.attention import attention, inputs_of


def faithfulness(
    model: keras.Model, graphs: Any, truth: Sequence[Any], nodes: Any = None, seed: int = 0
) -> dict[str, dict[str, float]]:
    """Compares whom a model attends to with the edges that are known to matter.

    Every edge (j, i) gets a number from each method: *attention*, the mean over layers of the weight α_ij; *chosen*,
    the share of layers in which i chose j; *saliency*, how much the features of j move the answer (the norm of gradient
    times features); *degree* of j; *random*; and *truth* itself, which says what could be reached. Of each:

        auc         ROC AUC of the numbers against the truth, over all edges of a graph
        auc_within  the same among the neighbours of one node, mean over nodes that have both kinds
        fidelity    how much the probability of the answer drops when the m edges with the largest numbers are
                    removed, m being the number of edges that matter

    Args:
        model: A trained classifier with attention layers.
        graphs: A `GraphDataset`, a list of `Graph`, or a `NodeDataset`.
        truth: For each graph [m] booleans, one for each of `graph.edges`: which of them matter. For a `NodeDataset` one
            such array.
        nodes: For a `NodeDataset`, whose answers count for saliency and fidelity: node numbers; all by default.
        seed: Of the random numbers.

    Returns:
        {method: {"auc", "auc_within", "fidelity"}}, means over graphs.

    Raises:
        ValueError: If the truth has not one value for each edge.

    Example:

    >>> truth = [(graph.edges >= 20).all(axis=1) for graph in test]  # BA2Motifs: the last five nodes are the motif
    >>> explain.faithfulness(model, test, truth)["attention"]["auc"]
    """
    if isinstance(graphs, NodeDataset):
        graphs, truth = [graphs], [truth]
    rng = np.random.default_rng(seed)
    rows = {}
    for number, (graph, known) in enumerate(zip(graphs, truth, strict=True)):
        known = np.asarray(known, bool)
        if known.shape != (len(graph.edges),):
            raise ValueError(
                f"The truth of graph {number} has the shape {known.shape}, but one value is needed for each of its "
                f"{len(graph.edges)} edges."
            )
        before, saliency = answer(model, graph, nodes)
        for method, numbers in edge_numbers(model, graph, known, saliency, rng).items():
            kept = np.ones(len(known), bool)
            kept[np.argsort(-numbers, kind="stable")[: known.sum()]] = False
            after = probability(model, without(graph, kept), nodes, before[1])
            found = auc(known, numbers), auc_within(known, numbers, graph.edges[:, 1]), np.mean(before[0] - after)
            rows.setdefault(method, []).append(found)
    names = "auc", "auc_within", "fidelity"
    return {m: dict(zip(names, np.nanmean(found, axis=0).tolist(), strict=True)) for m, found in rows.items()}


def edge_numbers(model, graph, known, saliency, rng):
    """{method: [m], a number for each edge}."""
    looks = attention(model, graph)
    of_edge = entries_of(looks[0], graph.edges)
    degrees = np.bincount(graph.edges[:, 1], minlength=len(saliency))
    return {
        "attention": np.mean([look.weights()[of_edge] for look in looks], axis=0),
        "chosen": np.mean([look.chosen()[of_edge] for look in looks], axis=0),
        "saliency": saliency[graph.edges[:, 0]],
        "degree": degrees[graph.edges[:, 0]].astype(float),
        "random": rng.random(len(graph.edges)),
        "truth": known + 0.5 * rng.random(len(known)),
    }


def entries_of(look, edges):
    """Where each edge (source j, target i) stands among the entries (row i, column j)."""
    count = int(look.rows[-1]) + 1
    return np.searchsorted(look.rows * count + look.columns, edges[:, 1].astype(np.int64) * count + edges[:, 0])


def answer(model, graph, nodes):
    """(probabilities of the answers, the classes answered), and the saliency [n] of each node's features for them."""
    inputs = inputs_of(model, graph)
    with tf.GradientTape() as tape:
        tape.watch(inputs["x"])
        logits = asked(model(inputs, training=False), nodes)
        best = tf.reduce_sum(tf.reduce_max(logits, axis=1))
    saliency = tf.norm(tape.gradient(best, inputs["x"]) * inputs["x"], axis=1).numpy()
    probabilities = tf.nn.softmax(logits).numpy()
    return (probabilities.max(axis=1), probabilities.argmax(axis=1)), saliency


def probability(model, graph, nodes, classes):
    """The probabilities of given classes."""
    probabilities = tf.nn.softmax(asked(model(inputs_of(model, graph), training=False), nodes)).numpy()
    return probabilities[np.arange(len(classes)), classes]


def asked(logits, nodes):
    """The rows of the nodes that are asked for, or all."""
    return logits if nodes is None else tf.gather(logits, np.asarray(nodes))


def without(graph, kept):
    """The graph with some of its edges only."""
    weights = None if graph.edge_weights is None else graph.edge_weights[kept]
    x = graph.x.toarray() if hasattr(graph.x, "toarray") else graph.x
    return Graph(x, graph.edges[kept], edge_weights=weights)


def auc(known, numbers):
    """ROC AUC; NaN where all or none matter."""
    return roc_auc_score(known, numbers) if 0 < known.sum() < len(known) else np.nan


def auc_within(known, numbers, targets):
    """The mean ROC AUC among the edges into the same node."""
    order = np.argsort(targets, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(targets[order])) + 1)
    found = [auc(known[part], numbers[part]) for part in parts]
    return np.nanmean(found) if np.isfinite(found).any() else np.nan
