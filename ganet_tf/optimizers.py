"""Adam over all weights at once."""

import keras
import numpy as np
import tensorflow as tf

__all__ = ["FlatAdam"]


@keras.saving.register_keras_serializable(package="ganet_tf")
class FlatAdam(keras.optimizers.Optimizer):
    """Adam, AMSGrad, and weight decay of both kinds, on one vector that holds all weights.

    The numbers are those of `keras.optimizers.Adam`. Keras updates weight by weight, some 50 small
    operations each; a hGANet has 32 of them, so on small graphs a quarter of a training step went
    there. One concatenation, a dozen operations and a split do the same.

    Under a `tf.distribute` strategy the replicas' gradients are added up, as Keras' own optimizers do, in one
    exchange of the whole vector; clipping, the L2 term and decay come after that.

    `l2` is PyTorch's `weight_decay`: l2 * w is added to the gradient, as if l2/2 * |w|^2 were part of
    the loss. `weight_decay` is AdamW's: w shrinks by learning_rate * weight_decay * w beside the update.

    Args:
        learning_rate: a number or a Keras schedule.
        beta_1, beta_2, epsilon, amsgrad: Adam's.
        l2: strength of the L2 term in the gradients.
        weight_decay: strength of the decoupled decay.
        no_decay: parts of variable paths, for example "key_kernel", that neither touches.
        clipnorm: largest norm of each weight's gradient, before the L2 term.
        global_clipnorm: largest norm of all gradients together, before the L2 term; one of the two at most.
        **kwargs: `name`.
    """

    def __init__(
        self,
        learning_rate=1e-3,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
        l2=0.0,
        weight_decay=0.0,
        no_decay=(),
        clipnorm=None,
        name="flat_adam",
        global_clipnorm=None,
        **kwargs,
    ):
        if clipnorm is not None and global_clipnorm is not None:
            raise ValueError(f"Give clipnorm ({clipnorm}) or global_clipnorm ({global_clipnorm}), not both.")
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.amsgrad = amsgrad
        self.l2, self.shrink = l2, weight_decay
        self.no_decay = tuple(no_decay)
        self.max_norm, self.max_global_norm = clipnorm, global_clipnorm

    def build(self, variables):
        """Makes the moments, one vector each."""
        if self.built:
            return
        super().build(variables)
        sizes = [int(np.prod(variable.shape)) for variable in variables]
        decays = [not any(name in variable.path for name in self.no_decay) for variable in variables]
        self._sizes = sizes
        self._decays = np.repeat(np.array(decays, np.float32), sizes)
        names = ["momentum", "velocity", *(["velocity_hat"] if self.amsgrad else [])]
        self._moments = [self.add_variable((sum(sizes),), name=name) for name in names]

    def apply(self, grads, trainable_variables=None):
        """One update of all weights."""
        variables = self._trainable_variables if trainable_variables is None else list(trainable_variables)
        if not self.built:
            self.build(variables)
        grads = [
            tf.zeros(v.shape) if g is None else tf.convert_to_tensor(g) for g, v in zip(grads, variables, strict=True)
        ]
        gradient = None
        if several_replicas():
            gradient = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, flat(grads))
        if self.max_norm is not None:
            parts = grads if gradient is None else tf.split(gradient, self._sizes)
            gradient = flat([tf.clip_by_norm(part, self.max_norm) for part in parts])
        if gradient is None:
            gradient = flat(grads)
        if self.max_global_norm is not None:
            gradient = tf.clip_by_norm(gradient, self.max_global_norm)
        updated = self._updated(flat([variable.value for variable in variables]), gradient)
        for variable, part in zip(variables, tf.split(updated, self._sizes), strict=True):
            variable.assign(tf.reshape(part, variable.shape))
        self.iterations.assign_add(1)

    def _updated(self, weights, gradient):
        """All weights after a step; also moves the moments."""
        rate = tf.cast(self.learning_rate, tf.float32)
        if self.l2:
            gradient += self.l2 * self._decays * weights
        if self.shrink:
            weights -= rate * self.shrink * self._decays * weights
        step = tf.cast(self.iterations.value + 1, tf.float32)
        momentum, velocity, *hat = self._moments
        mean = momentum.value + (gradient - momentum.value) * (1 - self.beta_1)
        square = velocity.value + (gradient * gradient - velocity.value) * (1 - self.beta_2)
        momentum.assign(mean)
        velocity.assign(square)
        for largest in hat:
            square = tf.maximum(largest.value, square)
            largest.assign(square)
        alpha = rate * tf.sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)
        return weights - alpha * mean / (tf.sqrt(square) + self.epsilon)

    def get_config(self):
        names = ("beta_1", "beta_2", "epsilon", "amsgrad", "l2")
        own = {name: getattr(self, name) for name in names}
        own.update(weight_decay=self.shrink, no_decay=list(self.no_decay), clipnorm=self.max_norm)
        own.update(global_clipnorm=self.max_global_norm)
        return {**super().get_config(), **own}


def several_replicas():
    """Whether this is one of several replicas of a `tf.distribute` strategy."""
    context = tf.distribute.get_replica_context()
    return context is not None and context.num_replicas_in_sync > 1


def flat(tensors):
    """All tensors as one vector."""
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)
