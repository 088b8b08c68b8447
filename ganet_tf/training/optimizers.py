"""Optimizers with the weight decay that a config asks for."""

import keras

PACKAGE = "ganet_tf"


class L2Gradients:
    """Mixin that adds l2 * w to the gradient of every weight, as PyTorch's `weight_decay` does.

    That is the gradient of l2/2 * |w|^2, so it equals `kernel_regularizer=L2(l2 / 2)` on every weight
    (biases too), but costs no extra loss terms and leaves the reported loss the pure cross-entropy.

    Args:
        l2: strength.
        no_decay: parts of variable paths (for example "key_kernel") that are left alone.
        **kwargs: the Keras optimizer's own arguments.
    """

    def __init__(self, *args, l2=0.0, no_decay=(), **kwargs):
        super().__init__(*args, **kwargs)
        self.l2 = l2
        self.no_decay = tuple(no_decay)

    def apply(self, grads, trainable_variables=None):
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        trainable_variables = list(trainable_variables)
        grads = [self._decayed(g, v) for g, v in zip(grads, trainable_variables, strict=True)]
        return super().apply(grads, trainable_variables)

    def _decayed(self, gradient, variable):
        if gradient is None or not self.l2 or exempt(variable, self.no_decay):
            return gradient
        return keras.ops.add(gradient, keras.ops.multiply(variable, self.l2))

    def get_config(self):
        return {**super().get_config(), "l2": self.l2, "no_decay": list(self.no_decay)}


@keras.saving.register_keras_serializable(package=PACKAGE)
class L2Adam(L2Gradients, keras.optimizers.Adam):
    """Adam with an L2 term in the gradients."""


@keras.saving.register_keras_serializable(package=PACKAGE)
class L2Nadam(L2Gradients, keras.optimizers.Nadam):
    """Nadam with an L2 term in the gradients."""


@keras.saving.register_keras_serializable(package=PACKAGE)
class L2SGD(L2Gradients, keras.optimizers.SGD):
    """Gradient descent with an L2 term in the gradients."""


CLASSES = {
    "l2": {"adam": L2Adam, "nadam": L2Nadam, "sgd": L2SGD},
    "decoupled": {
        "adam": keras.optimizers.Adam,
        "nadam": keras.optimizers.Nadam,
        "sgd": keras.optimizers.SGD,
    },
}


def exempt(variable, no_decay):
    """Whether a variable's path contains one of the names in `no_decay`."""
    return any(name in variable.path for name in no_decay)


def make_optimizer(config, total_steps, variables=()):
    """The optimizer of a config.

    Args:
        config: an `OptimizerConfig`.
        total_steps: updates in the whole training, for the cosine schedule.
        variables: the model's trainable weights, for `no_decay` with decoupled decay.
    """
    rate = config.learning_rate
    if config.schedule == "cosine":
        rate = keras.optimizers.schedules.CosineDecay(rate, total_steps)
    arguments = {"learning_rate": rate, "clipnorm": config.clipnorm}
    if config.name == "adam":
        arguments["amsgrad"] = config.amsgrad
    if config.weight_decay_kind == "l2":
        arguments.update(l2=config.weight_decay, no_decay=config.no_decay)
    elif config.weight_decay:
        arguments["weight_decay"] = config.weight_decay
    optimizer = CLASSES[config.weight_decay_kind][config.name](**arguments)
    if config.weight_decay_kind == "decoupled" and config.no_decay:
        optimizer.exclude_from_weight_decay(var_list=[v for v in variables if exempt(v, config.no_decay)])
    return optimizer
