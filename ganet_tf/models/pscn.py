"""PSCN (PATCHY-SAN): a baseline for graphs that convolves over ordered neighbourhoods."""

import keras
import tensorflow as tf

from ganet_tf.layers.checks import check_rate, check_units, check_width, shape_of
from ganet_tf.layers.dropout import Dropout
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.ops.batch_layout import graph_layout

KERNEL = 10  # fields that the second convolution looks at


@keras.saving.register_keras_serializable(package="ganet_tf")
class PSCN(GraphModel):
    """PATCHY-SAN (Niepert et al. 2016) for graphs: a convolution over the fields of `data.receptive_fields`.

        Conv1D(16, kernel k, stride k, ReLU), Conv1D(8, kernel 10, ReLU), Dense(128, ReLU), Dropout, Dense(num_classes)

    The first convolution sees a field of k nodes at a time, and is computed as the matrix product that it is. Where
    a field has no node, and a graph no field, there are zeros. Edges are looked at when the fields are made, not here.

    Args:
        num_classes: Number of classes.
        width: Fields of each graph; `data.pscn_width(dataset)` is the authors' choice, the mean number of nodes.
        size: k, the nodes of a field.
        filters: Channels of both convolutions.
        units: Channels of the dense layer.
        dropout: Before the last layer.
        kernel_initializer, kernel_regularizer: For all matrices.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `graph_ids` [N], ascending, and `fields` [B, width * size], numbers of nodes
            within each graph, -1 for none; `edges` may be there and are not looked at.
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits, B the number of graphs.

    Raises:
        ValueError: For an input that is missing or has a wrong shape.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> fields = np.array([[0, 1, 1, 0], [0, -1, -1, -1]], dtype="int32")  # of a graph of two nodes, and of one
    >>> model = PSCN(num_classes=2, width=2, size=2)
    >>> model({"x": x, "graph_ids": np.array([0, 0, 1]), "fields": fields}).shape
    TensorShape([2, 2])
    """

    required = ("x", "graph_ids", "fields")
    optional = ("edges",)

    def __init__(
        self,
        num_classes,
        width,
        size=10,
        filters=(16, 8),
        units=128,
        dropout=0.5,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        **kwargs,
    ):
        sizes = {"width": check_units(width, "width"), "size": check_units(size, "size")}
        own = {"num_classes": num_classes, "filters": tuple(filters), "units": units}
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        super().__init__({**own, **sizes, "dropout": check_rate(dropout, "dropout"), **matrix}, **kwargs)
        dtype = {"dtype": self.dtype_policy}
        first, second = self.filters
        self.convolution = keras.layers.Dense(first, activation="relu", name="convolution", **matrix, **dtype)
        self.stack = keras.Sequential(
            [
                keras.Input((width, first), dtype=self.compute_dtype),
                keras.layers.Conv1D(second, min(KERNEL, width), activation="relu", **matrix, **dtype),
                keras.layers.Flatten(**dtype),
                keras.layers.Dense(units, activation="relu", **matrix, **dtype),
                Dropout(dropout, **dtype),
                keras.layers.Dense(num_classes, **matrix, **dtype),
            ],
            name="stack",
        )

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds the first convolution on a field's features side by side."""
        self.convolution.build((None, self.width, self.size * x_shape[-1]))

    def call(self, inputs, training=None):
        """Features of the fields' nodes, then the convolutions."""
        x, _, graph_ids, _ = self.unpack(inputs)
        check_width(shape_of(x)[-1], self._num_features, self.name)
        fields = inputs["fields"]
        if shape_of(fields)[-1] != self.width * self.size:
            raise ValueError(
                f"`fields` of '{self.name}' must have shape [graphs, {self.width * self.size}], {self.width} fields of "
                f"{self.size} nodes, but has {shape_of(fields)}: make them with receptive_fields(dataset, "
                f"width={self.width}, size={self.size})."
            )
        features = field_features(x, graph_ids, fields)
        windows = tf.reshape(features, [-1, self.width, self.size * x.shape[-1]])
        count = tf.shape(windows)[0]
        # TensorFlow's convolution gives a wrong shape for no graphs at all: they become one of zeros meanwhile.
        windows = tf.cond(count > 0, lambda: windows, lambda: tf.zeros([1, *windows.shape[1:]], windows.dtype))
        windows = tf.ensure_shape(windows, [None, self.width, self.size * x.shape[-1]])
        return as_logits(self.stack(self.convolution(windows), training=training)[:count])

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Exports the model for serving, for graphs of any size; it then takes x, graph_ids and `fields`."""
        if input_signature is None and self.built:
            shapes = {
                "x": ((None, self._num_features), "float32"),
                "graph_ids": ((None,), "int32"),
                "fields": ((None, self.width * self.size), "int32"),
            }
            input_signature = [{key: keras.InputSpec(shape=s, dtype=d) for key, (s, d) in shapes.items()}]
        return super().export(filepath, format, verbose, input_signature, **kwargs)

    def compute_output_shape(self, input_shape):
        """[B, num_classes]."""
        return (None, self.num_classes)


def field_features(x, graph_ids, fields):
    """The features of the nodes that `fields` [B, P] names within each graph: [B, P, F], zeros for -1."""
    layout = graph_layout(graph_ids, tf.shape(x)[0])
    fields = tf.cast(fields, tf.int32)
    places = tf.where(fields < 0, tf.shape(x)[0], fields + layout.splits[: tf.shape(fields)[0], None])
    return tf.gather(tf.pad(x, [[0, 1], [0, 0]]), places)
