"""Cutting a data set into folds and parts of like class shares."""

import warnings

import numpy as np

from ganet_tf.errors import DataFormatError


def stratified_folds(y, num_folds=10, seed=0):
    """Returns a list of `num_folds` pairs (train, test) of index arrays with the class shares of the whole.

    Every index is in exactly one test part.
    """
    from sklearn.model_selection import StratifiedKFold

    y = np.asarray(y)
    if not 2 <= num_folds <= len(y):
        raise DataFormatError(f"num_folds must be from 2 to the number of graphs, {len(y)}, but is {num_folds}")
    if np.bincount(y).max() < num_folds:
        raise DataFormatError(
            f"{num_folds} stratified folds need a class with at least {num_folds} graphs, "
            f"but the largest has {np.bincount(y).max()}; ask for fewer with num_folds"
        )
    folder = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class with fewer members than folds is then missing in some of them, which is the best one can do.
        warnings.simplefilter("ignore", UserWarning)
        return [(train, test) for train, test in folder.split(np.zeros(len(y)), y)]


def stratified_split(y, fraction, seed=0):
    """Returns sorted index arrays (rest, part); the part has `fraction` of the graphs, class by class.

    Classes take turns in rounding, so that the part has round(fraction * n) graphs; it has at least one and leaves
    at least one.
    """
    if not 0 < fraction < 1:
        raise DataFormatError(f"fraction must be between 0 and 1, but is {fraction}")
    y = np.asarray(y)
    if len(y) < 2:
        raise DataFormatError(f"a data set of {len(y)} graphs cannot be split in two")
    rng = np.random.default_rng([int(seed), len(y)])
    order = rng.permutation(len(y))
    # Spread each class evenly over (0, 1); the first `fraction` of that line holds its share of every class.
    place = np.empty(len(y))
    for value in np.unique(y):
        members = order[y[order] == value]
        place[members] = (np.arange(len(members)) + rng.random()) / len(members)
    size = min(max(round(fraction * len(y)), 1), len(y) - 1)
    ranked = np.argsort(place, kind="stable")
    return np.sort(ranked[size:]), np.sort(ranked[:size])
