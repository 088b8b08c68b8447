"""The training loop takes the steps that `model.fit` takes."""

import keras
import numpy as np

from experiments.training import make_step, run_epochs
from ganet_tf import data, models

DATASET = data.load("BA2Motifs")[:12]


def compiled():
    keras.utils.set_random_seed(1)
    model = models.GraphClassifier(DATASET.num_classes, num_modules=1, sort_pooling_k=10)
    batches = DATASET.batches(5)
    model.build({name: spec.shape for name, spec in batches.element_spec[0].items()})
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"], jit_compile=False)
    return model, batches


class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = epoch == 1


def test_same_weights_and_metrics_as_fit():
    theirs, batches = compiled()
    history = theirs.fit(batches, epochs=2, verbose=0).history
    ours, _ = compiled()
    recorded = keras.callbacks.History()
    step = make_step(ours, batches.element_spec[0])
    run_epochs(ours, step, lambda epoch: DATASET.numpy_batches(5), 5, callbacks=[recorded, Stop()])
    assert recorded.epoch == [0, 1]
    np.testing.assert_allclose(recorded.history["accuracy"], history["accuracy"], rtol=1e-6)
    for a, b in zip(ours.variables, theirs.variables, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_batches_are_asked_for_by_epoch():
    model, batches = compiled()
    asked = []

    def of(epoch):
        asked.append(epoch)
        return DATASET.numpy_batches(5, epoch=epoch)

    run_epochs(model, make_step(model, batches.element_spec[0]), of, 4, initial_epoch=2)
    assert asked == [2, 3]
