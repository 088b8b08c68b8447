"""Our exact counts, against counting the neighbours one by one."""

import math

import numpy as np
import pytest

from ganet_tf.layers.operators import profiled_operators
from ganet_tf.ops.neighbor_tables import FOLD_WIDTH
from ganet_tf.profiling import Size, counts, simulated_edges

N, F, U, K = 40, 5, 3, 4


@pytest.fixture(scope="module")
def edges():
    return simulated_edges(N, 6, seed=1)


@pytest.fixture(scope="module")
def size(edges):
    return Size.of(edges, N, F, U, K)


def neighbour_lists(edges):
    lists = [[i] for i in range(N)]
    for source, target in edges.tolist():
        lists[target].append(source)
    return lists


def test_size_reads_the_graph(edges, size):
    lists = neighbour_lists(edges)
    assert size.neighbours == sum(map(len, lists))
    assert size.longest == max(map(len, lists))
    assert size.table == sum(FOLD_WIDTH * math.ceil(len(one) / FOLD_WIDTH) for one in lists)


def test_size_without_a_graph():
    size = Size.of(None, 10, 4)
    assert (size.edges, size.units, size.longest, size.table) == (0, 4, 0, 0)


def test_gao_counts_each_pair_once(edges, size):
    transforms = N * F * F + N * F * U
    pairs = [(i, j) for i in range(N) for j in range(N)]
    assert counts.exact_madd("gao", "dense", size) == transforms + len(pairs) * (F + U)
    lists = neighbour_lists(edges)
    padded = sum(FOLD_WIDTH * math.ceil(len(one) / FOLD_WIDTH) for one in lists)
    assert counts.exact_madd("gao", "sparse", size) == transforms + padded * F + sum(map(len, lists)) * U


def test_hgao_counts_k_places_a_node(size):
    expected = 2 * N * F + N * F * F + N * F * U + N * K * (F + U)
    assert counts.exact_madd("hgao", "dense", size) == counts.exact_madd("hgao", "sparse", size) == expected


def test_cgao_is_the_papers_count_for_square_layers():
    size = Size.of(None, 1000, 48)
    assert counts.exact_madd("cgao", "dense", size) == 4 * 1000 * 48**2


def test_dense_gao_is_the_papers_count_for_square_layers():
    size = Size.of(np.zeros((0, 2), int), 1000, 48)
    assert counts.exact_madd("gao", "dense", size) == 2 * 1000**2 * 48 + 2 * 1000 * 48**2


def test_gcn_counts_each_entry(edges, size):
    entries = sum(map(len, neighbour_lists(edges)))
    assert counts.exact_madd("gcn", "sparse", size) == N * F * U + entries * U + 2 * N * U


@pytest.mark.parametrize("operator", profiled_operators())
@pytest.mark.parametrize("implementation", ["sparse", "dense"])
def test_growth_with_the_number_of_nodes(operator, implementation):
    """Twice the nodes at the same degree: twice the sparse count, four times the dense one where it is N x N."""
    if (operator, implementation) == ("cgao", "sparse"):
        assert counts.exact_madd(operator, implementation, Size.of(None, 5, 5)) is None
        return
    small, large = (
        counts.exact_madd(operator, implementation, Size.of(simulated_edges(n, 6), n, 8, 8, 4)) for n in (4000, 8000)
    )
    quadratic = implementation == "dense" and operator in ("gao", "topk", "sampled", "gcn")
    assert large / small == pytest.approx(4.0 if quadratic else 2.0, rel=0.02)


def test_neighbour_lists_put_hgao_below_cgao():
    """By the paper's count it is the other way round, see tests/experiments/efficiency/test_paper.py."""
    size = Size.of(simulated_edges(1000, 8), 1000, 48, 48, 8)
    assert counts.exact_madd("hgao", "sparse", size) < counts.exact_madd("cgao", "dense", size)


def test_memory_needed_grows_with_gradients_and_nodes(size):
    need = counts.needed_bytes("gao", "dense", size)
    assert counts.needed_bytes("gao", "dense", size, gradients=True) > need > 4 * N * N
    large = Size.of(simulated_edges(2000, 6), 2000, F, U, K)
    assert counts.needed_bytes("hgao", "sparse", large) < counts.needed_bytes("hgao", "dense", large) / 10


def test_unknown_layers_have_no_count(size):
    assert counts.exact_madd("mine", "dense", size) is None
