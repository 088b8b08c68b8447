"""Training: what happens in a fold, from top to bottom.

`Trainer` goes through the folds: each has a lock, a model with its own initial weights, a checkpoint to resume from,
its epochs, and a result. What it uses stands below it in the order of use: the model, its optimizer and its training
step; the epochs; what is done after each of them; the evaluation; and the model as it is saved.
"""

import contextlib
import dataclasses
import inspect
import math
import random
import time

import keras
import numpy as np
import tensorflow as tf

from experiments import checkpoint as states
from experiments import environment
from experiments.answers import write_answers
from experiments.checkpoint import Checkpoint
from experiments.cluster import Alone
from experiments.lock import Lock, describe
from experiments.objective import METRICS, Classes
from experiments.run_folder import History
from experiments.selection import Selection
from ganet_tf import models
from ganet_tf.errors import ConfigError, GANetError, RunError
from ganet_tf.files import draft
from ganet_tf.models.pretraining import Beside
from ganet_tf.optimizers import FlatAdam

CLASSES = {
    "graph": {
        "dgcnn": models.DGCNN,
        "graphsage": models.GraphSAGE,
        "set2set": models.Set2SetNet,
        "diffpool": models.DiffPoolNet,
        "pscn": models.PSCN,
    },
    "node": {
        "gcn": models.GCN,
        "gat": models.GAT,
        "chebyshev": models.Chebyshev,
        "planetoid": models.Planetoid,
        "deepwalk": models.DeepWalk,
    },
}
GANETS = {"graph": models.GraphClassifier, "node": models.NodeClassifier}
TRAIN, DONE = "train", "done"  # what is to be done with a fold
UNDEFINABLE = ("_roc_auc", "_average_precision")


class TrainingDiverged(GANetError, ArithmeticError):
    """The loss of a fold became NaN or infinite."""


