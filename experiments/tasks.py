"""The two tasks, and what one fold of each consists of: what it trains on, what chooses its epoch, what tests it."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from experiments import selection
from experiments.config import check_task, is_folder, shipped
from ganet_tf import data
from ganet_tf.errors import ConfigError

VALIDATION_SHARE = 0.1
SPARSE_SHARE = 0.2  # features of which a smaller share is not 0 go through the network as a sparse matrix


def load_dataset(config, data_dir=None):
    """The data set of a config.

    Raises:
        ConfigError: when it belongs to the other task.
    """
    options = {}
    if config.task == "graph":
        options["features"] = config.features
    elif config.normalize_features and not is_folder(config.dataset):
        options["normalize_features"] = config.normalize_features
    known = shipped(config.dataset)
    if known and known["task"] != config.task:
        raise ConfigError(f"{config.dataset} is not a data set for the {config.task} task.")
    return check_task(data.load(config.dataset, data_dir=data_dir, **options), config.task)


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
    """

    batches: Callable[..., Any]
    steps: int
    held_out: Any
    parts: dict[str, slice]
    final: Any
    sizes: dict[str, int]


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
        self.dataset = dataset
        if len(dataset) < config.folds:
            raise ConfigError(f"folds is {config.folds}, but {dataset.name} has only {len(dataset)} graphs.")

    def spec(self):
        """What a model's inputs look like: {name: TensorSpec}."""
        return self.dataset[:1].batches(1).element_spec[0]

    def split(self, number):
        """The data of one fold."""
        config = self.config
        # The folds belong to the data: --seed varies the training, never what is tested on what.
        train, test = self.dataset.fold(number, splits=config.splits, seed=0, num_folds=config.folds)
        if config.protocol == "paper":
            held_out, parts, final = test, {"test": slice(None)}, None
        else:
            train, held_out = train.split(VALIDATION_SHARE, seed=config.seed + number)
            parts, final = {"val": slice(None)}, test.batches(config.eval_batch_size)

        def batches(epoch):
            return train.numpy_batches(config.batch_size, shuffle=True, seed=config.seed + number, epoch=epoch)

        return Split(
            batches=batches,
            steps=-(-len(train) // config.batch_size),
            held_out=held_out.batches(config.eval_batch_size),
            parts=parts,
            final=final,
            sizes={"train": len(train), **({"val": len(held_out)} if final else {}), "test": len(test)},
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished fold.

        Args:
            rows: its history.
            chosen: the epoch that validation chose, or None.
            final: held-out test values with the chosen weights, or None.
        """
        if self.config.protocol == "paper":
            return {
                "last_epoch": selection.last_epoch(rows),
                "best_test_epoch": selection.best_test_epoch(rows),
            }
        row = rows[chosen - 1]
        return {
            "validation": {
                "epoch": chosen,
                "accuracy": final["test_accuracy"],
                "loss": final["test_loss"],
                "val_loss": row["val_loss"],
                "val_accuracy": row["val_accuracy"],
            }
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

    def spec(self):
        """What a model's inputs look like, for any number of nodes asked for: {name: TensorSpec}."""
        spec = self._batches["train"].element_spec[0]
        return {name: type(part)([None, *part.shape[1:]], part.dtype) for name, part in spec.items()}

    @functools.cached_property
    def _batches(self):
        """{split: dataset of one batch}; made once, since finding what is not 0 takes a pass over all features."""
        sparse = np.count_nonzero(self.dataset.x) < SPARSE_SHARE * self.dataset.x.size
        return {split: self.dataset.batches(split, sparse=sparse) for split in ("train", "all")}

    def split(self, number):
        """The data of one repetition: the same for all of them."""
        ds = self.dataset
        val, test = ds.nodes("val"), ds.nodes("test")
        nodes = np.concatenate([val, test])
        train = list(self._batches["train"])
        held_out = self._batches["all"].map(lambda inputs, y: ({**inputs, "nodes": nodes}, tf.gather(y, nodes)))
        return Split(
            batches=lambda epoch: train,
            steps=1,
            held_out=held_out,
            parts={"val": slice(0, len(val)), "test": slice(len(val), None)},
            final=None,
            sizes={"train": int(ds.train_mask.sum()), "val": len(val), "test": len(test)},
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished repetition; see `GraphTask.rules`."""
        row = rows[chosen - 1]
        return {
            "validation": {
                "epoch": chosen,
                "accuracy": row["test_accuracy"],
                "loss": row["test_loss"],
                "val_loss": row["val_loss"],
                "val_accuracy": row["val_accuracy"],
            },
            "max_test_lgcn": selection.max_test_lgcn(rows),
        }
