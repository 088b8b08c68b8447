"""What attention did, in numbers: how even its weights are, and how far a choice is from one by degree or by chance.

Attention comes as entries: node `rows[e]` attends to node `columns[e]` with `weights[e]`. All functions give one value
for each node (or channel), so that batches can be put together before anything is averaged. NumPy alone.
"""

from typing import NamedTuple

import numpy as np

# Attention is asleep where its entropy is above this share of the largest possible one in every module: it then is
# a plain mean, whatever the features are.
ASLEEP = 0.99
# Scores this near, relatively, are the same number but for rounding.
TIE = 1e-5


def is_asleep(modules):
    """Whether the attention of every module (as in a cell's JSON, or its "start") is as good as uniform."""
    entropies = [module["entropy"]["mean"] for module in modules if module["entropy"]]
    return bool(entropies) and min(entropies) > ASLEEP


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


def row_softmax(rows, scores):
    """Softmax of `scores` [P, heads] over the entries of the same row; `rows` ascending, each row there."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    scores = np.asarray(scores, np.float64)
    exps = np.exp(scores - np.maximum.reduceat(scores, starts)[rows])
    return exps / np.add.reduceat(exps, starts)[rows]


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
    number = np.cumsum(active) - 1  # active nodes, counted anew
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