class Trainer:
    """Trains folds (graph task) or repetitions (node task) one after another.

    One compiled model serves all of them: only its variables are put back to fresh initial values,
    which saves tracing it again. A fold's result depends on its number and the config alone, not on
    what the process did before.

    Args:
        task: a `GraphTask` or a `NodeTask`.
        folder: the `RunFolder`.
        report: a `Reporter`.
        cluster: the `Cluster` of workers that train together, of which worker 0 alone writes; by default one process.
    """

    def __init__(self, task, folder, report, cluster=None):
        self.cluster = cluster or Alone()
        self.task = task
        self.config = task.config
        self.folder = folder
        self.report = report
        self.model = None
        self._step = None
        self._metrics = None
        self._logits = None
        self._fresh_optimizer = None
        keras.utils.set_random_seed(self.config.seed)

    def run(self, numbers):
        """Trains what is neither finished nor being trained by another process.

        Returns:
            {number: holder} of the folds that other processes are at work on.
        """
        waiting = list(numbers)
        while waiting:
            held = {number: holder for number in waiting if (holder := self._visit(number))}
            if len(held) == len(waiting):
                return held
            waiting = list(held)  # by now some of them may be free
        return {}

    def _visit(self, number):
        """Trains one fold unless it is done; returns who else has it, or None."""
        lock = Lock(self.folder.fold(number) / "lock", self.report.note) if self.cluster.chief else Unlocked()
        try:
            turn = self.cluster.agree(lambda: self._claim(number, lock))
            if turn == TRAIN:
                self._train(number, lock)
        finally:
            lock.release()
        return None if turn in (TRAIN, DONE) else turn

    def _claim(self, number, lock):
        """What is to be done with a fold: `DONE`, `TRAIN`, now that the lock is ours, or who else is at it."""
        if self.folder.result(number) is not None:
            self._tidy(number)
            return DONE
        folder = self.folder.fold(number)
        folder.mkdir(exist_ok=True)
        if not lock.acquire():
            return describe(lock.holder)
        self.folder.tidy(number)
        if self.folder.result(number) is not None:
            return DONE
        (folder / "result.json").unlink(missing_ok=True)  # of a fold whose files are damaged
        return TRAIN

    def _tidy(self, number):
        """Removes what a killed process left in the folder of a finished fold, unless somebody is still at it."""
        if not self.folder.litter(number):
            return
        lock = Lock(self.folder.fold(number) / "lock", note=lambda sentence: None)
        with contextlib.suppress(RunError):
            if lock.acquire():
                self.folder.tidy(number)
                lock.release()

    def _train(self, number, lock):
        """One fold, from its data to its result; the lock is ours."""
        start = time.monotonic()
        split = self.task.split(number)
        self._fresh_model(number, split.steps)
        self.report.fold_start(number, split.steps)
        recorder = self._recorder(number, split, lock)
        first = self._restore(recorder, number)
        test = None
        try:
            if first < self.config.epochs and not recorder.stopped:
                self._fit(split, recorder, first)
                recorder.save()
            result, test = self._result(number, split, recorder)
        except TrainingDiverged as error:
            recorder.tick()
            result = {"failed": str(error)}
            self.report.note(f"{self.folder.fold(number).name} failed: {error}.")
        lock.check()
        if self.cluster.chief:
            if test is not None:
                path = self.folder.fold(number) / "test.csv"
                write_answers(path, self.config.task, split.test, split.objective, *test)
            self._finish(number, {**result, "seconds": round(recorder.seconds, 2)}, recorder)
        self.report.fold_end(number, result, time.monotonic() - start)

    def _fresh_model(self, number, steps):
        """Gives the model the initial weights and dropout seeds of this fold."""
        with environment.signals_held(), self._scope():  # Keras swallows whatever is raised while it builds
            self._build_model(number, steps)

    def _scope(self):
        """Where variables are made that all workers have."""
        return contextlib.nullcontext() if self.cluster.strategy is None else self.cluster.strategy.scope()

    def _build_model(self, number, steps):
        # Not keras.utils.set_random_seed: TensorFlow's part of it throws away every compiled function,
        # two seconds per fold. Keras draws the seeds of initializers and dropout from Python's generator.
        random.seed(self.config.seed + number)
        fresh = make_model(self.config, self.task.dataset, self.task.arguments)
        spec = self.task.spec()
        shapes = {name: tuple(tensor.shape) for name, tensor in spec.items()}
        fresh.build(shapes)  # quicker than a call
        fresh = taught(fresh, self.config, shapes)
        if self.model is None or self.config.optimizer.schedule != "constant":
            self.model = compile_model(fresh, self.config, self.config.epochs * steps, self.task.objective)
            self._fresh_optimizer = states.values(self.model.optimizer.variables)
            self._step = make_step(self.model, spec, self.task.objective.y_spec, self.cluster.strategy)
            self._metrics = make_metrics_of_epoch(self.model, self.cluster.strategy)
            self._logits = make_logits(self.model, spec)
        else:
            states.assign(self.model.variables, states.values(fresh.variables))
            states.assign(self.model.optimizer.variables, self._fresh_optimizer)

    def _pretraining(self, number):
        """The steps of a model that trains before its epochs, or beside them; no steps of any other."""
        if not hasattr(self.model, "pretraining"):
            return models.Pretraining(self.model, self.config.seed + number)
        return self.model.pretraining(self.task.dataset_of(number), self.config.seed + number)

    def _recorder(self, number, split, lock):
        folder = self.folder.fold(number)
        metric = split.objective.metrics[0]
        select = self.config.select, self.config.patience, metric, METRICS[metric].higher
        return Recorder(
            folder,
            Evaluator(self._logits, split.held_out, split.parts, split.objective, self.cluster),
            Selection(*select) if "val" in split.parts else None,
            SharedCheckpoint(folder, self.report.note, self.cluster),
            self._pretraining(number),
            on_epoch=self.report.epoch,
            alive=lock.check,
            writes=self.cluster.chief,
        )

    def _restore(self, recorder, number):
        """The epoch to resume with: 0 when there is nothing, or nothing that fits, to resume from."""
        name = self.folder.fold(number).name
        try:
            first = recorder.restore(self.model)
        except RunError as error:
            self.report.note(f"{name}: {error}; starting it again.")
            recorder.checkpoint.delete()
            first = recorder.restore(self.model)
        now = environment.threads()
        if self.config.deterministic and recorder.threads not in (None, now):
            self.report.note(f"{name}: began on {recorder.threads} threads, resumes on {now}: last digits will differ.")
        if recorder.workers not in (None, self.cluster.count):
            self.report.note(
                f"{name}: began on {recorder.workers} workers, resumes on {self.cluster.count}: dropout and last "
                "digits will differ."
            )
        recorder.workers = self.cluster.count
        return first

    def _fit(self, split, recorder, first):
        self.report.at(first)
        recorder.pretrain(self.report.say)
        callbacks = [Beside(recorder.pretraining), recorder, *self.report.callbacks()]
        run_epochs(self.model, self._step, split.batches, self.config.epochs, first, callbacks, self._metrics)

    def _result(self, number, split, recorder):
        """(what result.json says, the model's answers for the test samples and their targets)."""
        rows = recorder.history.rows
        final, chosen = None, None
        if recorder.selection is not None:
            chosen = recorder.selection.epoch
            states.assign(self.model.weights, recorder.best_weights)
        tester = recorder.evaluator
        if split.final is not None:
            tester = Evaluator(self._logits, split.final, {"test": slice(None)}, split.objective, self.cluster)
        outputs, y = tester.outputs("test")
        if split.final is not None:
            final = {f"test_{what}": value for what, value in split.objective.scores(outputs, y).items()}
        result = {
            self.folder.word: number,
            "seed": self.config.seed + number,
            "epochs": len(rows),
            "model_epoch": chosen or len(rows),
            "sizes": split.sizes,
            "parameters": deployed(self.model).count_params(),
            "rules": defined(self.task.rules(rows, chosen, final)),
            **split.objective.record(),
        }
        return result, (split.objective.answers(outputs), y)

    def _finish(self, number, result, recorder):
        """Saves the model, then the result, which says that the fold is done."""
        result = {self.folder.word: number, **result, "threads": environment.threads()}
        result.update(versions=environment.versions(), git_revision=environment.git_revision())
        result["implementation"] = environment.implementation(self.config)
        if self.cluster.count > 1:
            result["workers"] = self.cluster.count
        with environment.signals_held():  # Keras swallows whatever is raised while it builds the copy
            if "failed" not in result:
                with draft(self.folder.fold(number) / "model.keras") as path:
                    plain_copy(deployed(self.model), self.task.objective, self.model.optimizer).save(path)
            self.folder.write_result(number, result)
            recorder.checkpoint.delete()


