"""How long a call takes: median and quartiles after warm-up, within a budget of seconds."""

import time
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Milliseconds a call: the median, the lower and the upper quartile, and how many calls they are from."""

    median: float
    low: float
    high: float
    repeats: int


def measure(call, budget=2.0, least=3, most=50, warmup=1, around_first=None):
    """Times a function without arguments.

    Args:
        call: what to time; it must come back only when its work is done (TensorFlow's CPU functions do).
        budget: seconds of timed calls after which no further one is started.
        least: calls to time even when the budget is spent, as long as all calls, the warm-up among them, took
            less than three budgets; one call is timed in any case.
        most: calls to time at most.
        warmup: calls before the first one that counts.
        around_first: a function that makes the first timed call itself: a slow call can be watched and timed at once.

    Returns:
        A `Timing`.
    """
    seconds = []

    def timed():
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)

    for _ in range(warmup):
        timed()
    (around_first or (lambda first: first()))(timed)
    while len(seconds) < warmup + most and (
        sum(seconds[warmup:]) < budget or (len(seconds) < warmup + least and sum(seconds) < 3 * budget)
    ):
        timed()
    low, median, high = np.percentile(np.array(seconds[warmup:]) * 1e3, [25, 50, 75])
    return Timing(float(median), float(low), float(high), len(seconds) - warmup)
