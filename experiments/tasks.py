"""The two tasks, and what one fold of each consists of: what it trains on, what chooses its epoch, what tests it."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from experiments import selection
from experiments.config import check_task, is_folder, shipped
from experiments.objective import METRICS, as_kind, objective_of
from experiments.training import model_class
from ganet_tf import data
from ganet_tf.errors import ConfigError

VALIDATION_SHARE = 0.1
SPARSE_SHARE = 0.2  # features of which a smaller share is not 0 go through the network as a sparse matrix


def load_dataset(config, data_dir=None):
    """The data set of a config, with targets of the kind and node splits that it asks for.

    Raises:
        ConfigError: when it belongs to the other task, or has no such targets or splits.
    """
    options = {"unknown": config.unknown}
    if config.task == "graph":
        options["features"] = config.features
    elif config.normalize_features and not is_folder(config.dataset):
        options["normalize_features"] = config.normalize_features
    known = shipped(config.dataset)
    if known and known["task"] != config.task:
        raise ConfigError(f"{config.dataset} is not a data set for the {config.task} task.")
    dataset = check_task(data.load(config.dataset, data_dir=data_dir, **options), config.task)
    dataset = as_kind(dataset, config.target)
    if dataset.target.kind != "classes" and config.select != "val_loss":
        raise ConfigError(f"select {config.select} is for classes; for {dataset.target.kind} set it to val_loss.")
    return dataset if config.task == "graph" else split_nodes(config, dataset)


def split_nodes(config, dataset):
    """The node data set with its own splits, where it has all three, or with made ones.

    Made splits belong to the data: --seed varies the training, never what is tested.
    """
    empty = [split for split in ("train", "val", "test") if len(dataset.nodes(split)) == 0]
    if config.splits == "own" or (config.splits == "auto" and len(empty) < 3):
        if empty:
            raise ConfigError(
                f"{dataset.name} has no {empty[0]} nodes: give train, val and test nodes, or have all three made "
                "with --set splits=stratified."
            )
        return dataset
    cut = dataset.random_split if config.splits == "random" else dataset.stratified_split
    made = cut(config.train_share, config.val_share, seed=0)
    if any(len(made.nodes(split)) == 0 for split in ("train", "val", "test")):
        raise ConfigError(
            f"{dataset.name} has too few nodes with a target to train, validate and test on shares of "
            f"{config.train_share:g}, {config.val_share:g} and the rest."
        )
    return made


def settle_splits(config, dataset):
    """`splits: auto` becomes what it means for this data set, so that a run cannot mix two kinds."""
    if config.task == "node" or config.splits == "stratified":
        return config
    if config.splits == "auto":
        splits = dataset.fold_kind if config.folds == 10 else "stratified"
        return dataclasses.replace(config, splits=splits)
    if config.folds != 10:
        raise ConfigError(f"There are 10 published folds, but folds is {config.folds}: set splits to stratified.")
    return config


def make_task(config, dataset):
    """The task object of a config."""
    return (GraphTask if config.task == "graph" else NodeTask)(config, dataset)


@dataclasses.dataclass(frozen=True)
class Split:
    """The data of one fold (graph task) or of one repetition (node task).

    Args:
        batches: `batches(e)` gives the training data of epoch e, from 0: (inputs, y) each.
        steps: batches in an epoch.
        held_out: batches that are evaluated after every epoch.
        parts: {name: slice of the held-out samples}.
        final: batches that are evaluated once, with the chosen weights; None if there are none.
        sizes: {"train": samples, ...}, for the record.
        objective: what is learned, fitted on the training targets.
        test: numbers of the test graphs or nodes in the data set, in the order of the test part.
    """

    batches: Callable[..., Any]
    steps: int
    held_out: Any
    parts: dict[str, slice]
    final: Any
    sizes: dict[str, int]
    objective: Any
    test: np.ndarray


def left_out(config, dataset):
    """Names of inputs that the data have and the model does not take: edge weights, or nothing."""
    weights = dataset.edge_weights if config.task == "node" else dataset[:1].arrays().get("edge_weights")
    taken = (*model_class(config).required, *model_class(config).optional)
    return [] if weights is None or "edge_weights" in taken else ["edge_weights"]


def _without(inputs, names):
    return {name: part for name, part in inputs.items() if name not in names} if names else inputs


def _aside(config, names):
    return [f"The edges have weights, which {config.model.name} does not take: they are left aside."] if names else []


class GraphTask:
    """The folds of a `GraphDataset` under one protocol.

    *paper*: trains on nine folds, evaluates the tenth after every epoch, and reports the last epoch
    and the best one; the second is selected on test. *validation*: a stratified tenth of the training
    graphs chooses the epoch, and the test fold is evaluated once, with that epoch's weights.

    Args:
        config: a `GraphConfig`.
        dataset: the whole `GraphDataset`.
    """

    def __init__(self, config, dataset):
        self.config = config
        self.objective = objective_of(dataset.target)
        known = self.objective.known(dataset.y)
        self._numbers = np.flatnonzero(known)
        self.dataset = dataset if known.all() else dataset.subset(known)
        self._left_out = left_out(config, dataset)
        self.notes = _aside(config, self._left_out)
        if not known.all():
            self.notes.append(f"{(~known).sum()} graphs have no target: they are left out.")
        if len(self.dataset) < config.folds:
            raise ConfigError(f"folds is {config.folds}, but {dataset.name} has only {len(self.dataset)} graphs.")

    def spec(self):
        """What a model's inputs look like: {name: TensorSpec}."""
        return _without(self.dataset[:1].batches(1).element_spec[0], self._left_out)

    def _batches(self, dataset):
        """Batches for evaluation."""
        batches = dataset.batches(self.config.eval_batch_size)
        return batches.map(lambda inputs, y: (_without(inputs, self._left_out), y)) if self._left_out else batches

    def split(self, number):
        """The data of one fold."""
        config = self.config
        # The folds belong to the data: --seed varies the training, never what is tested on what.
        indices = self.dataset.fold_indices(number, splits=config.splits, seed=0, num_folds=config.folds)
        train, test = (self.dataset.subset(part) for part in indices)
        if config.protocol == "paper":
            held_out, parts, final = test, {"test": slice(None)}, None
        else:
            train, held_out = train.split(VALIDATION_SHARE, seed=config.seed + number)
            parts, final = {"val": slice(None)}, self._batches(test)
        objective = self.objective.fitted(train.y)

        def batches(epoch):
            made = train.numpy_batches(config.batch_size, shuffle=True, seed=config.seed + number, epoch=epoch)
            return ((_without(inputs, self._left_out), objective.encoded(y)) for inputs, y in made)

        return Split(
            batches=batches,
            steps=-(-len(train) // config.batch_size),
            held_out=self._batches(held_out),
            parts=parts,
            final=final,
            sizes={"train": len(train), **({"val": len(held_out)} if final else {}), "test": len(test)},
            objective=objective,
            test=self._numbers[indices[1]],
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy" or what else is measured, ...}} of a finished fold.

        Args:
            rows: its history.
            chosen: the epoch that validation chose, or None.
            final: held-out test values with the chosen weights, or None.
        """
        metrics = self.objective.metrics
        if self.config.protocol == "paper":
            return {
                "last_epoch": selection.last_epoch(rows, metrics),
                "best_test_epoch": selection.best_test_epoch(rows, metrics, METRICS[metrics[0]].higher),
            }
        return {"validation": _chosen(rows[chosen - 1], final, metrics)}


def _chosen(row, test, metrics):
    """What the epoch that validation chose gave: test values, and those that it was chosen by."""
    return {
        "epoch": row["epoch"],
        **{metric: test[f"test_{metric}"] for metric in metrics},
        "loss": test["test_loss"],
        "val_loss": row["val_loss"],
        **{f"val_{metric}": row[f"val_{metric}"] for metric in metrics},
    }


class NodeTask:
    """Runs with different seeds on one `NodeDataset`.

    Validation and test values come from one forward pass per epoch. The test curve is only written
    down: the reported figure is taken at the epoch that validation chose; what LGCN's code would have
    reported, with a look at test, stands under its own label.

    Args:
        config: a `NodeConfig`.
        dataset: a `NodeDataset` with train, validation and test nodes.
    """

    def __init__(self, config, dataset):
        self.config = config
        self.dataset = dataset
        self.objective = objective_of(dataset.target)
        self._left_out = left_out(config, dataset)
        self.notes = _aside(config, self._left_out)

    def spec(self):
        """What a model's inputs look like, for any number of nodes asked for: {name: TensorSpec}."""
        spec = self._batches["train"].element_spec[0]
        return {name: type(part)([None, *part.shape[1:]], part.dtype) for name, part in spec.items()}

    @functools.cached_property
    def _batches(self):
        """{split: dataset of one batch}; made once, since finding what is not 0 takes a pass over all features."""
        x = self.dataset.x
        filled = x.nnz if hasattr(x, "nnz") else np.count_nonzero(x)
        sparse = filled < SPARSE_SHARE * x.shape[0] * x.shape[1]
        made = {split: self.dataset.batches(split, sparse=sparse) for split in ("train", "all")}
        if not self._left_out:
            return made
        return {
            split: batches.map(lambda inputs, y: (_without(inputs, self._left_out), y))
            for split, batches in made.items()
        }

    def split(self, number):
        """The data of one repetition: the same for all of them."""
        ds = self.dataset
        val, test = ds.nodes("val"), ds.nodes("test")
        nodes = np.concatenate([val, test])
        objective = self.objective.fitted(ds.y[ds.train_mask])
        train = [(inputs, objective.encoded(y.numpy())) for inputs, y in self._batches["train"]]
        held_out = self._batches["all"].map(lambda inputs, y: ({**inputs, "nodes": nodes}, tf.gather(y, nodes)))
        return Split(
            batches=lambda epoch: train,
            steps=1,
            held_out=held_out,
            parts={"val": slice(0, len(val)), "test": slice(len(val), None)},
            final=None,
            sizes={"train": int(ds.train_mask.sum()), "val": len(val), "test": len(test)},
            objective=objective,
            test=test,
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished repetition; see `GraphTask.rules`."""
        row = rows[chosen - 1]
        rules = {"validation": _chosen(row, row, self.objective.metrics)}
        if self.objective.target.kind == "classes":
            rules["max_test_lgcn"] = selection.max_test_lgcn(rows)
        return rules
