"""Timing: how often it calls, never how long that takes."""

import pytest

from ganet_tf.profiling import timing


class Clock:
    """Stands in for the clock: every call that is timed takes as long as the test says."""

    def __init__(self, monkeypatch, *seconds):
        self.now, self.seconds, self.calls = 0.0, list(seconds), 0
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def call(self):
        self.now += self.seconds[min(self.calls, len(self.seconds) - 1)]
        self.calls += 1


@pytest.mark.parametrize(
    ("seconds", "repeats"),
    [(0.001, 50), (0.5, 4), (0.9, 3), (1.4, 3), (2.2, 2), (10.0, 1)],
    ids=["fast: at most fifty", "within budget", "third fills it", "least", "slow: two", "very slow: one"],
)
def test_calls_are_bounded(monkeypatch, seconds, repeats):
    clock = Clock(monkeypatch, seconds)
    assert timing.measure(clock.call, budget=2.0).repeats == repeats
    assert clock.calls == repeats + 1


def test_without_a_budget_one_call_is_timed(monkeypatch):
    assert timing.measure(Clock(monkeypatch, 1.0).call, budget=0).repeats == 1


def test_median_and_quartiles_in_milliseconds(monkeypatch):
    clock = Clock(monkeypatch, 9.0, 0.001, 0.003, 0.005)  # the first one is the warm-up
    result = timing.measure(clock.call, budget=1.0, most=3)
    assert result.median == pytest.approx(3.0)
    assert result.low == pytest.approx(2.0)
    assert result.high == pytest.approx(4.0)


def test_the_first_timed_call_can_be_watched(monkeypatch):
    clock = Clock(monkeypatch, 1.0)
    watched = []

    def watch(call):
        watched.append(clock.calls)
        call()

    assert timing.measure(clock.call, budget=3.0, around_first=watch).repeats == 3
    assert watched == [1]  # after the warm-up
    assert clock.calls == 4
