"""What attention did, in numbers: how uniform its weights are, and how far a choice is from one by degree or chance.

Attention comes as entries: node `rows[e]` attends to node `columns[e]` with `weights[e]`. All functions give one value
for each node (or channel), so that batches can be put together before anything is averaged.

How often the hard selection is active at all is a property of the data and k alone, and needs no model: a node with no
more than k candidates keeps them all.
"""

import json
from typing import NamedTuple

import numpy as np

from experiments.report.runs import GRAPH_SETS, K_VALUES, NODE_SETS
from ganet_tf import data
from ganet_tf.data import GraphDataset
from ganet_tf.files import write_whole

DATASETS = (*GRAPH_SETS, *NODE_SETS)
GRAPHS_AT_ONCE = 500

# Scores this near, relatively, are the same number but for rounding.
TIE = 1e-5


def entropy_ratios(rows, weights):
    """Entropy of each row's weights, divided by the logarithm of how many there are: 1 is uniform, 0 a single one.

    Args:
        rows: [P] integers, who attends.
        weights: [P, heads]; those of a row sum to 1 in each head.

    Returns:
        [n] for the rows with at least two weights, the mean over heads.
    """
    counts = np.bincount(rows)
    weights = np.asarray(weights, np.float64)
    terms = -weights * np.log(np.where(weights > 0, weights, 1))
    entropies = np.stack([np.bincount(rows, head) for head in terms.T]).mean(axis=0)
    several = counts >= 2
    return entropies[several] / np.log(counts[several])


class Candidates(NamedTuple):
    """Whom each node could attend to: its neighbours and itself, node after node."""

    rows: np.ndarray  # [E + N], ascending
    columns: np.ndarray  # [E + N], ascending within a row
    sizes: np.ndarray  # [N]


def candidates_of(edges, num_nodes):
    """The `Candidates` of a graph; `edges` [E, 2] without self-loops, a row = (source, target)."""
    nodes = np.arange(num_nodes)
    rows, columns = np.concatenate([edges[:, 1], nodes]), np.concatenate([edges[:, 0], nodes])
    order = np.lexsort((columns, rows))
    return Candidates(rows[order], columns[order], np.bincount(rows, minlength=num_nodes))


def is_chosen(candidates, rows, columns):
    """[E + N] bool: which of the candidates are among the entries (rows, columns)."""
    num_nodes = len(candidates.sizes)
    keys = candidates.rows.astype(np.int64) * num_nodes + candidates.columns
    return np.isin(keys, rows.astype(np.int64) * num_nodes + columns)


def choice(candidates, chosen, k, scores=None):
    """How a choice of k compares with two others, for each node that has more than k candidates.

    Args:
        candidates: a `Candidates`.
        chosen: [E + N] bool, k of each of these nodes.
        k: how many are chosen.
        scores: [N], what the choice was made by, if that is known.

    Returns:
        Dictionary of arrays, a value for each such node. `degree` is the share of its k that a ranking of the same
        candidates by degree takes too, expected over the orders of equal degrees; `degree_most` the largest such share
        that any choice could have, below 1 where equal degrees leave the ranking open; `random` the share expected of
        k drawn by chance, k/n; `tied` whether somebody left out had the same score as somebody chosen.
    """
    active = candidates.sizes > k
    keep = active[candidates.rows]
    number = np.cumsum(active) - 1  # of each active node among the active ones
    rows, columns, chosen = number[candidates.rows[keep]], candidates.columns[keep], chosen[keep]
    sizes = candidates.sizes[active]
    found = {"random": k / sizes, **_overlap(rows, candidates.sizes[columns], sizes, chosen, k)}
    if scores is not None:
        found["tied"] = _tied(sizes, scores[columns], chosen)
    return found


def _overlap(rows, degrees, sizes, chosen, k):
    """Overlap of `chosen` with the k largest `degrees` of each row."""
    if not len(sizes):
        return {"degree": np.zeros(0), "degree_most": np.zeros(0)}
    ranked = degrees[np.lexsort((-degrees, rows))]
    last = ranked[np.cumsum(sizes) - sizes + k - 1][rows]  # the k-th largest of its row
    above, level = degrees > last, degrees == last

    def count(mask):
        return np.bincount(rows, mask, minlength=len(sizes))

    free = k - count(above)  # places that those of equal degree share
    chance = free / count(level)
    return {
        "degree": (count(chosen & above) + count(chosen & level) * chance) / k,
        "degree_most": (k - free + free * chance) / k,
    }


def _tied(sizes, scores, chosen):
    if not len(sizes):
        return np.zeros(0)
    starts = np.cumsum(sizes) - sizes
    worst_in = np.minimum.reduceat(np.where(chosen, scores, np.inf), starts)
    best_out = np.maximum.reduceat(np.where(chosen, -np.inf, scores), starts)
    return np.isclose(worst_in, best_out, rtol=TIE, atol=1e-12).astype(np.float64)


def write_selection(path, data_dir=None, datasets=DATASETS):
    """Adds to a JSON file what it does not have yet: {data set: `selection` of it}.

    Data do not change, so what is there stays; to count again, delete the file.
    """
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in datasets:
        if name not in known:
            known[name] = selection(degrees_of(load(name, data_dir)))
    ordered = {name: known[name] for name in sorted(known, key=lambda name: order(name, datasets))}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(ordered, indent=2) + "\n")
    return ordered


def order(name, datasets=DATASETS):
    """Where a data set stands in a table."""
    return (datasets.index(name), name) if name in datasets else (len(datasets), name)


def load(name, data_dir=None):
    """A data set with the smallest features: only its edges count here."""
    features = "constant" if name in GRAPH_SETS else "auto"
    return data.load(name, data_dir=data_dir, features=features)


def degrees_of(dataset):
    """Number of neighbours of every node, [N]; some graphs at a time, to be spare with memory."""
    if not isinstance(dataset, GraphDataset):
        return np.bincount(dataset.edges[:, 1], minlength=dataset.num_nodes)
    parts = []
    for start in range(0, len(dataset), GRAPHS_AT_ONCE):
        batch = dataset[start : start + GRAPHS_AT_ONCE].arrays()
        parts.append(np.bincount(batch["edges"][:, 1], minlength=len(batch["x"])))
    return np.concatenate(parts)


def selection(degrees, ks=K_VALUES):
    """Counts of nodes with more than k candidates, the node itself among them, and with more than k neighbours."""
    return {
        "nodes": len(degrees),
        "max_degree": int(degrees.max()),
        "active": {str(k): int((degrees + 1 > k).sum()) for k in ks},
        "active_without_self": {str(k): int((degrees > k).sum()) for k in ks},
    }
