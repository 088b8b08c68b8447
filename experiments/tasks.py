"""The two tasks, and what one fold of each consists of: what it trains on, what chooses its epoch, what tests it."""

import dataclasses
import functools
import inspect
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import tensorflow as tf

from experiments import selection
from experiments.config import canonical, check_task, is_folder, shipped
from experiments.objective import METRICS, as_kind, objective_of
from experiments.training import model_class
from ganet_tf import data
from ganet_tf.data.generated import GENERATED, RESAMPLED
from ganet_tf.errors import ConfigError

VALIDATION_SHARE = 0.1
SPARSE_SHARE = 0.2  # features of which a smaller share is not 0 go through the network as a sparse matrix


def load_dataset(config, data_dir=None, number=1):
    """The data set of a config, with targets of the kind and node splits that it asks for.

    Args:
        config: a `GraphConfig` or a `NodeConfig`.
        data_dir: where the files are.
        number: of the run; only data sets that are generated anew for each are others then.

    Raises:
        ConfigError: when it belongs to the other task, or has no such targets or splits.
    """
    options = {"unknown": config.unknown, **generated_options(config, number)}
    if config.task == "graph":
        options["features"] = config.features
    elif config.normalize_features and not is_folder(config.dataset):
        options["normalize_features"] = config.normalize_features
    known = shipped(config.dataset)
    if known and known["task"] != config.task:
        raise ConfigError(f"{config.dataset} is not a data set for the {config.task} task.")
    dataset = check_task(data.load(config.dataset, data_dir=data_dir, **options), config.task)
    dataset = as_kind(dataset, config.target)
    if dataset.target.kind != "classes" and config.model.classes_only:
        raise ConfigError(
            f"{config.model.name} learns classes, but the targets of {dataset.name} are for "
            f"{dataset.target.kind}; take another model."
        )
    if dataset.target.kind != "classes" and config.select == "val_accuracy":
        raise ConfigError(f"select val_accuracy is for classes; for {dataset.target.kind} set it to val_metric.")
    yes_or_no = dataset.target.kind == "multilabel" and dataset.num_classes == 1
    if config.task == "node" and config.teacher.weight and not (dataset.target.kind == "classes" or yes_or_no):
        raise ConfigError(
            f"A teacher is for classes, or one yes or no, but the targets of {dataset.name} are for "
            f"{dataset.target.kind}: set teacher.weight to 0."
        )
    return dataset if config.task == "graph" else split_nodes(config, dataset)


def generated_options(config, number):
    """What a generated data set is made with; nothing for any other.

    Raises:
        ConfigError: for a size that the data set does not have.
    """
    asked = dataclasses.asdict(config.generated) if config.task == "node" else {}
    asked = {key: size for key, size in asked.items() if size is not None}
    maker = None if is_folder(config.dataset) else GENERATED.get(canonical(config.dataset))
    known = inspect.signature(maker).parameters if maker else ()
    for key in asked:
        if key not in known:
            raise ConfigError(f"{config.dataset} has no setting generated.{key}; set it to null.")
    return {**asked, "seed": config.seed + number} if is_resampled(config) else asked


def is_resampled(config):
    """Whether each run has a graph of its own."""
    return not is_folder(config.dataset) and canonical(config.dataset) in RESAMPLED


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


def data_digest(dataset):
    """A number that is another where workers have other graphs, targets or splits, without a look at what is large."""
    if hasattr(dataset, "edge_counts"):
        arrays = [dataset.y, dataset.sizes, dataset.edge_counts]
    else:
        splits = [dataset.nodes(split) for split in ("train", "val", "test")]
        arrays = [*splits, *(dataset.y[nodes] for nodes in splits)]
    return zlib.crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))


def make_task(config, dataset, share=None):
    """The task object of a config; with a `share` (index, count), that of one worker: see `check_sharing`."""
    if config.task == "graph":
        return GraphTask(config, dataset, share)
    return SampledNodeTask(config, dataset, share) if config.sampled.batch_size else NodeTask(config, dataset)