class Unlocked:
    """The lock of a worker that does not write: worker 0 has the real one."""

    def check(self):
        """It is always ours."""

    def release(self):
        """There is nothing to give back."""


class SharedCheckpoint(Checkpoint):
    """A checkpoint that worker 0 writes and reads for all: the others need no disk in common with it.

    Args:
        folder, note: as in `Checkpoint`.
        cluster: the `Cluster`.
    """

    def __init__(self, folder, note, cluster):
        super().__init__(folder, note)
        self.cluster = cluster

    def due(self):
        return self.cluster.chief and super().due()

    def save(self, record, arrays):
        if self.cluster.chief:
            super().save(record, arrays)

    def load(self):
        if self.cluster.count == 1:
            return super().load()
        found = super().load() if self.cluster.chief else None
        content = self.cluster.told(b"" if found is None else states.encode(*found))
        return states.decode(content) if content else None

    def delete(self):
        if self.cluster.chief:
            super().delete()


def defined(rules):
    """The rules with None, which JSON has, in the place of NaN."""
    return {
        rule: {name: None if value != value else value for name, value in entry.items()}
        for rule, entry in rules.items()
    }


def make_model(config, dataset, arguments=None):
    """The model of a config, not yet built.

    Weight decay is the optimizer's business here (see `OptimizerConfig`), so models get no regularizer.

    Args:
        config: a `GraphConfig` or a `NodeConfig`.
        dataset: its data set.
        arguments: what `config.model.arguments` makes of it, where that is known already.
    """
    cls = model_class(config)
    decay = {"kernel_regularizer": None} if "kernel_regularizer" in inspect.signature(cls).parameters else {}
    return cls(num_classes=dataset.num_classes, **decay, **(arguments or config.model.arguments(dataset)))


