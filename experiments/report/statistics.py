"""Tests of paired differences over folds, and a correction for making many of them.

Folds of one data set share most of their training graphs, so differences over folds are not independent and the
usual t-test is too sure of itself; Nadeau and Bengio (2003) widen its variance for that. Wilcoxon's signed-rank test
assumes no distribution, but does take the folds as independent.
"""

import math
import statistics
from functools import cache

import numpy as np
from scipy import stats

TIE = 0.01  # percentage points; one graph more or less in a fold is worth at least 0.2, rounding at most 0.0002
EVERY_SIGN_PATTERN = stats.PermutationMethod(n_resamples=math.inf)


def wilcoxon(differences):
    """Two-sided, exact p-value of the signed-rank test. Zeros are dropped, equal differences share their mean rank."""
    kept = np.array([value for value in differences if abs(value) > TIE])
    if not len(kept):
        return 1.0
    sizes = np.sort(np.abs(kept))
    levels = np.cumsum(np.diff(sizes, prepend=0) >= TIE)  # accuracies are rounded: nearly equal is equal
    signed = np.sign(kept) * levels[np.searchsorted(sizes, np.abs(kept))]
    return _exact_p(tuple(signed.tolist()))


@cache
def _exact_p(differences):
    """SciPy's p-value: its method="exact" is fast, but takes all ranks as different; with ties it counts patterns."""
    tied = len({abs(value) for value in differences}) < len(differences)
    return float(stats.wilcoxon(differences, method=EVERY_SIGN_PATTERN if tied else "exact").pvalue)


def corrected_t(differences, ratio):
    """(t, two-sided p) of Nadeau and Bengio's corrected resampled t-test, n - 1 degrees of freedom.

    t = mean(d) / sqrt((1/n + n_test/n_train) var(d)).

    Args:
        differences: one for each fold.
        ratio: n_test / n_train.
    """
    n, mean = len(differences), statistics.fmean(differences)
    spread = math.sqrt((1 / n + ratio) * statistics.variance(differences))
    if spread == 0:
        return (0.0, 1.0) if mean == 0 else (math.copysign(math.inf, mean), 0.0)
    t = mean / spread
    return t, float(2 * stats.t.sf(abs(t), n - 1))


def holm(p_values):
    """Holm's step-down correction: adjusted p-values, in the order given."""
    adjusted, reached = [0.0] * len(p_values), 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = reached
    return adjusted


def smallest_wilcoxon(folds):
    """The smallest p-value that the signed-rank test can give with so many folds."""
    return 2 / 2**folds


def held_out_ratio(folds, validation_share=0.0):
    """n_test / n_train of cross-validation, when a share of the training part is set aside."""
    return 1 / ((folds - 1) * (1 - validation_share))