def check_sharing(config):
    """Raises ConfigError where the sum over workers would not be one process's step."""
    optimizer = config.optimizer
    clips = optimizer.clipnorm is not None or optimizer.global_clipnorm is not None
    if config.task == "node" and not config.sampled.batch_size:
        why = "a step on the whole graph cannot be shared: set sampled.batch_size, for example to 512"
    elif getattr(config.model, "batch_norm", False):
        why = "model.batch_norm would take its mean over each worker's share: set it to false"
    elif clips and optimizer.name != "adam":
        why = f"Keras' {optimizer.name} clips each worker's gradient by itself: use adam, or no clipping"
    else:
        return
    raise ConfigError(f"Several workers cannot train this together: {why}.")


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
    """Names of inputs that the data have and the model does not take: edge weights, numbers of graphs, or nothing."""
    arrays = vars(dataset) if config.task == "node" else dataset[:1].arrays()
    taken = (*model_class(config).required, *model_class(config).optional)
    return [name for name in ("edge_weights", "graph_ids") if arrays.get(name) is not None and name not in taken]


def _without(inputs, names):
    return {name: part for name, part in inputs.items() if name not in names} if names else inputs


def _aside(config, names):
    if "edge_weights" not in names:
        return []
    return [f"The edges have weights, which {config.model.name} does not take: they are left aside."]


