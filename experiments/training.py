"""Trains the folds of a run, each with its lock, its checkpoint and its result."""

import json
import random
import time

import keras
import tensorflow as tf

from experiments import checkpoint as states
from experiments import environment
from experiments.checkpoint import Checkpoint
from experiments.evaluator import Evaluator
from experiments.lock import Lock, describe
from experiments.loop import make_step, run_epochs
from experiments.model_factory import compile_model, make_model, plain_copy
from experiments.recorder import Recorder, TrainingDiverged
from experiments.selection import Selection
from ganet_tf.errors import RunError
from ganet_tf.files import draft, write_whole


class Trainer:
    """Trains folds (graph task) or runs (node task) one after another.

    One compiled model serves all of them: only its variables are put back to fresh initial values,
    which saves tracing it again. A fold's result depends on its number and the config alone, not on
    what the process did before.

    Args:
        task: a `GraphTask` or a `NodeTask`.
        folder: the `RunFolder`.
        report: a `Reporter`.
    """

    def __init__(self, task, folder, report):
        self.task = task
        self.config = task.config
        self.folder = folder
        self.report = report
        self.model = None
        self._step = None
        self._logits = None
        self._fresh_optimizer = None
        keras.utils.set_random_seed(self.config.seed)

    def run(self, numbers):
        """Trains what is neither finished nor being trained by another process.

        Returns:
            {number: holder} of the members that other processes are at work on.
        """
        waiting = list(numbers)
        while waiting:
            held = {number: holder for number in waiting if (holder := self._visit(number))}
            if len(held) == len(waiting):
                return held
            waiting = list(held)  # by now some of them may be free
        return {}

    def _visit(self, number):
        """Trains one member unless it is done; returns who else has it, or None."""
        if self.folder.result(number) is not None:
            return None
        self.folder.member(number).mkdir(exist_ok=True)
        lock = Lock(self.folder.member(number) / "lock", self.report.note)
        if not lock.acquire():
            return describe(lock.holder)
        try:
            if self.folder.result(number) is None:
                self.folder.remove_litter(number)
                self._train(number, lock)
        finally:
            lock.release()
        return None

    def _train(self, number, lock):
        start = time.monotonic()
        member = self.task.member(number)
        self._fresh_model(number, member.steps)
        self.report.member_start(number, member.steps)
        recorder = self._recorder(number, member, lock)
        first = self._restore(recorder, number)
        try:
            if first < self.config.epochs and not recorder.stopped:
                self._fit(member, recorder, first)
                recorder.save()
            result = self._result(number, member, recorder)
        except TrainingDiverged as error:
            recorder.tick()
            result = {"failed": str(error)}
            self.report.note(f"{self.folder.member(number).name} failed: {error}.")
        lock.check()
        self._finish(number, {**result, "seconds": round(recorder.seconds, 2)}, recorder)
        self.report.member_end(number, result, time.monotonic() - start)

    def _fresh_model(self, number, steps):
        """Gives the model the initial weights and dropout seeds of this member."""
        # Not keras.utils.set_random_seed: TensorFlow's part of it throws away every compiled function,
        # two seconds a fold. Keras draws the seeds of initializers and dropout from Python's generator.
        random.seed(self.config.seed + number)
        fresh = make_model(self.config, self.task.dataset)
        spec = self.task.spec()
        fresh.build({name: tuple(tensor.shape) for name, tensor in spec.items()})  # quicker than a call
        if self.model is None or self.config.optimizer.schedule != "constant":
            self.model = compile_model(fresh, self.config, self.config.epochs * steps)
            self._fresh_optimizer = states.values(self.model.optimizer.variables)
            self._step = make_step(self.model, spec)
            self._logits = tf.function(lambda inputs: self.model(inputs, training=False), input_signature=[spec])
        else:
            states.assign(self.model.variables, states.values(fresh.variables))
            states.assign(self.model.optimizer.variables, self._fresh_optimizer)

    def _recorder(self, number, member, lock):
        folder = self.folder.member(number)
        watched = "val" in member.parts
        return Recorder(
            folder,
            Evaluator(self._logits, member.held_out, member.parts),
            Selection(self.config.select, self.config.patience) if watched else None,
            Checkpoint(folder, self.report.note),
            on_epoch=self.report.epoch,
            alive=lock.check,
        )

    def _restore(self, recorder, number):
        """The epoch to go on with: 0 when there is nothing, or nothing that fits, to go on from."""
        try:
            return recorder.restore(self.model)
        except RunError as error:
            self.report.note(f"{self.folder.member(number).name}: {error}; starting it anew.")
            recorder.checkpoint.delete()
            return recorder.restore(self.model)

    def _fit(self, member, recorder, first):
        self.report.at(first)
        callbacks = [recorder, *self.report.callbacks()]
        run_epochs(self.model, self._step, member.batches, self.config.epochs, first, callbacks)

    def _result(self, number, member, recorder):
        rows = recorder.history.rows
        final, chosen = None, None
        if recorder.selection is not None:
            chosen = recorder.selection.epoch
            states.assign(self.model.weights, recorder.best_weights)
        if member.final is not None:
            final = Evaluator(self._logits, member.final, {"test": slice(None)})()
        return {
            self.folder.member_word: number,
            "seed": self.config.seed + number,
            "epochs": len(rows),
            "model_epoch": chosen or len(rows),
            "sizes": member.sizes,
            "parameters": self.model.count_params(),
            "rules": self.task.rules(rows, chosen, final),
        }

    def _finish(self, number, result, recorder):
        """Saves the model, then the result, which says that the member is done."""
        folder = self.folder.member(number)
        if "failed" not in result:
            with draft(folder / "model.keras") as path:
                plain_copy(self.model).save(path)
        result = {self.folder.member_word: number, **result}
        result["versions"] = environment.versions()
        result["git_revision"] = environment.git_revision()
        write_whole(folder / "result.json", json.dumps(result, indent=2) + "\n")
        recorder.checkpoint.delete()
