"""Config and data set into a built and compiled Keras model."""

import dataclasses

import keras
import tensorflow as tf

from experiments import checkpoint as states
from experiments.optimizers import make_optimizer
from ganet_tf import models

CLASSES = {
    "graph": {"dgcnn": models.DGCNN},
    "node": {"gcn": models.GCN, "gat": models.GAT},
}
GANETS = {"graph": models.GraphClassifier, "node": models.NodeClassifier}


def make_model(config, dataset):
    """The model of a config, not yet built.

    Weight decay is the optimizer's business here (see `OptimizerConfig`), so models get no regularizer.
    """
    arguments = dataclasses.asdict(config.model)
    name = arguments.pop("name")
    if config.task == "graph":
        arguments["sort_pooling_k"] = dataset.sort_pooling_k(arguments.pop("sort_pooling"))
    model_class = CLASSES[config.task].get(name, GANETS[config.task])
    return model_class(num_classes=dataset.num_classes, kernel_regularizer=None, **arguments)


def compile_model(model, config, total_steps):
    """Compiles a built model: cross-entropy, and metrics that are exact over an epoch."""
    model.compile(
        optimizer=make_optimizer(config.optimizer, total_steps),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        # Keras' own epoch loss weighs batches by their number of edges; this one by samples.
        metrics=[
            "accuracy",
            keras.metrics.SparseCategoricalCrossentropy(from_logits=True, name="cross_entropy"),
        ],
        jit_compile=False,
    )
    # Everything that Keras would otherwise make in the first training step, which is then traced twice.
    model.optimizer.build(model.trainable_variables)
    model.compute_metrics(None, tf.zeros([1], tf.int32), tf.zeros([1, model.num_classes]))
    model.reset_metrics()
    return model


def plain_copy(model):
    """The same model, compiled with a plain Adam: what is saved then loads with `import ganet_tf` alone."""
    copy = type(model).from_config(model.get_config())
    copy.build_from_config(model.get_build_config())
    states.assign(copy.variables, states.values(model.variables))  # dropout's seeds, too
    copy.compile(
        optimizer=keras.optimizers.Adam(float(model.optimizer.learning_rate)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    copy.optimizer.build(copy.trainable_variables)  # Keras loads no optimizer that was saved unbuilt
    return copy
