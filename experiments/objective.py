"""What is learned, by the kind of target: its loss, its metrics, and what a model's outputs say.

| kind | loss | metrics, the first one is reported | an output says |
|---|---|---|---|
| classes | cross-entropy | accuracy | the probability of each class |
| regression | mean squared error of standardized targets | MAE, RMSE, in the targets' own unit | the value |
| multilabel | sigmoid cross-entropy | ROC AUC, average precision: means over labels | the probability of each label |

Missing entries, NaN in targets of the last two kinds, are left out of losses and metrics.
"""

import dataclasses
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from ganet_tf.data import Target
from ganet_tf.errors import ConfigError


class Metric(NamedTuple):
    """How a metric is printed.

    Attributes:
        text: its name for readers.
        scale: factor before printing: 100 for percent.
        higher: whether more is better.
        unit: what stands behind it.
    """

    text: str
    scale: int
    higher: bool
    unit: str

    @property
    def title(self):
        """Name and unit: "accuracy in %"."""
        return f"{self.text} in %" if self.unit else self.text


METRICS = {
    "accuracy": Metric("accuracy", 100, True, " %"),
    "roc_auc": Metric("ROC AUC", 100, True, " %"),
    "average_precision": Metric("average precision", 100, True, " %"),
    "mae": Metric("MAE", 1, False, ""),
    "rmse": Metric("RMSE", 1, False, ""),
}


