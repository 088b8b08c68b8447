"""Cutting a data set into folds and parts: stratified ones, and the ten that DGCNN published."""

import hashlib
import logging
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data.cache import cache_folder, temporary_folder, writable_folder
from ganet_tf.data.registry import DGCNN_HOST, Entry
from ganet_tf.data.sources import data_folder, download
from ganet_tf.data.tu import read_numbers
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError, DownloadError
from ganet_tf.files import UNFINISHED


def stratified_folds(y: ArrayLike, num_folds: int = 10, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
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


def stratified_split(y: ArrayLike, fraction: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
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


log = logging.getLogger(__name__)

_announced = set()  # data sets of which it was said that they have no folds: once is enough

FILES = tuple(f"{part}_idx-{index}.txt" for index in range(1, 11) for part in ("train", "test"))


class PublishedFolds:
    """Finds and reads the folds of one data set when they are first asked for.

    Looks in the user's folder (`folds/NAME`), in the cache, and in DGCNN's repository.

    Args:
        entry: `registry.Entry`.
        data_dir: The user's folder; GANET_DATA by default.
        online: Whether the net may be asked.
    """

    def __init__(self, entry: Entry, data_dir: str | os.PathLike | None = None, online: bool = True):
        self.entry = entry
        self.data_dir = data_dir
        self.online = online
        self._arrays = None
        self._reason = None

    def available(self) -> bool:
        """Whether there are folds. If they should exist but cannot be found, one line says so, once."""
        if not self.entry.folds:
            return False
        if self._arrays is None and self._reason is None:
            try:
                self._arrays = self._find()
            except DatasetNotFoundError as error:
                self._reason = str(error)
                if self.entry.name not in _announced:
                    log.warning("%s Taking stratified folds instead: not the paper's split.", error)
                _announced.add(self.entry.name)
        return self._arrays is not None

    def indices(self, index: int, num_graphs: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (train, test) of fold `index`, from 1.

        Raises:
            DatasetNotFoundError: If they cannot be found.
        """
        if not self.available():
            raise DatasetNotFoundError(self._reason or f"there are no published folds of {self.entry.name}.")
        train, test = self._arrays[2 * index - 2], self._arrays[2 * index - 1]
        if max(train.max(), test.max()) >= num_graphs:
            raise DataFormatError(
                f"the folds of {self.entry.name} name more graphs than the data set has: {num_graphs}"
            )
        return train.copy(), test.copy()

    def _find(self):
        reasons = []
        user = data_folder(self.data_dir)
        for folder in ([user / "folds"] if user else []) + [cache_folder() / "files" / "folds"]:
            if all((folder / self.entry.stem / name).is_file() for name in FILES):
                return read_folds(folder / self.entry.stem, self.entry.folds[1])
            reasons.append(f"not in {folder / self.entry.stem}")
        if self.online:
            try:
                return self._download()
            except (DownloadError, ChecksumError, DataFormatError) as error:
                reasons.append(f"{DGCNN_HOST}: {error}")
        raise DatasetNotFoundError(f"DGCNN's folds of {self.entry.name} could not be found ({'; '.join(reasons)}).")

    def _download(self):
        """Downloads into the cache, or into a temporary folder if the cache's disk is full."""
        try:
            return self._download_to(writable_folder("files", "folds", self.entry.stem))
        except (ChecksumError, DataFormatError, DownloadError):
            raise
        except OSError as error:
            log.warning("DGCNN's folds of %s: %s", self.entry.name, error)
        try:
            return self._download_to(temporary_folder("files", "folds", self.entry.stem))
        except OSError as error:
            raise DownloadError(str(error)) from error

    def _download_to(self, target):
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=target) as folder:
            for name in FILES:
                download(f"{DGCNN_HOST}{self.entry.folds[0]}/10fold_idx/{name}", Path(folder) / name)
            arrays = read_folds(folder, self.entry.folds[1])
            for name in FILES:
                os.replace(Path(folder) / name, target / name)
        return arrays


def read_folds(folder: str | os.PathLike, digest: str) -> list[np.ndarray]:
    """Returns the index arrays of all ten folds in the order of `FILES`, and checks that they are DGCNN's."""
    arrays, actual = [], hashlib.sha256()
    for name in FILES:
        with open(Path(folder) / name, "rb") as stream:
            arrays.append(read_numbers(stream, name, np.int64, columns=1)[:, 0])
        actual.update(np.ascontiguousarray(arrays[-1]))
    if actual.hexdigest() != digest:
        raise ChecksumError(
            f"the folds in {folder} are not DGCNN's: the SHA-256 of their numbers is {actual.hexdigest()}, "
            f"{digest} was expected; get them again, or use splits='stratified'"
        )
    return arrays
