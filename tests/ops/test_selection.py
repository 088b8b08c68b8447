"""Ranking by degree buckets: the k best of each node, ties by index, and never more than O(E) places."""

from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ganet_tf.ops import selection
from ganet_tf.ops.neighborhood import neighborhood
from tests.graphs import graph_batches, hub, modest


def chosen(table):
    return [set(c[m].tolist()) for c, m in zip(table.columns.numpy(), table.mask.numpy(), strict=True)]


def best(lists, score, k):
    """For each node, the k neighbours with the largest score(i, j), the smaller index first among equals."""
    return [set(sorted(js, key=lambda j, i=i: (-score(i, j), j))[:k]) for i, js in enumerate(lists)]


def lists_of(nb):
    splits, columns = nb.row_splits.numpy(), nb.columns.numpy()
    return [columns[a:b].tolist() for a, b in pairwise(splits)]


@modest
@given(graph_batches(), st.integers(1, 7), st.booleans())
def test_the_k_best_neighbours(batch, k, ties):
    scores = np.abs(batch.x[:, 0])
    scores = np.round(scores) if ties else scores
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    table = selection.select_by_node(nb, tf.constant(scores), k)
    assert chosen(table) == best(lists_of(nb), lambda i, j: scores[j], k)
    entry_scores = scores[nb.columns.numpy()]
    assert chosen(selection.select_by_entry(nb, tf.constant(entry_scores), k)) == chosen(table)


@pytest.mark.parametrize("k", [1, 3, 8, 200])
def test_degrees_of_all_sizes_at_once(k):
    rng = np.random.default_rng(0)
    n = 300
    mask = rng.random((n, n)) < np.linspace(0, 1, n)[:, None] ** 2  # degrees from 1 to n
    np.fill_diagonal(mask, False)
    edges = np.argwhere(mask)[:, ::-1].astype("int32")
    scores = np.round(rng.random(n), 2)
    nb = neighborhood(tf.constant(edges), n)
    table = selection.select_by_node(nb, tf.constant(scores), k)
    assert chosen(table) == best(lists_of(nb), lambda i, j: scores[j], k)


def test_scores_of_entries_may_rank_negative_and_infinite():
    nb = neighborhood(tf.constant([[1, 0], [2, 0], [3, 0]]), 4)
    scores = tf.constant([-np.inf, -5.0, -1.0, -3.0, 0.0, 0.0, 0.0])  # entries (0,0), (0,1), (0,2), (0,3), ...
    assert chosen(selection.select_by_entry(nb, scores, 2))[0] == {2, 3}


@pytest.mark.parametrize("degree", range(1, 12))
def test_negative_scores_rank_above_padding(degree):
    """Whatever the length of its list is padded to."""
    nb = neighborhood(tf.constant([[source, 0] for source in range(1, degree + 1)]), degree + 1)
    scores = -1.0 - tf.range(tf.size(nb.columns), dtype=tf.float32)  # the entries of node 0 come first
    assert chosen(selection.select_by_entry(nb, scores, 2))[0] == {0, 1}


@pytest.mark.parametrize("degree", [999, 50_000])
def test_padding_stays_below_one_and_a_half_times_the_entries(degree):
    batch = hub(degree)
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    buckets = selection._buckets(nb, 8)
    assert int(tf.size(buckets.places)) <= 1.5 * int(tf.size(nb.columns))
    table = selection.select_by_node(nb, tf.range(degree + 1.0), 8)
    assert table.columns.shape == (degree + 1, 8)
    assert chosen(table)[0] == set(range(degree - 7, degree + 1))


@pytest.mark.parametrize("by", ["node", "entry"])
def test_scores_that_are_no_numbers_never_let_padding_in(by):
    """A hub with 5 neighbours: its list is padded, and everything in it ranks at the bottom."""
    graph = hub(degree=5)
    nb = neighborhood(tf.constant(graph.edges), len(graph.x))
    for value in (np.nan, -np.inf):
        count = nb.num_nodes if by == "node" else tf.size(nb.columns)
        scores = tf.fill([count], tf.constant(value, tf.float32))
        select = selection.select_by_node if by == "node" else selection.select_by_entry
        table = select(nb, scores, 3)
        assert chosen(table)[0] == {0, 1, 2}
        assert all(set(found) <= set(js) for found, js in zip(chosen(table), lists_of(nb), strict=True))