def taught(model, config, shapes):
    """A built model, in the hands of a mean teacher where the config asks for one: its weights stay as they are."""
    teacher = getattr(config, "teacher", None)
    if teacher is None or not teacher.weight:
        return model
    wrapper = models.MeanTeacher(model, **dataclasses.asdict(teacher))
    wrapper.build(shapes)
    return wrapper


def deployed(model):
    """The model that is evaluated and saved: the teacher, where there is one."""
    return model.teacher if isinstance(model, models.MeanTeacher) else model


def model_class(config):
    """The class of a config's model."""
    return CLASSES[config.task].get(config.model.name, GANETS[config.task])


def compile_model(model, config, total_steps, objective):
    """Compiles a built model: the objective's loss, and metrics that are exact over an epoch."""
    strategy = tf.distribute.get_strategy()
    # Of several workers one may have a graph of weight 0 in the place of none: metrics must not count it.
    kind = "weighted_metrics" if strategy.num_replicas_in_sync > 1 else "metrics"
    model.compile(
        optimizer=make_optimizer(config.optimizer, total_steps),
        loss=objective.loss(),
        jit_compile=False,
        **{kind: objective.keras_metrics()},
    )
    # Everything that Keras would otherwise make in the first training step, which is then traced twice.
    model.optimizer.build(model.trainable_variables)
    make_metrics(model, objective.y_spec, strategy)
    model.reset_metrics()
    return model


def make_metrics(model, y_spec, strategy):
    """Lets Keras make its metrics, on every worker where there are several."""
    y, outputs = tf.zeros([1, *y_spec.shape[1:]], y_spec.dtype), tf.zeros([1, model.num_classes])

    def replica():
        model.compute_metrics(None, y, outputs, tf.zeros([1]))

    @tf.function
    def everywhere():
        strategy.run(replica)

    if strategy.num_replicas_in_sync > 1:
        everywhere()
    else:
        model.compute_metrics(None, y, outputs)


def make_optimizer(config, total_steps):
    """The optimizer of a config.

    Adam is ours, `FlatAdam`, because Keras has no L2 term in the gradients and is slow with many small
    weights. The others are Keras' own and know decoupled decay only.

    Args:
        config: an `OptimizerConfig`.
        total_steps: updates in the whole training, for the cosine schedule.

    Raises:
        ConfigError: for a decay that the optimizer does not have.
    """
    rate = config.learning_rate
    if config.schedule == "cosine":
        rate = keras.optimizers.schedules.CosineDecay(rate, total_steps)
    if config.name == "adam":
        kind = "l2" if config.weight_decay_kind == "l2" else "weight_decay"
        return FlatAdam(
            rate,
            amsgrad=config.amsgrad,
            no_decay=config.no_decay,
            clipnorm=config.clipnorm,
            global_clipnorm=config.global_clipnorm,
            **{kind: config.weight_decay},
        )
    if config.weight_decay and (config.weight_decay_kind == "l2" or config.no_decay):
        raise ConfigError(
            f"optimizer.name {config.name} has only decoupled weight decay on all weights; "
            "set weight_decay_kind to decoupled and no_decay to [], or use adam."
        )
    optimizers = {
        "nadam": keras.optimizers.Nadam,
        "sgd": keras.optimizers.SGD,
        "rmsprop": keras.optimizers.RMSprop,
    }
    clipping = {"clipnorm": config.clipnorm, "global_clipnorm": config.global_clipnorm}
    return optimizers[config.name](rate, weight_decay=config.weight_decay or None, **clipping)


