"""Ratios, spreads and exponents of the benchmarks."""

import numpy as np
import pytest

from benchmarks.peers.statistics import exponent, ratios, repeats, spread


def test_spread_has_median_and_quartiles():
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "count": 5}
    assert spread([]) is None


def test_ratios_compare_rounds_that_both_ran():
    found = ratios({0: 4.0, 1: 9.0, 5: 100.0}, {0: 2.0, 1: 3.0, 2: 0.1})
    assert found["count"] == 2
    assert found["median"] == 2.5
    assert found["best"] == 2.0  # 4 / 2: the round that only one of them ran does not count


def test_ratios_without_a_shared_round():
    assert ratios({0: 1.0}, {1: 1.0}) is None


def test_a_noisy_minute_cancels_out():
    noise = np.array([1.0, 7.0, 2.0])
    theirs, ours = dict(enumerate(3 * noise)), dict(enumerate(noise))
    assert ratios(theirs, ours)["low"] == ratios(theirs, ours)["high"] == 3.0


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponent_of_a_power(power):
    sizes = [1e3, 1e4, 1e5]
    found = exponent(sizes, [0.3 * n**power for n in sizes])
    assert found["exponent"] == pytest.approx(power)
    assert found["error"] == pytest.approx(0.0, abs=1e-7)
    assert found["points"] == 3


def test_exponent_of_one_size_is_unknown():
    assert exponent([10], [1.0]) is None


def test_short_calls_are_repeated():
    assert repeats(0.001) == 20
    assert repeats(0.05) == 3
    assert repeats(2.0) == 1
    assert repeats(0.0) == 20
