"""What every model has to keep: a test class inherits `ModelContract` and gives a maker."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.models import base
from tests.graphs import batch, both_ways

FEATURES = 5
CLASSES = 3


def rings(sizes, seed=0):
    """A batch of rings, one for each size, with random features."""
    edges = [both_ways([[i, (i + 1) % n] for i in range(n)]) if n > 2 else [] for n in sizes]
    graphs = batch(edges, sizes, num_features=FEATURES, seed=seed)
    return {"x": graphs.x.astype("float32"), "edges": graphs.edges, "graph_ids": graphs.graph_ids}


def graph_data(num_batches=4):
    """Batches of graphs with a class each, every batch of another size."""
    items = [(rings([3 + i, 5, 8 + 2 * i], seed=i), np.array([0, 1, 2], "int32")) for i in range(num_batches)]
    return as_dataset(items)


def node_data(num_batches=4):
    """One graph a batch, with the nodes that are asked for and their classes."""
    items = []
    for i in range(num_batches):
        graph = rings([6 + i], seed=i)
        del graph["graph_ids"]
        items.append(({**graph, "nodes": np.arange(3 + i, dtype="int32")}, np.arange(3 + i, dtype="int32") % 3))
    return as_dataset(items)


def as_dataset(items):
    """A tf.data.Dataset of items of several sizes, as `ganet_tf.data` makes them."""
    signature = tf.nest.map_structure(lambda array: tf.TensorSpec([None, *array.shape[1:]], array.dtype.name), items[0])
    dataset = tf.data.Dataset.from_generator(lambda: iter(items), output_signature=signature)
    return dataset.apply(tf.data.experimental.assert_cardinality(len(items)))


def compiled(model, **kwargs):
    """The model with the usual loss."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"], **kwargs)
    return model