def make_step(model, inputs_spec, y_spec=tf.TensorSpec([None], tf.int32), strategy=None):  # noqa: B008
    """One training step of a compiled model as a function of (inputs, y), traced once for batches of any size.

    Under a strategy of several workers it is one of (inputs, y, weights), each worker's share of a batch: see
    `GraphDataset.batches`. The gradients of all are added up.
    """

    # As in Keras' `fit`, without autograph: it has nothing to convert here, and takes a third of a second to find out.
    @tf.function(input_signature=[inputs_spec, y_spec], autograph=False)
    def step(inputs, y):
        model.train_step((inputs, y))

    def replica(inputs, y, weights):
        with tf.GradientTape() as tape:
            outputs = model(inputs, training=True)
            # The weights of a share are all the same, or 0 and there is nothing to learn from.
            loss = model.compute_loss(inputs, y, outputs) * weights[0]
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        model.compute_metrics(inputs, y, outputs, tf.sign(weights))

    @tf.function(input_signature=[inputs_spec, y_spec, tf.TensorSpec([None], tf.float32)])
    def shared_step(inputs, y, weights):
        strategy.run(replica, args=(inputs, y, weights))

    return step if strategy is None else shared_step


def make_logits(model, inputs_spec):
    """A model's outputs as a function of a batch's inputs, traced once for batches of any size."""

    @tf.function(input_signature=[inputs_spec], autograph=False)
    def logits(inputs):
        return model(inputs, training=False)

    return logits


def make_metrics_of_epoch(model, strategy=None):
    """(what puts a compiled model's metrics back to nothing, what reads them).

    Of several workers each number is an exchange; compiled, they take half the time.
    """
    functions = model.reset_metrics, model.get_metrics_result
    return functions if strategy is None else tuple(tf.function(each, autograph=False) for each in functions)


def run_epochs(model, step, batches, epochs, initial_epoch=0, callbacks=(), metrics=None):
    """What `model.fit` does, without a `tf.data` iterator between the arrays and the step.

    On small graphs, where a step takes a few milliseconds, `fit` takes half as long again: its iterator wakes
    another thread for every batch. The steps and their results are the same.

    Args:
        model: The compiled model; a callback ends the training by setting its `stop_training`.
        step: What `make_step` made of it.
        batches: `batches(epoch)` gives an epoch's (inputs, y), with weights behind them for several workers.
        epochs: The epoch to end with.
        initial_epoch: The epoch to begin with, from 0.
        callbacks: Keras callbacks; they hear of the beginnings and ends of epochs and the training, and of the ends
            of batches.
        metrics: What `make_metrics_of_epoch` made of the model, for several workers.
    """
    reset, read = metrics or make_metrics_of_epoch(model)
    callbacks = keras.callbacks.CallbackList(list(callbacks), model=model)
    model.stop_training = False
    callbacks.on_train_begin()
    for epoch in range(initial_epoch, epochs):
        callbacks.on_epoch_begin(epoch)
        reset()
        for number, batch in enumerate(batches(epoch)):
            step(*batch)
            callbacks.on_train_batch_end(number)
        callbacks.on_epoch_end(epoch, {name: float(value) for name, value in read().items()})
        if model.stop_training:
            break
    callbacks.on_train_end()


