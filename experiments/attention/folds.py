"""The folds to look into: which there are below runs/, and the model, config and data behind each."""

import random
from pathlib import Path
from typing import NamedTuple

import keras

from experiments import config as configs
from experiments.predict import read_model
from experiments.run_folder import RunFolder
from experiments.tasks import load_dataset, make_task
from experiments.training import make_model
from ganet_tf.errors import RunError

NO_ATTENTION = ("linear", "gcn")  # operators that look at no other node, or at all alike
ATTENDING = ("gat",)  # models without a choice of operator that attend


class Fold(NamedTuple):
    """One finished fold (on nodes: one seed).

    Attributes:
        run: the run's folder below runs/, with slashes: `mutag/hganet`, `tuning/cora/scale=sqrt`.
        config: its config.
        number: of the fold or seed.
        folder: that fold's folder.
        result: its result.json.
    """

    run: str
    config: object
    number: int
    folder: Path
    result: dict

    @property
    def operator(self):
        """hgao, cgao, ..., or the model's name where it has no choice of operator."""
        return getattr(self.config.model, "operator", self.config.model.name)

    @property
    def has_attention(self):
        if hasattr(self.config.model, "operator"):
            return self.operator not in NO_ATTENTION
        return self.config.model.name in ATTENDING


def find_folds(names, root, number=1):
    """A fold of some runs, or without names of all below `root` that have attention and a finished fold `number`.

    Args:
        names: runs, as folders below `root` or as paths to these.
        root: the runs/ folder.
        number: which fold (on nodes: seed).

    Raises:
        RunError: when a run that is named is not there, not that far yet, or without attention.
    """
    if not names:
        found = [open_fold(path.parent, root, number) for path in sorted(root.rglob("config.yaml"))]
        return [fold for fold in found if fold and fold.has_attention]
    return [_named(name, root, number) for name in names]


def _named(name, root, number):
    folder = root / name if (root / name / "config.yaml").exists() else Path(name)
    if not (folder / "config.yaml").exists():
        known = ", ".join(fold.run for fold in find_folds((), root, number)) or "none yet"
        raise RunError(f"There is no run {name!r} below {root}; those with attention to look at: {known}.")
    fold = open_fold(folder, root, number)
    if fold is None:
        raise RunError(f"Fold or seed {number} of {folder} is not finished: train it first, or give another --fold.")
    if not fold.has_attention:
        raise RunError(f"{name} has no attention to look at: its operator is {fold.operator}.")
    return fold


def open_fold(folder, root, number):
    """The `Fold` of a run's folder, or None where it is not finished."""
    config = configs.load(folder / "config.yaml")
    run_folder = RunFolder(folder, config.task)
    result = run_folder.result(number)
    if result is None or "failed" in result or not (run_folder.fold(number) / "model.keras").exists():
        return None
    folder, root = Path(folder).resolve(), Path(root).resolve()
    run = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else folder.name
    return Fold(run, config, number, run_folder.fold(number), result)


class Loaded(NamedTuple):
    """What there is to look at.

    Attributes:
        model: the trained Keras model.
        start: the same model as it was before training.
        batches: list of a model's inputs: the test fold's graphs, or the whole graph of all nodes.
    """

    model: keras.Model
    start: keras.Model
    batches: list


def load(fold, data_dir=None):
    """The models and data of a fold."""
    task = make_task(fold.config, load_dataset(fold.config, data_dir))
    split = task.split(fold.number)
    batches = split.held_out if split.final is None else split.final
    model = read_model(fold.folder / "model.keras")
    return Loaded(model, start_model(fold, task), [inputs for inputs, _ in batches])


def start_model(fold, task):
    """The model with the weights that its training began with: Keras draws their seeds from Python's generator."""
    random.seed(fold.result["seed"])
    model = make_model(fold.config, task.dataset)
    model.build({name: tuple(tensor.shape) for name, tensor in task.spec().items()})
    return model