@dataclasses.dataclass(frozen=True)
class Classes:
    """One of several classes."""

    target: Target
    metrics = ("accuracy",)
    loss_text = "cross-entropy"
    training_metrics = (("train_loss", "cross_entropy"), ("train_accuracy", "accuracy"))

    def fitted(self, y):
        """The objective for training on the targets `y`."""
        return self

    @property
    def y_spec(self):
        """What a batch's targets look like."""
        return tf.TensorSpec([None], tf.int32)

    def known(self, y):
        """Which samples have a target, boolean [n]."""
        return y >= 0

    def encoded(self, y):
        """Targets as the loss takes them."""
        return y

    def loss(self):
        """The Keras loss."""
        return self.plain_loss()

    def plain_loss(self):
        """A loss of Keras' own, for the saved model."""
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def plain_metrics(self):
        """Metrics of Keras' own, for the saved model."""
        return ["accuracy"]

    def keras_metrics(self):
        """Metrics over a training epoch; `training_metrics` says what the history calls them."""
        # Keras' own epoch loss weighs batches by their number of edges; this one by samples.
        return ["accuracy", keras.metrics.SparseCategoricalCrossentropy(from_logits=True, name="cross_entropy")]

    def record(self):
        """What must be known to understand a saved model's outputs, for result.json."""
        return {}

    def scores(self, outputs, y):
        """{"loss": mean cross-entropy, "accuracy"} of logits [n, C] and classes [n], in double precision."""
        logits = np.asarray(outputs, np.float64)
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_likelihood = shifted[np.arange(len(y)), y] - np.log(np.exp(shifted).sum(axis=1))
        return {"loss": float(-log_likelihood.mean()), "accuracy": float((logits.argmax(axis=1) == y).mean())}

    def answers(self, outputs):
        """Probabilities [n, C]."""
        logits = np.asarray(outputs, np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


@dataclasses.dataclass(frozen=True)
class Regression:
    """One or several numbers.

    A model learns them standardized by the mean and standard deviation of the training targets: (y - mean) / std.
    """

    target: Target
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    metrics = ("mae", "rmse")
    loss_text = "mean squared error (standardized)"
    training_metrics = (("train_loss", "squared_error"),)

    def fitted(self, y):
        mean, std = [], []
        for column in y.T.astype(np.float64):
            column = column[~np.isnan(column)]
            spread = float(column.std()) if len(column) else 0.0
            mean.append(float(column.mean()) if len(column) else 0.0)
            std.append(spread if spread > 0 else 1.0)
        return dataclasses.replace(self, mean=tuple(mean), std=tuple(std))

    @property
    def y_spec(self):
        return tf.TensorSpec([None, self.target.width], tf.float32)

    def known(self, y):
        return ~np.isnan(y).all(axis=1)

    def encoded(self, y):
        return ((y - self.mean) / self.std).astype(np.float32)

    def loss(self):
        return KnownLoss(_squared, name="squared_error")

    def plain_loss(self):
        return keras.losses.MeanSquaredError()

    def plain_metrics(self):
        return ["mae"]

    def keras_metrics(self):
        return [KnownMean(_squared, name="squared_error")]

    def record(self):
        return {"standardized_by": {"mean": list(self.mean), "std": list(self.std)}}

    def scores(self, outputs, y):
        z = np.asarray(outputs, np.float64)
        error = (z * self.std + self.mean - y)[~np.isnan(y)]
        scaled = (z - (y - np.asarray(self.mean)) / self.std)[~np.isnan(y)]
        return {
            "loss": _mean(scaled**2),
            "mae": _mean(np.abs(error)),
            "rmse": float(np.sqrt(_mean(error**2))),
        }

    def answers(self, outputs):
        """Values [n, T] in the targets' own unit."""
        return np.asarray(outputs, np.float64) * self.std + self.mean


@dataclasses.dataclass(frozen=True)
class MultiLabel:
    """Several yes-or-no answers."""

    target: Target
    metrics = ("roc_auc", "average_precision")
    loss_text = "cross-entropy"
    training_metrics = (("train_loss", "cross_entropy"),)
    fitted, encoded, record = Classes.fitted, Classes.encoded, Classes.record
    y_spec, known = Regression.y_spec, Regression.known

    def loss(self):
        return KnownLoss(_cross_entropy, name="cross_entropy")

    def plain_loss(self):
        return keras.losses.BinaryCrossentropy(from_logits=True)

    def plain_metrics(self):
        return [keras.metrics.BinaryAccuracy(threshold=0.0)]

    def keras_metrics(self):
        return [KnownMean(_cross_entropy, name="cross_entropy")]

    def scores(self, outputs, y):
        """ROC AUC and average precision are NaN where no label has both answers."""
        from sklearn.metrics import average_precision_score, roc_auc_score

        logits = np.asarray(outputs, np.float64)
        entries = np.maximum(logits, 0) - logits * y + np.log1p(np.exp(-np.abs(logits)))
        pairs = []
        for column, truth in zip(logits.T, y.T, strict=True):
            known = ~np.isnan(truth)
            if len(np.unique(truth[known])) == 2:
                pairs.append([score(truth[known], column[known]) for score in (roc_auc_score, average_precision_score)])
        auc, precision = np.mean(pairs, axis=0).tolist() if pairs else (float("nan"), float("nan"))
        return {"loss": _mean(entries[~np.isnan(y)]), "roc_auc": auc, "average_precision": precision}

    def answers(self, outputs):
        """Probabilities [n, T]."""
        logits = np.asarray(outputs, np.float64)
        return np.exp(-np.logaddexp(0, -logits))


OBJECTIVES = {"classes": Classes, "regression": Regression, "multilabel": MultiLabel}


def objective_of(target):
    """The objective of a data set's target."""
    return OBJECTIVES[target.kind](target)


def as_kind(dataset, kind):
    """The data set with its targets read as another kind; `auto` takes them as they are.

    Whole numbers, which are classes by themselves, may be numbers to regress on, or with 0 and 1 alone one label.

    Raises:
        ConfigError: when they are not of that kind.
    """
    own = dataset.target.kind
    if kind in ("auto", own):
        return dataset
    labels = dataset.target.labels
    numbers = own == "classes" and all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
    if kind == "regression" and numbers:
        return dataset.with_targets([float(labels[y]) if y >= 0 else float("nan") for y in dataset.y])
    if kind == "multilabel" and numbers and set(labels) <= {0, 1}:
        return dataset.with_targets([np.array([labels[y] if y >= 0 else -1]) for y in dataset.y])
    raise ConfigError(
        f"target is {kind}, but the targets of {dataset.name} are {own} ({_examples(dataset)}): classes are names or "
        "whole numbers, regression targets are numbers, and multilabel ones a matrix of 0 and 1."
    )


def _examples(dataset):
    if dataset.target.kind == "classes":
        return ", ".join(map(repr, dataset.target.labels[:3]))
    return f"for example {dataset.y[0].tolist()}"


def _mean(values):
    return float(values.mean()) if len(values) else float("nan")


def _squared(y, outputs):
    return tf.square(outputs - y)


def _cross_entropy(y, outputs):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=outputs)


def _known_sum(entries, y, outputs, weights=None):
    """Sum of `entries(y, outputs)` over the known targets, and how many there are; not of samples of weight 0."""
    known = tf.math.is_finite(y)
    if weights is not None:
        known &= weights[:, None] > 0
    values = entries(tf.where(known, y, tf.zeros_like(y)), tf.cast(outputs, y.dtype))
    return tf.reduce_sum(tf.where(known, values, tf.zeros_like(values))), tf.reduce_sum(tf.cast(known, y.dtype))


class KnownLoss(keras.losses.Loss):
    """Mean of `entries(y, outputs)` over the targets that are known."""

    def __init__(self, entries, name):
        super().__init__(name=name)
        self.entries = entries

    def call(self, y_true, y_pred):
        return tf.math.divide_no_nan(*_known_sum(self.entries, y_true, y_pred))


class KnownMean(keras.metrics.Metric):
    """The same over an epoch."""

    def __init__(self, entries, name):
        super().__init__(name=name)
        self.entries = entries
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        total, count = _known_sum(self.entries, y_true, y_pred, sample_weight)
        self.total.assign_add(total)
        self.count.assign_add(count)

    def result(self):
        return tf.math.divide_no_nan(self.total.value, self.count.value)
