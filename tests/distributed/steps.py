"""What a worker of test_steps does: two batches through the same models as one process; what came out, to a file.

python tests/distributed/steps.py FOLDER
"""

import json
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from ganet_tf import data, models
from ganet_tf.layers import Dropout
from ganet_tf.optimizers import FlatAdam, flat

OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.5),
    # With epsilon this large Adam divides by nothing small, and does not blow up rounding.
    "flat_adam": lambda: FlatAdam(0.5, epsilon=1.0, l2=0.01, weight_decay=0.01, clipnorm=0.05),
}


def make(optimizer):
    """The model, the same in every process."""
    random.seed(1)
    model = models.GraphClassifier(2, num_features=6, num_modules=1, sort_pooling_k=10, dropout=0.0, head_dropout=0.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(OPTIMIZERS[optimizer](), loss, metrics=["accuracy"])
    return model


def gradient(model, inputs, y, weight=None):
    with tf.GradientTape() as tape:
        loss = model.compute_loss(inputs, y, model(inputs, training=True), weight)
    return flat(tape.gradient(loss, model.trainable_variables))


def batches(share=None):
    """A batch of 7, dealt out as 4 and 3, and one of 1, which leaves a worker without a graph."""
    ds = data.load("BA2Motifs", num_graphs=8, features="constant").with_features("degree", max_degree=5)
    return list(ds.numpy_batches(7, shuffle=True, seed=4, share=share))


def run(optimizer, strategy=None, share=None):
    """{"gradients", "weights", "accuracy", "mask"} of two steps, in one process or as one worker of several."""
    model, drop = make(optimizer), Dropout(0.5, seed=3)
    found = {"gradients": []}

    def replica(*batch):
        total = gradient(model, *batch)
        if strategy is not None:
            total = tf.distribute.get_replica_context().all_reduce("sum", total)
        model.train_step(batch)
        return total, drop(tf.ones(64), training=True)

    @tf.function(reduce_retracing=True)
    def step(*batch):
        return replica(*batch) if strategy is None else strategy.run(replica, args=batch)

    tensors = [tf.nest.map_structure(tf.convert_to_tensor, batch) for batch in batches(share)]
    shapes = tf.nest.map_structure(lambda t: tf.TensorSpec([None, *t.shape[1:]], t.dtype), tensors[0])
    step = step.get_concrete_function(*shapes)
    for batch in tensors:
        total, mask = step(*tf.nest.flatten(batch))
        found["gradients"].append(total.numpy().tolist())
        found["mask"] = mask.numpy().tolist()
    found["weights"] = [np.ravel(weight.numpy()).tolist() for weight in model.trainable_variables]
    return found


def main(folder):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    resolver = strategy.cluster_resolver
    index, count = resolver.task_id, strategy.num_replicas_in_sync
    with strategy.scope():
        found = {optimizer: run(optimizer, strategy, (index, count)) for optimizer in OPTIMIZERS}
    with open(f"{folder}/worker-{index}.json", "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