class Recorder(keras.callbacks.Callback):
    """Evaluates, writes the history, keeps the best weights, stops in time and saves checkpoints.

    Args:
        folder: the fold's folder.
        evaluator: callable that returns the epoch's held-out values.
        selection: a `Selection` on validation values, or None.
        checkpoint: a `Checkpoint`.
        pretraining: a `models.Pretraining`: what is trained before the epochs.
        on_epoch: called with each finished row.
        alive: called before anything is written; raises when the fold is no longer ours.
        writes: whether the history goes to a file: of several workers' one does.
    """

    def __init__(self, folder, evaluator, selection, checkpoint, pretraining, on_epoch=None, alive=None, writes=True):
        super().__init__()
        self.writes = writes
        self.workers = None
        self.folder = folder
        self.evaluator = evaluator
        self.selection = selection
        self.checkpoint = checkpoint
        self.pretraining = pretraining
        self.pretrained = 0
        self.objective = evaluator.objective
        self.on_epoch = on_epoch or (lambda row: None)
        self.alive = alive or (lambda: None)
        self.best_weights = None
        self.stopped = False
        self.seconds = 0.0
        self.threads = None
        self._clock = None

    def restore(self, model):
        """Puts a checkpoint's state into the model; returns the epoch to resume with.

        Raises:
            RunError: when the checkpoint does not fit the model.
        """
        found = self.checkpoint.load()
        record, arrays = found if found else ({"epoch": 0, "rows": []}, {})
        if found:
            self._check(record, arrays, model)  # all of it, before the first weight is changed
            states.assign(model.variables, arrays["model"])
            states.assign(model.optimizer.variables, arrays["optimizer"])
            states.assign(self._more(model), arrays.get("pretraining", []))
            self.pretrained = record.get("pretrained", 0)
            self.best_weights = arrays.get("best")
            self.stopped = record["stopped"]
            self.seconds = record["seconds"]
            self.threads = record.get("threads")
            self.workers = record.get("workers", 1)
        self.history = History(self.folder / "history.csv" if self.writes else None, record["rows"])
        if self.selection is not None:
            for row in self.history.rows:
                self.selection.update(row)
        return record["epoch"]

    def _check(self, record, arrays, model):
        """Raises RunError when a checkpoint is not of this model, or not whole."""
        groups = {"model": model.variables, "optimizer": model.optimizer.variables}
        if more := self._more(model):
            groups["pretraining"] = more
        values = ["val_loss", *(f"val_{metric}" for metric in self.objective.metrics)] if self.selection else []
        if self.selection is not None and record.get("rows"):
            groups["best"] = model.weights
        rows = record.get("rows")
        good = isinstance(rows, list) and len(rows) == record["epoch"]
        good = good and all(isinstance(row, dict) and {"epoch", *values} <= set(row) for row in rows)
        if not good or not {"stopped", "seconds"} <= set(record) or not set(groups) <= set(arrays):
            raise RunError("the checkpoint is not whole")
        for group, variables in groups.items():
            states.check(variables, arrays[group])

    def _more(self, model):
        """Variables that only the pretraining has: of an optimizer of its own."""
        known = {id(variable) for variable in model.variables}
        return [variable for variable in self.pretraining.variables if id(variable) not in known]

    def pretrain(self, say):
        """Does the steps before the first epoch that are left."""
        if self.pretrained >= self.pretraining.steps:
            return
        say(f"{self.pretraining.steps:,} steps before the first epoch, {self.pretrained:,} of them done")
        self.set_model(self.pretraining.model)
        self._clock = time.monotonic()
        for number in range(self.pretrained, self.pretraining.steps):
            loss = float(self.pretraining.step(number))
            if not math.isfinite(loss):
                raise TrainingDiverged(
                    f"the loss became {loss} in step {number + 1} before the first epoch; try a smaller learning rate "
                    "of these steps, which is among the model's settings"
                )
            self.pretrained = number + 1
            if self.checkpoint.due():
                self.alive()
                self.save()
        self.tick()

    def on_train_begin(self, logs=None):
        self._clock = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        measured = {name: float(logs[metric]) for name, metric in self.objective.training_metrics}
        row = {"epoch": epoch + 1, **measured, **self.evaluator()}
        self._check_finite(row)
        self.alive()
        if self.selection is not None and self.selection.update(row):
            self.best_weights = states.values(self.model.weights)
        self.history.add(row)
        logs.update(row)  # for callbacks after this one, such as the progress bar
        self.on_epoch(row)
        if self.selection is not None and self.selection.exhausted():
            self.stopped = self.model.stop_training = True
        if self.checkpoint.due():
            self.save()

    def save(self):
        """Writes a checkpoint of this moment; right only between two epochs."""
        self.tick()
        rows = self.history.rows
        record = dict(epoch=len(rows), rows=rows, stopped=self.stopped, seconds=self.seconds)
        record["threads"] = environment.threads()
        record["workers"] = self.workers
        if self.pretraining.steps:
            record["pretrained"] = self.pretrained
        arrays = {
            "model": states.values(self.model.variables),
            "optimizer": states.values(self.model.optimizer.variables),
        }
        if more := self._more(self.model):
            arrays["pretraining"] = states.values(more)
        if self.best_weights is not None:
            arrays["best"] = self.best_weights
        self.checkpoint.save(record, arrays)

    def tick(self):
        """Brings `seconds`, the training time over all interruptions, up to date."""
        now = time.monotonic()
        self.seconds += now - (self._clock or now)
        self._clock = now

    def _check_finite(self, row):
        # A metric may be undefined, as ROC AUC is where all answers are the same; a loss never is.
        bad = [key for key, value in row.items() if not math.isfinite(value) and not key.endswith(UNDEFINABLE)]
        if bad:
            rate = float(self.model.optimizer.learning_rate.numpy())
            raise TrainingDiverged(
                f"{bad[0]} became {row[bad[0]]} in epoch {row['epoch']} at learning rate {rate:g}; "
                "try a smaller optimizer.learning_rate"
            )


