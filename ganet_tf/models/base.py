"""What the models share: dict inputs, configs, export, and no loop of Keras' over several replicas."""

import contextlib
import inspect

import keras
import tensorflow as tf

from ganet_tf import native, ops
from ganet_tf.layers.checks import check_units, check_whole_batches, cut_batch
from ganet_tf.layers.operators import OperatorTemplate, operator_config
from ganet_tf.spelling import closest

_SPECS = {
    "x": lambda features: keras.InputSpec(shape=(None, features), dtype="float32"),
    "edges": lambda features: keras.InputSpec(shape=(None, 2), dtype="int32"),
    "graph_ids": lambda features: keras.InputSpec(shape=(None,), dtype="int32"),
    "edge_weights": lambda features: keras.InputSpec(shape=(None,), dtype="float32"),
}


class GraphModel(keras.Model):
    """Base of the models: a dict {"x" [N, F], "edges" [E, 2], ...} of dense tensors goes in, a tensor comes out.

    A subclass gives its constructor's arguments to `__init__` here, which keeps each under its own name and
    returns them in `get_config`; it says which inputs it takes in `required` and `optional`, and makes its
    layers' weights in `build_layers(x_shape, edges_shape, graph_ids_shape)`. One with an argument `num_features` calls
    `build_if_known()` at the end of its constructor.

    Args:
        arguments: dict of the constructor's arguments.
        **kwargs: `name`, `dtype`.
    """

    required = ("x", "edges")
    optional = ("graph_ids",)
    transductive = False  # whether it knows the nodes of one graph only

    def __init__(self, arguments, **kwargs):
        super().__init__(**kwargs)
        self._argument_names = in_signature_order(type(self), arguments)
        for name, value in arguments.items():
            setattr(self, name, value)
        self._num_features = None
        self.supports_jit = False

    def build(self, input_shape):
        """Makes all weights; sizes other than the number of features are left open."""
        self.check_keys(input_shape)
        self._num_features = input_shape["x"][-1]
        shapes = self.open_shapes()
        self.build_layers(shapes["x"], shapes["edges"], shapes["graph_ids"])

    def build_if_known(self):
        """Makes the weights of a model that was told its `num_features`, before it has seen any data.

        Callbacks that load weights at the start (`BackupAndRestore`) and `summary()` then work on a new model.
        """
        if self.num_features is not None:
            features = check_units(self.num_features, "num_features")
            self.build({key: tuple(_SPECS[key](features).shape) for key in self.required})

    def open_shapes(self):
        """The shapes of x, edges and graph_ids for graphs of any size."""
        return {key: tuple(spec(self._num_features).shape) for key, spec in _SPECS.items()}

    def unpack(self, inputs):
        """The tensors x, edges, graph_ids and nodes themselves, the last two None where they are not given."""
        check_whole_batches()
        self.check_keys(inputs)
        x, *others = (inputs.get(key) for key in ("x", "edges", "graph_ids", "nodes"))
        return ops.checks.open_rows(x), *others

    def check_keys(self, inputs):
        """Raises unless the inputs are a dict with the keys that this model takes."""
        known = (*self.required, *self.optional)
        if not hasattr(inputs, "keys"):
            raise TypeError(
                f"'{self.name}' takes a dict with {_names(self.required)} (and {_names(self.optional)}), "
                f"but got {type(inputs).__name__}: call it as model({{'x': x, 'edges': edges}})."
            )
        for key in self.required:
            if key not in inputs:
                raise ValueError(f"'{self.name}' needs the input '{key}', but got only {_names(inputs)}.")
        for key in inputs:
            if key not in known:
                near = closest(key, known, cutoff=0.0)
                raise ValueError(
                    f"'{self.name}' has no input '{key}': it takes {_names(known)}. Did you mean '{near}'?"
                )

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=False,
        **kwargs,
    ):
        """Trains as `keras.Model.fit` does.

        `shuffle` is False here: graphs come in batches of a `tf.data.Dataset`, which shuffles by itself, and
        Keras would warn that it does not.
        """
        data = (x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data)
        self._check_one_replica("fit")
        with pointing_to_debug_checks():
            return super().fit(*data, shuffle=shuffle, **kwargs)

    def evaluate(self, *args, **kwargs):
        """Evaluates as `keras.Model.evaluate` does."""
        self._check_one_replica("evaluate")
        with pointing_to_debug_checks():
            return super().evaluate(*args, **kwargs)

    def predict(self, *args, **kwargs):
        """Predicts as `keras.Model.predict` does."""
        self._check_one_replica("predict")
        with pointing_to_debug_checks():
            return super().predict(*args, **kwargs)

    def _check_one_replica(self, loop):
        """Raises for a loop of Keras' under a strategy with several replicas: now, or when the model was made."""
        strategies = (tf.distribute.get_strategy(), self.distribute_strategy)
        replicas = max(strategy.num_replicas_in_sync for strategy in strategies)
        if replicas > 1:
            raise RuntimeError(cut_batch(replicas, loop))

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Exports the model for serving, as `keras.Model.export` does, for graphs of any size.

        Without an `input_signature` the served function takes the dict of the required inputs, x float32
        [None, F], edges int32 [None, 2] and, where it is one of them, graph_ids int32 [None].
        """
        if input_signature is None:
            if not self.built:
                raise ValueError(f"'{self.name}' has no weights yet: fit it, or call it once, before export.")
            input_signature = [{key: _SPECS[key](self._num_features) for key in self.required}]
        options = {"format": format, "verbose": verbose, "input_signature": input_signature, **kwargs}
        with native.disabled():  # what is served must do without this package
            return super().export(filepath, **options)

    def get_config(self):
        config = {name: plain(getattr(self, name)) for name in self._argument_names}
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config):
        """The model of a config: `from_config(get_config())` is a new one of the same make."""
        return cls(**{key: _object(value) for key, value in config.items()})


def in_signature_order(cls, names):
    """The names in the order of the constructor, so that a config reads like the call."""
    order = list(inspect.signature(cls.__init__).parameters)
    return tuple(sorted(names, key=lambda name: order.index(name) if name in order else len(order)))


@contextlib.contextmanager
def pointing_to_debug_checks():
    """Adds to TensorFlow's message, which names an op, how to learn which input was wrong."""
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        hint = (
            "An edge, a graph id or an edge weight may be out of range, which a compiled step does not look at: call "
            "ganet_tf.ops.debug_checks(True), compile the model again, and the error says which."
        )
        raise tf.errors.InvalidArgumentError(error.node_def, error.op, f"{error.message}\n{hint}") from error


def as_logits(outputs):
    """Class scores in float32 where a mixed policy computed them in half precision: a loss needs the digits."""
    return tf.cast(outputs, "float32") if outputs.dtype in (tf.float16, tf.bfloat16) else outputs


def take_nodes(outputs, nodes):
    """The rows of the nodes asked for, or all."""
    return outputs if nodes is None else tf.gather(outputs, nodes)


def plain(value):
    """A constructor's argument as a config has it: strings, numbers, and Keras configs for objects."""
    if isinstance(value, OperatorTemplate):
        return operator_config(value)
    if hasattr(value, "item"):  # a NumPy number, as k may be when it comes from data
        return value.item()
    if value is None or isinstance(value, (str, int, float, tuple)):
        return value
    return keras.saving.serialize_keras_object(value)


def _object(value):
    """The object of a Keras config; anything else as it is."""
    return keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value


def _names(keys):
    return ", ".join(f"'{key}'" for key in keys)
