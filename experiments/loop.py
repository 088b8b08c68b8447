"""The epochs of one fold."""

import keras
import tensorflow as tf


def make_step(model, inputs_spec):
    """One training step of a compiled model as a function of (inputs, y), traced once for batches of any size."""

    @tf.function(input_signature=[inputs_spec, tf.TensorSpec([None], tf.int32)])
    def step(inputs, y):
        model.train_step((inputs, y))

    return step


def run_epochs(model, step, batches, epochs, initial_epoch=0, callbacks=()):
    """What `model.fit` does, without a `tf.data` iterator between the arrays and the step.

    On small graphs, where a step takes a few milliseconds, `fit` takes half as long again: its iterator wakes
    another thread for every batch. The steps and their results are the same.

    Args:
        model: The compiled model; a callback ends the training by setting its `stop_training`.
        step: What `make_step` made of it.
        batches: `batches(epoch)` gives an epoch's (inputs, y).
        epochs: The epoch to end with.
        initial_epoch: The epoch to begin with, from 0.
        callbacks: Keras callbacks; they hear of the ends of batches, epochs and the training.
    """
    callbacks = keras.callbacks.CallbackList(list(callbacks), model=model)
    model.stop_training = False
    callbacks.on_train_begin()
    for epoch in range(initial_epoch, epochs):
        model.reset_metrics()
        for number, (inputs, y) in enumerate(batches(epoch)):
            step(inputs, y)
            callbacks.on_train_batch_end(number)
        callbacks.on_epoch_end(epoch, {name: float(value) for name, value in model.get_metrics_result().items()})
        if model.stop_training:
            break
    callbacks.on_train_end()