class Evaluator:
    """Evaluates a model on batches that are kept in memory, without Keras' loop around it.

    Keras' own epoch loss weighs batches by the length of their first input, here the number of edges;
    this one is the exact mean over samples.

    Args:
        logits: function of a batch's inputs; traced once for all folds.
        batches: a `tf.data.Dataset` of (inputs, y), or `Drawn` batches, which are not kept.
        parts: {name: slice of the samples}; every part gets its own loss and metrics.
        objective: what is measured; by default that of classes.
        cluster: the `Cluster` whose workers take a batch each in turn.

    Example:
    ```python
    Evaluator(model, test.batches(200), {"test": slice(None)})()   # {"test_loss": ..., "test_accuracy": ...}
    ```
    """

    def __init__(self, logits, batches, parts, objective=None, cluster=None):
        self.parts = parts
        self.objective = objective or Classes(None)
        self.cluster = cluster or Alone()
        self._logits = logits
        batches = batches if hasattr(batches, "y") else Kept(batches)
        self._y, self._count = batches.y, len(batches)
        self._inputs = batches[self.cluster.index :: self.cluster.count]

    def __call__(self):
        logits = self._all_logits()
        values = {}
        for name, part in self.parts.items():
            found = self.objective.scores(logits[part], self._y[part])
            values.update({f"{name}_{what}": value for what, value in found.items()})
        return values

    def outputs(self, name):
        """(the model's outputs, the targets) of one part."""
        return self._all_logits()[self.parts[name]], self._y[self.parts[name]]

    def _all_logits(self):
        own = [np.asarray(self._logits(inputs)) for inputs in self._inputs]
        if self.cluster.count == 1:
            return np.concatenate(own)
        sizes = self.cluster.gathered(np.array([[len(part)] for part in own], np.float32).reshape(-1, 1))
        rows = self.cluster.gathered(np.concatenate(own) if own else np.zeros((0, 1), np.float32))
        cut = [np.split(part, np.cumsum(size[:, 0]).astype(int)[:-1]) for part, size in zip(rows, sizes, strict=True)]
        turns = [cut[number % self.cluster.count][number // self.cluster.count] for number in range(self._count)]
        return np.concatenate(turns)


class Kept(list):
    """The inputs of batches, in memory, and all their targets `y`."""

    def __init__(self, batches):
        batches = list(batches)
        super().__init__(inputs for inputs, _ in batches)
        self.y = np.concatenate([np.asarray(y) for _, y in batches])


def plain_copy(model, objective=None, optimizer=None):
    """The same model, compiled with a plain Adam: what is saved then loads with `import ganet_tf` alone."""
    copy = type(model).from_config(model.get_config())
    copy.build_from_config(model.get_build_config())
    states.assign(copy.variables, states.values(model.variables))  # dropout's seeds, too
    objective = objective or Classes(None)
    copy.compile(
        optimizer=keras.optimizers.Adam(float((optimizer or model.optimizer).learning_rate.numpy())),
        loss=objective.plain_loss(),
        metrics=objective.plain_metrics(),
        jit_compile=False,
    )
    copy.optimizer.build(copy.trainable_variables)  # Keras loads no optimizer that was saved unbuilt
    return copy
