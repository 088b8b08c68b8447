"""Paired tests against their definitions and against numbers worked out by hand."""

import math
from itertools import compress, product
from random import Random

import pytest
from scipy import stats

from experiments.report.statistics import corrected_t, held_out_ratio, holm, smallest_wilcoxon, wilcoxon


def counted(differences):
    """The p-value by its definition: the share of all sign patterns that are at least as extreme, on both sides."""
    sizes = [abs(value) for value in differences]
    ranks = [sum(other < size for other in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    sums = [sum(compress(ranks, signs)) for signs in product((0, 1), repeat=len(ranks))]
    positive = sum(compress(ranks, (value > 0 for value in differences)))
    smaller = min(positive, sum(ranks) - positive)
    return min(1.0, 2 * sum(total <= smaller for total in sums) / len(sums))


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_without_ties(seed):
    random = Random(seed)
    differences = [random.choice([-1, 1, 1]) * size / 10 for size in random.sample(range(1, 100), 10)]
    assert wilcoxon(differences) == pytest.approx(counted(differences))


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_with_ties(seed):
    random = Random(seed)
    differences = [random.choice([-2.0, -1.0, 1.0, 1.0, 2.0, 3.0]) for _ in range(9)]
    assert wilcoxon(differences) == pytest.approx(counted(differences))


def test_wilcoxon_by_hand():
    # Ranks 1, 2, 3, all positive: 1 of 8 patterns is as extreme, and its mirror.
    assert wilcoxon([1.0, 2.0, 3.0]) == 0.25
    # Ranks 1.5, 1.5, 3 with a negative 1.5: sums of negative ranks up to 1.5 are 0, 1.5, 1.5 of 8, twice.
    assert wilcoxon([1.0, -1.0, 3.0]) == 0.75
    assert wilcoxon([0.0, 1.0, 2.0, 3.0]) == wilcoxon([1.0, 2.0, 3.0])  # zeros are dropped


def test_wilcoxon_sees_rounded_accuracies_as_ties():
    # One graph of 18, from accuracies with four decimals.
    rounded = [88.8889 - 83.3333, 83.3333 - 88.8889, 94.4444 - 88.8889, 5.55555]
    assert wilcoxon(rounded) == wilcoxon([1.0, -1.0, 1.0, 1.0])


def test_no_difference_at_all():
    assert wilcoxon([0.0] * 10) == 1.0
    assert corrected_t([0.0] * 10, 1 / 9) == (0.0, 1.0)


def test_smallest_wilcoxon():
    assert wilcoxon([float(i) for i in range(1, 11)]) == smallest_wilcoxon(10) == 2 / 1024


def test_corrected_t_by_hand():
    # mean 2, variance 1, n = 3: t = 2 / sqrt(1/3 + 1/2) = 2.19089; for 2 degrees of freedom
    # the t distribution has a closed form: p = 1 - t / sqrt(t^2 + 2).
    t, p = corrected_t([1.0, 2.0, 3.0], 1 / 2)
    assert t == pytest.approx(2.19089, abs=1e-5)
    assert p == pytest.approx(1 - t / math.sqrt(t * t + 2))


def test_corrected_t_without_overlap_is_the_usual_one():
    differences = [0.3, -1.2, 2.2, 0.8, 1.9]
    expected = stats.ttest_1samp(differences, 0.0)
    assert corrected_t(differences, 0.0) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_same_difference_in_every_fold():
    assert corrected_t([-1.0] * 4, 1 / 3) == (-math.inf, 0.0)


def test_held_out_ratio():
    assert held_out_ratio(10) == pytest.approx(1 / 9)
    assert held_out_ratio(10, 0.1) == pytest.approx(0.1 / 0.81)


def test_holm_by_hand():
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.5; none below one before it.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
