"""The run folders to look into: which there are, and the model, config and data behind each."""

import random
from pathlib import Path
from typing import NamedTuple

import keras

from experiments import config_loader, resolve, session
from experiments.model_factory import make_model
from experiments.run_folder import RunFolder
from ganet_tf.errors import RunError

NO_ATTENTION = ("linear", "gcn", "dgcnn")


class Run(NamedTuple):
    """One finished fold (or run, on nodes).

    Attributes:
        cell: the folder's path below runs/, with slashes: `mutag_hganet`, `tuning/cora/scale=sqrt`.
        config: its config.
        number: of the fold or run.
        folder: that fold's folder.
        result: its result.json.
    """

    cell: str
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
        return self.operator not in NO_ATTENTION


def find_runs(names, root, number=1):
    """The runs of some cells, or without names of all below `root` that have attention and a finished fold `number`.

    Args:
        names: cells, as folders below `root` or as paths to these.
        root: the runs/ folder.
        number: which fold or run.

    Raises:
        RunError: when a cell that is named is not there, not that far yet, or without attention.
    """
    if not names:
        found = [open_run(path.parent, root, number) for path in sorted(root.rglob("config.yaml"))]
        return [run for run in found if run and run.has_attention]
    return [_named(name, root, number) for name in names]


def _named(name, root, number):
    folder = root / name if (root / name / "config.yaml").exists() else Path(name)
    if not (folder / "config.yaml").exists():
        known = ", ".join(run.cell for run in find_runs((), root, number)) or "none yet"
        raise RunError(f"There is no run {name!r} below {root}; those with attention to look at: {known}.")
    run = open_run(folder, root, number)
    if run is None:
        raise RunError(f"Fold or run {number} of {folder} is not finished: train it first, or give another --fold.")
    if not run.has_attention:
        raise RunError(f"{name} has no attention to look at: its operator is {run.operator}.")
    return run


def open_run(folder, root, number):
    """The `Run` of a folder, or None where that fold is not finished."""
    config = config_loader.load(folder / "config.yaml")
    member = RunFolder(folder, config.task)
    result = member.result(number)
    if result is None or "failed" in result or not (member.member(number) / "model.keras").exists():
        return None
    folder, root = Path(folder).resolve(), Path(root).resolve()
    cell = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else folder.name
    return Run(cell, config, number, member.member(number), result)


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


def load(run, data_dir=None):
    """The models and data of a run."""
    task = session.make_task(run.config, resolve.load_dataset(run.config, data_dir))
    member = task.member(run.number)
    batches = member.held_out if member.final is None else member.final
    model = keras.models.load_model(run.folder / "model.keras")
    return Loaded(model, start_model(run, task), [inputs for inputs, _ in batches])


def start_model(run, task):
    """The model with the weights that its training began with: Keras draws their seeds from Python's generator."""
    random.seed(run.result["seed"])
    model = make_model(run.config, task.dataset)
    model.build({name: tuple(tensor.shape) for name, tensor in task.spec().items()})
    return model
