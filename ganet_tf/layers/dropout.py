"""Dropout whose random state is saved, so that resumed training goes on as if it had not stopped."""

import keras


class SavesSeed:
    """Adds the state of a layer's `seed_generator` to what a .keras or .weights.h5 file keeps.

    Keras saves weights and optimizer, but lets random numbers start anew.
    """

    def save_own_variables(self, store):
        """Saves the weights, and the seed beside them."""
        super().save_own_variables(store)
        if (generator := getattr(self, "seed_generator", None)) is not None:
            store["seed"] = generator.state.numpy()

    def load_own_variables(self, store):
        """Loads the weights, and the seed where the file has one."""
        weights = {key: store[key] for key in store.keys() if key != "seed"}  # noqa: SIM118, no plain dict
        super().load_own_variables(weights)
        generator = getattr(self, "seed_generator", None)
        if generator is not None and len(weights) < len(store.keys()):
            generator.state.assign(store["seed"])


@keras.saving.register_keras_serializable(package="ganet_tf")
class Dropout(SavesSeed, keras.layers.Dropout):
    """Dropout as Keras has it (the paper's section 4.2 has it on every layer), with its random state saved.

    Args:
        rate: Share of the entries that are set to zero in training.
        **kwargs: `noise_shape`, `seed`, `name`, `dtype`.

    Call arguments:
        inputs: A tensor.
        training: Whether dropout is active.

    Returns:
        A tensor of the same shape.

    Example:

    >>> Dropout(0.5)(np.ones((2, 3), dtype="float32")).numpy().tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
