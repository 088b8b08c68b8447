"""Medians with their spread, ratios of rounds, and exponents of growth."""

import numpy as np


def spread(values):
    """{"median", "low", "high", "count"}: the median and the quartiles; None for no values."""
    if not len(values):
        return None
    low, median, high = np.percentile(np.asarray(values, float), [25, 50, 75])
    return {"median": float(median), "low": float(low), "high": float(high), "count": len(values)}


def ratios(theirs, ours):
    """Their seconds over ours, round by round; rounds that either side sat out are left out.

    Args:
        theirs, ours: {round: seconds}.

    Returns:
        As `spread`, and "best": their fastest round over our fastest. Above 1, we are faster. None without a round.
    """
    shared = sorted(theirs.keys() & ours.keys())
    if not shared:
        return None
    best = min(theirs[number] for number in shared) / min(ours[number] for number in shared)
    return {**spread([theirs[number] / ours[number] for number in shared]), "best": best}


def exponent(sizes, values):
    """The slope b of log(value) = a + b log(size), with the standard error of the fit (0 for two points).

    Returns:
        {"exponent", "error", "points"}, or None for fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        return None
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(values, float))
    x = x - x.mean()
    slope = float(x @ (y - y.mean()) / (x @ x))
    rest = y - y.mean() - slope * x
    error = float(np.sqrt(rest @ rest / (len(x) - 2) / (x @ x))) if len(x) > 2 else 0.0
    return {"exponent": slope, "error": error, "points": len(x)}


def repeats(seconds, least=0.15, most=20):
    """How many calls make up one timing: several of a short one, as in training, which runs with warm caches."""
    return int(min(max(np.ceil(least / max(seconds, 1e-6)), 1), most))
