"""The optimizer that a config asks for."""

import keras

from ganet_tf.errors import ConfigError
from ganet_tf.optimizers import FlatAdam


def make_optimizer(config, total_steps):
    """The optimizer of a config.

    Adam is ours, `FlatAdam`, because Keras has no L2 term in the gradients and is slow with many small
    weights. Nadam and SGD are Keras' own and know decoupled decay only.

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
            **{kind: config.weight_decay},
        )
    if config.weight_decay and (config.weight_decay_kind == "l2" or config.no_decay):
        raise ConfigError(
            f"optimizer.name {config.name} has only decoupled weight decay on all weights; "
            "set weight_decay_kind to decoupled and no_decay to [], or use adam."
        )
    optimizers = {"nadam": keras.optimizers.Nadam, "sgd": keras.optimizers.SGD}
    decay = config.weight_decay or None
    return optimizers[config.name](rate, weight_decay=decay, clipnorm=config.clipnorm)
