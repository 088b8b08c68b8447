"""The callback that does what has to be done after every epoch of one fold."""

import math
import time

import keras

from experiments import checkpoint as states
from experiments.history import History
from ganet_tf.errors import GANetError


class TrainingDiverged(GANetError, ArithmeticError):
    """The loss of a fold became NaN or infinite."""


class Recorder(keras.callbacks.Callback):
    """Evaluates, writes the history, keeps the best weights, stops in time and saves checkpoints.

    Args:
        folder: the fold's folder.
        evaluator: callable that returns the epoch's held-out values.
        selection: a `Selection` on validation values, or None.
        checkpoint: a `Checkpoint`.
        on_epoch: called with each finished row.
        alive: called before anything is written; raises when the fold is no longer ours.
    """

    def __init__(self, folder, evaluator, selection, checkpoint, on_epoch=None, alive=None):
        super().__init__()
        self.folder = folder
        self.evaluator = evaluator
        self.selection = selection
        self.checkpoint = checkpoint
        self.on_epoch = on_epoch or (lambda row: None)
        self.alive = alive or (lambda: None)
        self.best_weights = None
        self.stopped = False
        self.seconds = 0.0
        self._clock = None

    def restore(self, model):
        """Puts a checkpoint's state into the model; returns the epoch to go on with.

        Raises:
            RunError: when the checkpoint does not fit the model.
        """
        found = self.checkpoint.load()
        record, arrays = found if found else ({"epoch": 0, "rows": []}, {})
        if found:
            states.assign(model.variables, arrays["model"])
            states.assign(model.optimizer.variables, arrays["optimizer"])
            self.best_weights = arrays.get("best")
            self.stopped = record["stopped"]
            self.seconds = record["seconds"]
        self.history = History(self.folder / "history.csv", record["rows"])
        if self.selection is not None:
            for row in self.history.rows:
                self.selection.update(row)
        return record["epoch"]

    def on_train_begin(self, logs=None):
        self._clock = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        row = {"epoch": epoch + 1, "train_loss": logs["cross_entropy"], "train_accuracy": logs["accuracy"]}
        row = {key: value if key == "epoch" else float(value) for key, value in row.items()}
        row.update(self.evaluator())
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
        arrays = {
            "model": states.values(self.model.variables),
            "optimizer": states.values(self.model.optimizer.variables),
        }
        if self.best_weights is not None:
            arrays["best"] = self.best_weights
        self.checkpoint.save(record, arrays)

    def tick(self):
        """Brings `seconds`, the training time over all interruptions, up to date."""
        now = time.monotonic()
        self.seconds += now - (self._clock or now)
        self._clock = now

    def _check_finite(self, row):
        bad = [key for key, value in row.items() if not math.isfinite(value)]
        if bad:
            rate = float(self.model.optimizer.learning_rate)
            raise TrainingDiverged(
                f"{bad[0]} became {row[bad[0]]} in epoch {row['epoch']} at learning rate {rate:g}; "
                "try a smaller optimizer.learning_rate"
            )
