"""Makes train.py quick where it does not touch its run folder, for attacks on the files in there.

Ten thousand resumes would take many hours, nearly all of them in TensorFlow, which they are not about. So data, splits,
a new model, its training steps and its evaluations are pure functions here that are not computed twice: a process that
has trained once and forks gives its children what it knows. What they have not seen is computed as ever: a resume that
loses a weight, an epoch or a seed trains on from another state, to another result. Reading, checking and writing the
files of a run, Keras' file of the model included, is train.py's own code, every time.
"""

import functools
import hashlib
import json
import warnings

import numpy as np


def install():
    """From now on; for the rest of the process and its forks."""
    import tensorflow as tf

    from experiments import environment, summary, tasks, training

    tf.config.run_functions_eagerly(True)  # compiled ones need threads, which a fork does not have
    warnings.filterwarnings("ignore", message=".*does not apply to tf.data functions")
    for name in ("git_revision", "hardware", "versions"):
        setattr(environment, name, functools.cache(getattr(environment, name)))
    tasks.load_dataset = once(tasks.load_dataset, lambda config, *others: [config, *others])
    tasks.make_task = once(tasks.make_task, lambda config, dataset, share: [config, share])
    for task in (tasks.GraphTask, tasks.NodeTask):
        task.split = once(task.split, lambda self, number: [self.config, number])
    training.Kept = once(training.Kept, id)  # of a split, which is kept as well
    training.Trainer._build_model = built_once(training.Trainer._build_model)
    training.plain_copy = copied_once(training.plain_copy)
    summary.plot_curves = plain_curves


def once(function, key):
    """The function, computed once for all arguments of which `key` says the same."""
    known = {}

    @functools.wraps(function, updated=())
    def remembered(*arguments):
        name = repr(key(*arguments))
        if name not in known:
            known[name] = function(*arguments)
        return known[name]

    return remembered


def built_once(build):
    """`Trainer._build_model` that makes a config's model once, and a fold's initial weights once."""
    trainers, weights = {}, {}

    @functools.wraps(build)
    def remembered(self, number, steps):
        config = repr(self.config)
        if (config, number) not in weights:
            before = self.model
            build(self, number, steps)
            if self.model is not before:
                self._step, self._logits = (Remembered(each, self.model) for each in (self._step, self._logits))
            trainers.setdefault(config, vars(self).copy())
            weights[config, number] = values(variables_of(self.model))
        for name in ("model", "_step", "_logits", "_fresh_optimizer"):
            setattr(self, name, trainers[config][name])
        for variable, value in zip(variables_of(self.model), weights[config, number], strict=True):
            variable.assign(value)

    return remembered


def copied_once(copy):
    """`plain_copy` that makes a model's copy once, and then gives it the model's weights."""
    made = {}

    @functools.wraps(copy)
    def remembered(model, *others):
        if id(model) not in made:
            made[id(model)] = copy(model, *others)
        for variable, original in zip(made[id(model)].variables, model.variables, strict=True):
            variable.assign(original.value)
        return made[id(model)]

    return remembered


class Remembered:
    """A function of a model's variables and a batch: the result and the variables' new values are kept.

    Args:
        function: of a batch; it may change the variables.
        model: the compiled model.
    """

    def __init__(self, function, model):
        self.function, self.model = function, model
        self.known = {}

    def __call__(self, *batch):
        import tensorflow as tf

        variables = variables_of(self.model)
        before = values(variables)
        key = digest([*before, *map(np.asarray, tf.nest.flatten(batch, expand_composites=True))])
        if key not in self.known:
            result = self.function(*batch)
            after = values(variables)
            changed = {i: new for i, new in enumerate(after) if new.tobytes() != before[i].tobytes()}
            self.known[key] = (None if result is None else np.asarray(result)), changed
            return self.known[key][0]
        result, changed = self.known[key]
        for i, value in changed.items():
            variables[i].assign(value)
        return result


def variables_of(model):
    """Those of a compiled model, of its metrics and of its optimizer, each once."""
    listed = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    return [each.value for each in {id(variable): variable for variable in listed}.values()]


def values(variables):
    return [np.array(variable.numpy()) for variable in variables]


def digest(arrays):
    """SHA-256 of arrays, their shapes and types."""
    found = hashlib.sha256(repr([(array.shape, array.dtype.str) for array in arrays]).encode())
    for array in arrays:
        found.update(array.tobytes())
    return found.digest()


def plain_curves(curves, summary, folder):
    """Stands for the summary's picture, which takes longer than all the rest: the numbers in it."""
    from ganet_tf.files import write_whole

    write_whole(folder.path / "curves.png", json.dumps(curves))
