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
        budget: seconds after which no further call is started, warm-up not counted.
        least: calls to time even when the budget is spent; two are enough once it is spent three times over.
        most: calls to time at most.
        warmup: calls before the clock starts.
        around_first: a function that makes the first timed call itself: a slow call can be watched and timed at once.

    Returns:
        A `Timing`.
    """
    for _ in range(warmup):
        call()
    seconds = []

    def timed():
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)

    if around_first is not None:
        around_first(timed)
    while len(seconds) < min(2, least) or sum(seconds) < (3 * budget if len(seconds) < least else budget):
        timed()
        if len(seconds) >= most:
            break
    low, median, high = np.percentile(np.array(seconds) * 1e3, [25, 50, 75])
    return Timing(float(median), float(low), float(high), len(seconds))
