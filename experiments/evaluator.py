"""Loss and accuracy on held-out data, once an epoch and therefore cheap."""

import numpy as np


class Evaluator:
    """Evaluates a model on batches that are kept in memory, without Keras' loop around it.

    Keras' own epoch loss weighs batches by the length of their first input, here the number of edges;
    this one is the exact mean over samples.

    Args:
        logits: function of a batch's inputs; traced once for all folds.
        batches: a `tf.data.Dataset` of (inputs, y).
        parts: {name: slice of the samples}; every part gets its own loss and accuracy.

    Example:
    ```python
    Evaluator(model, test.batches(200), {"test": slice(None)})()   # {"test_loss": ..., "test_accuracy": ...}
    ```
    """

    def __init__(self, logits, batches, parts):
        self.parts = parts
        self._logits = logits
        batches = list(batches)
        self._inputs = [inputs for inputs, _ in batches]
        self._y = np.concatenate([np.asarray(y) for _, y in batches])

    def __call__(self):
        logits = np.concatenate([np.asarray(self._logits(inputs)) for inputs in self._inputs])
        values = {}
        for name, part in self.parts.items():
            loss, accuracy = scores(logits[part], self._y[part])
            values.update({f"{name}_loss": loss, f"{name}_accuracy": accuracy})
        return values


def scores(logits, y):
    """(mean cross-entropy, accuracy) of logits [n, C] and classes [n], in double precision."""
    logits = np.asarray(logits, np.float64)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_likelihood = shifted[np.arange(len(y)), y] - np.log(np.exp(shifted).sum(axis=1))
    return float(-log_likelihood.mean()), float((logits.argmax(axis=1) == y).mean())