class GraphTask:
    """The folds of a `GraphDataset` under one protocol.

    *paper*: trains on nine folds, evaluates the tenth after every epoch, and reports the last epoch
    and the best one; the second is selected on test. *validation*: a stratified tenth of the training
    graphs chooses the epoch, and the test fold is evaluated once, with that epoch's weights.

    Args:
        config: a `GraphConfig`.
        dataset: the whole `GraphDataset`.
        share: (index, count) of one of several workers.

    Attributes:
        arguments: those of the model, what follows from the data included.
    """

    def __init__(self, config, dataset, share=None):
        self.config = config
        self.share = share
        self.objective = objective_of(dataset.target)
        known = self.objective.known(dataset.y)
        self._numbers = np.flatnonzero(known)
        dataset = dataset if known.all() else dataset.subset(known)
        self.arguments = config.model.arguments(dataset)
        self.dataset = config.model.prepare(dataset, self.arguments)
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
        """Batches for evaluation, one for each worker at least."""
        size = min(self.config.eval_batch_size, -(-len(dataset) // (self.share or (0, 1))[1]))
        batches = dataset.batches(size)
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
            plan = dict(shuffle=True, seed=config.seed + number, epoch=epoch, share=self.share)
            made = train.numpy_batches(config.batch_size, **plan)
            return ((_without(inputs, self._left_out), objective.encoded(y), *weights) for inputs, y, *weights in made)

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
    """Runs with different seeds on one `NodeDataset`, on its published splits, or on graphs that are generated anew.

    Run n of a data set with published splits trains on split n, after the last on the first again. Validation and
    test values come from one forward pass per epoch. The test curve is only written down: the reported figure is
    taken at the epoch that validation chose; the best epoch of that curve, and what LGCN's code would have reported,
    with a look at test, stand under their own labels.

    Args:
        config: a `NodeConfig`.
        dataset: a `NodeDataset` with train, validation and test nodes.

    Attributes:
        arguments: those of the model, what follows from the data included.
    """

    def __init__(self, config, dataset):
        self.config = config
        self.arguments = config.model.arguments(dataset)
        self.dataset = config.model.prepare(dataset, self.arguments)
        self.objective = objective_of(dataset.target)
        self._left_out = left_out(config, dataset)
        self._sparse = dataset.nonzero_share < SPARSE_SHARE
        self._batches = functools.lru_cache(maxsize=1)(self._make_batches)
        self.dataset_of = functools.lru_cache(maxsize=1)(self._find_dataset)
        self._spec = self._batches(dataset)["train"].element_spec[0]
        self.notes = _aside(config, self._left_out)

    def spec(self):
        """What a model's inputs look like, for any number of nodes asked for: {name: TensorSpec}."""
        return {name: type(part)([None, *part.shape[1:]], part.dtype) for name, part in self._spec.items()}

    def _find_dataset(self, number):
        """What a run trains on."""
        if is_resampled(self.config):
            return load_dataset(self.config, number=number)
        if self.dataset.num_splits:
            return self.dataset.published_split((number - 1) % self.dataset.num_splits + 1)
        return self.dataset

    def _make_batches(self, dataset):
        """{split: dataset of one batch}; made once, since finding what is not 0 takes a pass over all features."""
        made = {split: dataset.batches(split, sparse=self._sparse) for split in ("train", "all")}
        if not self._left_out:
            return made
        return {
            split: batches.map(lambda inputs, y: (_without(inputs, self._left_out), y))
            for split, batches in made.items()
        }

    def split(self, number):
        """The data of one repetition."""
        ds = self.dataset_of(number)
        made = self._batches(ds)
        val, test = ds.nodes("val"), ds.nodes("test")
        nodes = np.concatenate([val, test])
        objective = self.objective.fitted(ds.y[ds.train_mask])
        train = [(self._asked(inputs), objective.encoded(y.numpy())) for inputs, y in made["train"]]
        held_out = [(self._asked({**inputs, "nodes": nodes}), tf.gather(y, nodes)) for inputs, y in made["all"]]
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

    def _asked(self, inputs):
        """The inputs without the features of nodes that are not asked for, where they have no say: the same answers."""
        if self.config.model.looks_around or not self._sparse:
            return inputs
        x, asked = inputs["x"], np.zeros(inputs["x"].shape[0], bool)
        asked[np.asarray(inputs["nodes"])] = True
        return {**inputs, "x": tf.sparse.retain(x, asked[x.indices[:, 0]])}

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished repetition; see `GraphTask.rules`."""
        row = rows[chosen - 1]
        metrics = self.objective.metrics
        rules = {
            "validation": _chosen(row, row, metrics),
            "best_test_epoch": selection.best_test_epoch(rows, metrics, METRICS[metrics[0]].higher),
        }
        if self.objective.target.kind == "classes":
            rules["max_test_lgcn"] = selection.max_test_lgcn(rows)
        return rules


class SampledNodeTask(NodeTask):
    """Runs on one large graph, in steps on some nodes and a sample of what is around them.

    Validation nodes are looked at after every epoch, always with the same samples; test nodes once, with the weights
    that validation chose.

    Args:
        config: a `NodeConfig` with `sampled` settings.
        dataset: a `NodeDataset` with train, validation and test nodes.
        share: (index, count) of one of several workers.
    """

    def __init__(self, config, dataset, share=None):
        self.config = config
        self.share = share
        self.arguments = config.model.arguments(dataset)
        self.dataset = config.model.prepare(dataset, self.arguments)
        self.objective = objective_of(dataset.target)
        self._left_out = left_out(config, dataset)
        self.dataset_of = functools.lru_cache(maxsize=1)(self._find_dataset)
        self.notes = _aside(config, self._left_out)

    def spec(self):
        return _without(self.dataset.sampled_batches(self._fanout, 1).element_spec[0], self._left_out)

    @property
    def _fanout(self):
        return self.config.sampled.fanout

    def split(self, number):
        ds, size, seed = self.dataset_of(number), self.config.sampled.batch_size, self.config.seed + number
        objective = self.objective.fitted(ds.y[ds.nodes("train")])

        def batches(epoch):
            made = ds.sampled_numpy_batches(self._fanout, size, shuffle=True, seed=seed, epoch=epoch, share=self.share)
            parts = ((_without(inputs, self._left_out), objective.encoded(y), *more) for inputs, y, *more in made)
            return ahead(parts)

        sizes = {split: len(ds.nodes(split)) for split in ("train", "val", "test")}
        return Split(
            batches=batches,
            steps=-(-sizes["train"] // size),
            held_out=self._drawn(ds, "val"),
            parts={"val": slice(None)},
            final=self._drawn(ds, "test"),
            sizes=sizes,
            objective=objective,
            test=ds.nodes("test"),
        )

    def _drawn(self, ds, split):
        def make(step):
            batches = ds.sampled_numpy_batches(self._fanout, self.config.sampled.batch_size, split, first=step)
            return _without(next(batches)[0], self._left_out)

        nodes = ds.nodes(split)
        return Drawn(make, range(-(-len(nodes) // self.config.sampled.batch_size)), np.asarray(ds.y[nodes]))

    def rules(self, rows, chosen, final):
        return {"validation": _chosen(rows[chosen - 1], final, self.objective.metrics)}


class Drawn:
    """Inputs of batches that are drawn when somebody goes through them, the same every time; `y` are all targets.

    Args:
        make: function of a batch's number to its inputs.
        numbers: those of the batches.
        y: targets of all samples.
    """

    def __init__(self, make, numbers, y):
        self.make, self.numbers, self.y = make, numbers, y

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        return Drawn(self.make, self.numbers[part], self.y)

    def __iter__(self):
        return ahead(self.make(number) for number in self.numbers)


def ahead(items):
    """The same items; the next one is made while one is in use."""
    iterator, end = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, iterator, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, iterator, end)
            yield item