class ModelContract:
    """Tests of one model. A subclass gives `cls`, `arguments`, and whether it is for graphs or nodes."""

    cls = None
    arguments = {}  # noqa: RUF012
    for_graphs = True

    def make(self, **kwargs):
        return self.cls(CLASSES, **{**self.arguments, **kwargs})

    def data(self, num_batches=3):
        return (graph_data if self.for_graphs else node_data)(num_batches)

    def inputs(self, sizes=(4, 7, 2)):
        inputs = rings(list(sizes))
        return inputs if self.for_graphs else {key: inputs[key] for key in ("x", "edges")}

    def built(self, **kwargs):
        model = self.make(**kwargs)
        model.build({"x": (None, FEATURES), "edges": (None, 2), "graph_ids": (None,)})
        return model

    def test_fit_evaluate_predict_with_two_traces(self):
        traces = []

        class Counted(self.cls):
            def call(self, inputs, training=None):
                traces.append(1)
                return super().call(inputs, training=training)

        model = compiled(Counted(CLASSES, **self.arguments))
        before = len(traces)
        model.build({"x": (None, FEATURES), "edges": (None, 2), "graph_ids": (None,)})
        history = model.fit(self.data(), epochs=2, verbose=0)
        assert np.isfinite(history.history["loss"]).all()
        assert len(traces) - before <= 2
        assert model.optimizer.iterations == 6
        before = len(traces)
        predictions = model.predict(self.data(), verbose=0)
        assert len(traces) - before <= 2
        assert predictions.shape == (sum(len(y) for _, y in self.data()), CLASSES)
        expected = np.concatenate([model(inputs) for inputs, _ in self.data()])
        np.testing.assert_allclose(predictions, expected, rtol=1e-4, atol=1e-5)
        results = model.evaluate(self.data(1), verbose=0, return_dict=True)
        assert set(results) == {"loss", "accuracy"}

    def test_summary_has_shapes_and_counts(self):
        model, lines = self.built(), []
        model.summary(print_fn=lines.append, expand_nested=True)
        text = "\n".join(map(str, lines))
        assert "?" not in text
        assert f"{model.count_params():,}" in text
        assert f"(None, {CLASSES})" in text
        assert model.count_params() == sum(np.prod(w.shape) for w in model.trainable_weights)

    def test_config_reads_like_the_constructor_call(self):
        model = self.make(name="mine")
        config = model.get_config()
        for name, value in {"num_classes": CLASSES, **self.arguments}.items():
            assert config[name] == value
        assert self.cls.from_config(config).get_config() == config

    def test_a_clone_is_the_same_model_with_new_weights(self):
        model = self.built()
        clone = keras.models.clone_model(model)
        assert clone.get_config() == model.get_config()
        outputs = clone(self.inputs())
        assert outputs.shape == model(self.inputs()).shape
        clone.set_weights(model.get_weights())
        np.testing.assert_array_equal(clone(self.inputs()), model(self.inputs()))

    def test_gradients_reach_every_weight(self):
        model = self.built()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(self.inputs((12, 15, 20))) ** 2)
        gradients = tape.gradient(loss, model.trainable_weights)
        dead = [w.path for w, g in zip(model.trainable_weights, gradients, strict=True) if g is None or not np.any(g)]
        assert not dead

    @pytest.mark.parametrize("compiled", [False, True])
    def test_no_nodes(self, compiled):
        """An empty request: no rows come out, and nothing dies; a step on it leaves gradients of zero."""
        model = self.built()

        def step(inputs):
            with tf.GradientTape() as tape:
                outputs = model(inputs, training=True)
                loss = tf.reduce_sum(outputs**2)
            return outputs, tape.gradient(loss, model.trainable_weights)

        inputs = {key: tf.constant(array[:0]) for key, array in self.inputs().items()}
        outputs, gradients = (tf.function(step, autograph=False) if compiled else step)(inputs)
        assert outputs.shape == (0, CLASSES)
        found = [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]  # slices, of a table
        assert not any(np.any(gradient) for gradient in found)

    def test_the_same_seed_gives_the_same_bytes(self):
        def run():
            keras.utils.set_random_seed(5)
            model = self.built()
            return np.asarray(model(self.inputs(), training=True)).tobytes()

        assert run() == run()

    def test_mixed_float16(self):
        model = self.built(dtype="mixed_float16")
        assert {w.dtype for w in model.trainable_weights} == {"float32"}
        outputs = model(self.inputs())
        assert outputs.dtype == tf.float32  # logits: a loss needs the digits
        assert np.isfinite(outputs).all()

    def test_compiles_without_xla(self):
        assert compiled(self.built()).jit_compile is False

    def test_another_width(self):
        inputs = self.inputs()
        inputs["x"] = np.ones((len(inputs["x"]), FEATURES + 1), "float32")
        with pytest.raises(ValueError, match=r"6 features a node, but .* was built for 5"):
            self.built()(inputs)

    def test_a_missing_input(self):
        inputs = self.inputs()
        del inputs["edges"]
        with pytest.raises(ValueError, match="needs the input 'edges', but got only 'x'"):
            self.built()(inputs)

    def test_an_unknown_input_names_the_nearest(self):
        with pytest.raises(ValueError, match=r"has no input 'graph_id': .*Did you mean 'graph_ids'"):
            self.built()({**self.inputs(), "graph_id": np.zeros(13, "int32")})

    def test_no_dict(self):
        with pytest.raises(TypeError, match="takes a dict with 'x', 'edges'"):
            self.built()(self.inputs()["x"])

    @pytest.mark.parametrize("loop", ["fit", "evaluate", "predict"])
    def test_several_replicas(self, loop, monkeypatch):
        model = self.built()

        class Strategy:
            num_replicas_in_sync = 2

        monkeypatch.setattr(base.tf.distribute, "get_strategy", Strategy)
        self.make()  # a loop of one's own may have models there
        with pytest.raises(RuntimeError, match=r"strategy with 2 replicas .* in the middle of a graph.*share="):
            getattr(model, loop)(self.inputs())
