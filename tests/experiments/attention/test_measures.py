"""Entropies and overlaps against loops and counts by hand."""

from itertools import combinations

import numpy as np
import pytest

from experiments.attention.measures import (
    candidates_of,
    choice,
    entropy_ratios,
    is_chosen,
)
from ganet_tf.explain.attention import row_softmax

# Node 0 knows everybody, 3 and 4 know each other: candidates 5, 2, 2, 3, 3, and so the ranking 0; 3 = 4; 1 = 2.
PAIRS = np.array([(0, 1), (0, 2), (0, 3), (0, 4), (3, 4)])
EDGES = np.concatenate([PAIRS, PAIRS[:, ::-1]])


def choose(*columns):
    """What `choice` says when node 0 takes these."""
    candidates = candidates_of(EDGES, 5)
    chosen = is_chosen(candidates, np.zeros(len(columns), int), np.array(columns))
    return {key: values[0] for key, values in choice(candidates, chosen, len(columns)).items()}


def test_entropy_is_1_for_equal_weights_and_0_for_one_of_several():
    rows = np.array([0, 0, 0, 1, 2, 2])
    weights = np.array([1 / 3, 1 / 3, 1 / 3, 1, 0, 1])[:, None]
    np.testing.assert_allclose(entropy_ratios(rows, weights), [1, 0], atol=1e-12)  # node 1 has no choice


def test_entropy_against_a_loop():
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, 9, 60))
    weights = row_softmax(np.unique(rows, return_inverse=True)[1], rng.normal(size=(60, 3)))
    expected = []
    for row in np.unique(rows):
        mine = weights[rows == row]
        if len(mine) > 1:
            heads = [-sum(p * np.log(p) for p in head) / np.log(len(head)) for head in mine.T]
            expected.append(np.mean(heads))
    np.testing.assert_allclose(entropy_ratios(rows, weights), expected)


def test_softmax_of_each_row():
    rows, scores = np.array([0, 0, 1, 2, 2]), np.array([[1.0], [3.0], [900.0], [5.0], [5.0]])
    odd = 1 / (1 + np.exp(2))
    np.testing.assert_allclose(row_softmax(rows, scores)[:, 0], [odd, 1 - odd, 1, 0.5, 0.5])


def test_candidates_are_neighbours_and_the_node_itself():
    candidates = candidates_of(EDGES, 5)
    assert candidates.sizes.tolist() == [5, 2, 2, 3, 3]
    assert candidates.columns[candidates.rows == 3].tolist() == [0, 3, 4]


def test_overlap_with_degree_by_hand():
    assert choose(0, 3, 4) == pytest.approx({"degree": 1, "degree_most": 1, "random": 3 / 5})
    assert choose(0, 1, 3) == pytest.approx({"degree": 2 / 3, "degree_most": 1, "random": 3 / 5})
    assert choose(1, 2, 4)["degree"] == pytest.approx(1 / 3)


def test_equal_degrees_share_what_is_left():
    # Two places: node 0 has one, 3 and 4 have the other each half of the time.
    assert choose(0, 3) == pytest.approx({"degree": 0.75, "degree_most": 0.75, "random": 2 / 5})
    assert choose(3, 4)["degree"] == pytest.approx(0.5)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_mean_over_all_choices_is_that_of_chance(k):
    found = [choose(*columns) for columns in combinations(range(5), k)]
    assert np.mean([one["degree"] for one in found]) == pytest.approx(k / 5)
    assert all(one["random"] == pytest.approx(k / 5) for one in found)


def test_only_nodes_with_more_than_k_candidates_count():
    candidates = candidates_of(EDGES, 5)
    for k, nodes in ((2, 3), (3, 1), (5, 0)):
        found = choice(candidates, candidates.columns < k, k, scores=np.zeros(5))
        assert {key: len(values) for key, values in found.items()} == dict.fromkeys(found, nodes)


def test_a_tie_is_somebody_left_out_with_the_same_score():
    candidates = candidates_of(EDGES, 5)
    chosen = is_chosen(candidates, np.zeros(3, int), np.array([0, 1, 2]))
    assert choice(candidates, chosen, 3, np.array([3.0, 2.0, 1.0, 1.0, 0.0]))["tied"].tolist() == [1]
    assert choice(candidates, chosen, 3, np.array([3.0, 2.0, 1.0, 0.5, 0.0]))["tied"].tolist() == [0]
