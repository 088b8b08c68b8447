"""What every layer has to keep: a test class inherits `LayerContract` and gives a maker and a NumPy oracle."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given

from ganet_tf import native
from tests.graphs import SPECIAL, batch, graph_batches, hub, joined, modest, permuted

STEP = 1e-30


def assert_close(actual, expected, tolerance):
    """Equal up to `tolerance` of the largest number expected."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all()
    error = np.max(np.abs(actual - expected), initial=0.0)
    assert error <= tolerance * max(1.0, np.max(np.abs(expected), initial=0.0)), f"off by {error}"


def softmax(scores):
    """The softmax of a vector, also of complex numbers for the complex step."""
    weights = np.exp(scores - np.max(scores.real))
    return weights / weights.sum()


def complex_gradient(function, array, cotangent):
    """The gradient of Σ cotangent · function(array) by complex steps: exact to rounding, no differences taken."""
    gradient = np.zeros(array.shape)
    for place in np.ndindex(array.shape):
        stepped = array.astype("complex128")
        stepped[place] += 1j * STEP
        gradient[place] = np.sum(cotangent * function(stepped).imag) / STEP
    return gradient


def compare_implementations(build, graphs, dtype, implementations):
    """Layers `build(dtype, implementation=...)` against the sparse one: outputs, gradients of x and of all weights.

    What counts is how far they are from the sparse one in float64, beyond what that one is off itself in `dtype`.
    """
    weights = [np.asarray(w.numpy()).astype(dtype) for w in build(dtype, implementation="sparse").weights]

    def run(dtype, implementation):
        layer = build(dtype, implementation=implementation)
        layer.set_weights(weights)
        return results_of(layer, tf.constant(x, dtype), graphs)

    x, tolerance = graphs.x.astype(dtype), 1e-6 if dtype == "float32" else 1e-12
    exact, own = run("float64", "sparse"), run(dtype, "sparse")
    for implementation in implementations:
        for found, right, sparse in zip(run(dtype, implementation), exact, own, strict=True):
            rounding = np.max(np.abs(sparse - right), initial=0) / max(1.0, np.max(np.abs(right), initial=0))
            assert_close(found, right, tolerance + 2 * rounding)


def results_of(layer, x, graphs):
    """[outputs, gradient of x, gradients of the weights] for a weighted sum of the outputs."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, graphs.edges, graphs.graph_ids)
        factors = np.random.default_rng(5).normal(size=outputs.shape)
        loss = tf.reduce_sum(outputs * tf.constant(factors, outputs.dtype))
    gradients = tape.gradient(loss, [x, *layer.trainable_weights], unconnected_gradients="zero")
    return [tf.convert_to_tensor(result).numpy() for result in (outputs, *gradients)]


class OracleContract:
    """The numbers of one layer. A subclass gives `make(**kwargs)` and `oracle(weights, x, edges, graph_ids)`.

    The oracle is written with loops, in NumPy, and must bear complex numbers, which is how its gradient is
    taken; `weights` is a dict of arrays by name.
    """

    width = 3

    def gradient_oracle(self, weights, x, edges, graph_ids):
        """What the gradient is taken of, where that is not the output itself."""
        return self.oracle(weights, x, edges, graph_ids)

    def built(self, dtype="float64", **kwargs):
        """The layer with weights that are all random, the biases too."""
        layer = self.make(dtype=dtype, **kwargs)
        layer.build((None, self.width), (None, 2), (None,))
        rng = np.random.default_rng(7)
        layer.set_weights([rng.normal(size=w.shape) if w.dtype != "uint32" else w for w in layer.weights])
        return layer

    def arrays(self, layer):
        return {w.name: np.asarray(w.numpy(), dtype="float64") for w in layer.trainable_weights}

    def run(self, layer, graphs, **kwargs):
        return layer(graphs.x.astype(layer.compute_dtype), graphs.edges, graphs.graph_ids, **kwargs).numpy()

    def check_against_oracle(self, graphs):
        layer = self.built()
        expected = self.oracle(self.arrays(layer), *graphs)
        assert_close(self.run(layer, graphs), expected, 1e-10)
        single = self.built("float32")
        # The oracle gets the rounded weights and features, so that only the layer's own error is left.
        rounded = graphs._replace(x=graphs.x.astype("float32").astype("float64"))
        assert_close(self.run(single, graphs), self.oracle(self.arrays(single), *rounded), 1e-5)

    @pytest.mark.parametrize("case", SPECIAL)
    def test_oracle_on_special_graphs(self, case):
        self.check_against_oracle(SPECIAL[case])

    @modest
    @given(graph_batches())
    def test_oracle_on_drawn_graphs(self, graphs):
        self.check_against_oracle(graphs)

    def check_gradients(self, graphs, features=True):
        layer = self.built()
        weights = self.arrays(layer)
        x = tf.constant(graphs.x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = layer(x, graphs.edges, graphs.graph_ids)
            cotangent = np.random.default_rng(5).normal(size=outputs.shape)
            loss = tf.reduce_sum(outputs * cotangent)
        by_weight, by_x = tape.gradient(loss, (layer.trainable_weights, x))
        for weight, gradient in zip(layer.trainable_weights, by_weight, strict=True):

            def of_weight(array, name=weight.name):
                return self.gradient_oracle({**weights, name: array}, *graphs)

            assert_close(gradient, complex_gradient(of_weight, weights[weight.name], cotangent), 1e-10)
        if features:
            expected = complex_gradient(
                lambda array: self.gradient_oracle(weights, array, *graphs[1:]), graphs.x, cotangent
            )
            assert_close(by_x, expected, 1e-10)

    @pytest.mark.parametrize("case", [case for case in SPECIAL if case != "hub"])
    def test_gradients_on_special_graphs(self, case):
        self.check_gradients(SPECIAL[case])

    def test_gradients_on_a_hub(self):
        self.check_gradients(hub(degree=100), features=False)

    @modest
    @given(graph_batches())
    def test_gradients_on_drawn_graphs(self, graphs):
        self.check_gradients(graphs)


class LayerContract(OracleContract):
    """All that a layer has to keep, its numbers included."""

    needs_edges = True
    has_dense = True

    # The symmetries.

    @modest
    @given(graph_batches())
    def test_sparse_is_dense(self, graphs):
        if not self.has_dense:
            pytest.skip("there is only one implementation")
        sparse, dense = self.built(), self.built(implementation="dense")
        results = []
        for layer in (sparse, dense):
            x = tf.constant(graphs.x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                outputs = layer(x, graphs.edges, graphs.graph_ids)
                loss = tf.reduce_sum(outputs**2)
            results.append([outputs, *tape.gradient(loss, [x, *layer.trainable_weights])])
        for first, second in zip(*results, strict=True):
            assert_close(first, second, 1e-10)

    @pytest.mark.skipif(not native.available(), reason=f"no native kernels: {native.available()}")
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("case", ["several_graphs", "complete", "hub"])
    def test_native_is_sparse(self, case, dtype):
        """Values and all gradients; a run in float32 is held against one in float64, of the same numbers."""
        if "implementation" not in self.make().get_config() or not getattr(self.make(), "has_native", True):
            pytest.skip("there is no native kernel")
        compare_implementations(self.built, SPECIAL[case], dtype, ("native", "auto"))

    @modest
    @given(graph_batches())
    def test_edge_order_does_not_matter(self, graphs):
        layer = self.built()
        shuffled = graphs._replace(edges=np.random.default_rng(3).permutation(graphs.edges))
        assert_close(self.run(layer, shuffled), self.run(layer, graphs), 1e-12)

    @modest
    @given(graph_batches())
    def test_permuting_nodes_permutes_the_output(self, graphs):
        layer = self.built()
        other, order = permuted(graphs)
        assert_close(self.run(layer, other), self.run(layer, graphs)[order], 1e-12)

    @modest
    @given(graph_batches(), graph_batches())
    def test_what_else_is_in_the_batch_does_not_matter(self, first, second):
        layer = self.built()
        outputs = self.run(layer, joined(first, second))
        assert_close(outputs[: first.num_nodes], self.run(layer, first), 1e-12)
        assert_close(outputs[first.num_nodes :], self.run(layer, second), 1e-12)

    # No nodes at all: a server's empty request must not end the server.

    @pytest.mark.parametrize("mode", ["eager", "static shapes", "open shapes"])
    @pytest.mark.parametrize("implementation", ["sparse", "dense"])
    def test_no_nodes(self, implementation, mode):
        if implementation == "dense" and not self.has_dense:
            pytest.skip("there is only one implementation")
        layer = self.built("float32", **({"implementation": "dense"} if implementation == "dense" else {}))

        def step(x, edges, graph_ids):
            with tf.GradientTape() as tape:
                tape.watch(x)
                outputs = layer(x, edges, graph_ids, training=True)
                loss = tf.reduce_sum(outputs**2)
            return outputs, tape.gradient(loss, [x, *layer.trainable_variables])

        if mode != "eager":
            specs = [
                tf.TensorSpec([None, self.width]),
                tf.TensorSpec([None, 2], "int32"),
                tf.TensorSpec([None], "int32"),
            ]
            step = tf.function(step, autograph=False, input_signature=specs if mode == "open shapes" else None)
        empty = (np.zeros((0, self.width), "float32"), np.zeros((0, 2), "int32"), np.zeros(0, "int32"))
        outputs, gradients = step(*map(tf.constant, empty))
        symbolic = layer.compute_output_shape((0, self.width), (0, 2), (0,))
        assert outputs.shape == (0, *symbolic[1:])
        for array in gradients:
            assert not np.any(array)

    # The numerics.

    @pytest.mark.parametrize("case", ["equal", "zero", "huge"])
    def test_degenerate_features_give_no_nan(self, case):
        shape = SPECIAL["several_graphs"].x.shape
        x = {"equal": np.ones(shape), "zero": np.zeros(shape), "huge": 1e6 * SPECIAL["several_graphs"].x}[case]
        graphs = SPECIAL["several_graphs"]._replace(x=x.astype("float32"))
        layer = self.built("float32")
        with tf.GradientTape() as tape:
            outputs = layer(*graphs)
            loss = tf.reduce_mean(outputs)
        assert np.isfinite(outputs).all()
        assert all(np.isfinite(g).all() for g in tape.gradient(loss, layer.trainable_weights))

    def test_the_same_seed_gives_the_same_bytes(self):
        def run():
            keras.utils.set_random_seed(11)
            layer = self.make(**self.dropping())
            graphs = SPECIAL["several_graphs"]
            with tf.GradientTape() as tape:
                outputs = layer(graphs.x.astype("float32"), graphs.edges, graphs.graph_ids, training=True)
            gradients = tape.gradient(outputs, layer.trainable_weights)
            return [np.asarray(array).tobytes() for array in (outputs, *gradients)]

        assert run() == run()

    def dropping(self):
        """Arguments that switch dropout on, where there is one."""
        return {"dropout": 0.5}

    def test_mixed_float16(self):
        graphs = SPECIAL["several_graphs"]
        full, half = self.built("float32"), self.built("mixed_float16")
        outputs = half(graphs.x.astype("float32"), graphs.edges, graphs.graph_ids)
        assert outputs.dtype == tf.float16
        assert all(w.dtype == "float32" for w in half.trainable_weights)
        assert_close(outputs.numpy().astype("float64"), self.run(full, graphs), 3e-2)

    # The Keras side.

    def test_config_round_trip(self):
        layer = self.make(name="mine")
        config = layer.get_config()
        again = type(layer).from_config(config)
        assert again.get_config() == config
        assert again.name == "mine"
        own = set(inspect.signature(type(layer).__init__).parameters) - {"self", "kwargs"}
        assert own <= set(config), "an argument that is left out comes back as its default"
        copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
        assert copy.get_config() == config

    def functional(self, layer):
        inputs = {
            "x": keras.Input((self.width,), name="x"),
            "edges": keras.Input((2,), dtype="int32", name="edges"),
            "graph_ids": keras.Input((), dtype="int32", name="graph_ids"),
        }
        return keras.Model(inputs, layer(inputs["x"], inputs["edges"], inputs["graph_ids"]))

    def test_functional_model_saves_and_loads(self, tmp_path):
        layer = self.built("float32")
        model = self.functional(layer)
        model.save(tmp_path / "model.keras")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        for case in ("several_graphs", "one_node"):
            graphs = SPECIAL[case]
            inputs = {key: tf.constant(value) for key, value in graphs._asdict().items()}
            inputs["x"] = tf.cast(inputs["x"], "float32")
            np.testing.assert_array_equal(model(inputs), loaded(inputs))
            np.testing.assert_array_equal(model(inputs), self.run(layer, graphs))
        assert loaded.output_shape[-1] == model(inputs).shape[-1]

    def test_symbolic_shape_is_the_real_one(self):
        graphs = SPECIAL["several_graphs"]
        layer = self.built("float32")
        symbolic = layer.compute_output_shape(graphs.x.shape, graphs.edges.shape, graphs.graph_ids.shape)
        real = self.run(layer, graphs).shape
        assert len(symbolic) == len(real)
        assert all(a in (None, b) for a, b in zip(symbolic, real, strict=True))

    def test_works_in_a_subclassed_model(self):
        layer = self.make(name="inner")

        class Mine(keras.Model):
            def __init__(self):
                super().__init__()
                self.inner = layer

            def call(self, inputs):
                return self.inner(inputs["x"], inputs["edges"], inputs["graph_ids"])

        graphs = SPECIAL["several_graphs"]
        inputs = {key: tf.constant(value) for key, value in graphs._asdict().items()}
        model = Mine()
        outputs = model(inputs)
        np.testing.assert_array_equal(outputs, self.run(layer, graphs))
        assert len(model.trainable_weights) == len(layer.trainable_weights)

    def test_gradients_reach_every_weight(self):
        layer = self.built("float32")
        graphs = SPECIAL["complete"]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(graphs.x.astype("float32"), graphs.edges, graphs.graph_ids) ** 2)
        gradients = tape.gradient(loss, layer.trainable_weights)
        for weight, gradient in zip(layer.trainable_weights, gradients, strict=True):
            assert gradient is not None, weight.path
            assert np.any(gradient.numpy()), weight.path

    def test_graph_mode_is_eager_with_two_traces(self):
        layer = self.built("float32")
        traces = []

        @tf.function(reduce_retracing=True)
        def step(x, edges, graph_ids):
            traces.append(1)
            return layer(x, edges, graph_ids)

        for case in ("several_graphs", "hub", "one_node", "no_edges"):
            graphs = SPECIAL[case]
            x = tf.constant(graphs.x, "float32")
            outputs = step(x, tf.constant(graphs.edges), tf.constant(graphs.graph_ids))
            assert_close(outputs, self.run(layer, graphs), 1e-6)
        assert len(traces) <= 2

    def test_keras_arguments_are_used(self):
        layer = self.make()
        assert layer.supports_jit is False
        assert layer.name
        registered = keras.saving.get_registered_name(type(layer))
        assert registered == f"ganet_tf>{type(layer).__name__}"

    # Bad input.

    def test_numpy_int64_and_lists_of_edges_are_taken(self):
        graphs = SPECIAL["several_graphs"]
        layer = self.built("float32")
        wide = graphs._replace(edges=graphs.edges.astype("int64"), graph_ids=graphs.graph_ids.astype("int64"))
        np.testing.assert_array_equal(self.run(layer, wide), self.run(layer, graphs))

    def test_wrong_rank_of_x(self):
        with pytest.raises(ValueError, match=r"`x` of .* must have shape \[nodes, features\]"):
            self.make()(np.ones((2, 3, 4), "float32"), np.zeros((0, 2), "int32"))

    def test_wrong_width_of_x(self):
        if not self.make().weights and not self.built("float32").weights:
            pytest.skip("no weights, any width will do")
        with pytest.raises(ValueError, match=r"5 features a node, but .* was built for 3"):
            self.built("float32")(np.ones((4, 5), "float32"), np.zeros((0, 2), "int32"))

    def test_edges_in_columns(self):
        with pytest.raises(ValueError, match=r"`edges` of .* must have shape \[edges, 2\].*transpose"):
            self.make()(np.ones((4, 3), "float32"), np.zeros((2, 5), "int32"))

    def test_edges_that_are_not_integers(self):
        with pytest.raises(TypeError, match=r"`edges` of .* must be integers, but is float32"):
            self.make()(np.ones((4, 3), "float32"), np.zeros((5, 2), "float32"))
        with pytest.raises(TypeError, match="dtype='int32'"):
            self.make()(keras.Input((3,)), keras.Input((2,)))

    def test_edges_out_of_range(self):
        if not self.needs_edges:
            pytest.skip("edges are not used")
        with pytest.raises(ValueError, match=r"`edges` row 1 is \[0, 9\], but `x` has 4 nodes"):
            self.make()(np.ones((4, 3), "float32"), np.array([[0, 1], [0, 9]]))

    @pytest.mark.parametrize("dtype", ["int32", "int64"])
    @pytest.mark.parametrize("node", [4, -1, 2**32 + 3])
    def test_edges_out_of_range_in_a_compiled_step(self, dtype, node):
        if not self.needs_edges or (dtype == "int32" and node > 2**31):
            pytest.skip("edges are not used, or there is no such number")
        layer = self.built("float32")
        specs = [tf.TensorSpec([None, self.width]), tf.TensorSpec([None, 2], dtype)]
        step = tf.function(lambda x, edges: layer(x, edges), autograph=False, input_signature=specs)
        step(tf.ones((4, self.width)), tf.constant([[0, 3]], dtype))
        for row in ([0, node], [node, 0]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=self.text_of_edge(layer, node, row)):
                step(tf.ones((4, self.width)), tf.constant([[0, 1], row], dtype))

    def text_of_edge(self, layer, node, row):
        """What a compiled step says of an edge out of range: a native kernel names the row itself."""
        if getattr(layer, "implementation", None) == "auto" and getattr(layer, "has_native", True) and native.usable():
            return rf"`edges` row 1 is \[{row[0]}, {row[1]}\], but `x` has 4 nodes"
        return rf"`edges` names the node\] \[{node}\].*debug_checks"

    def test_no_edges_given(self):
        if not self.needs_edges:
            assert self.make()(np.ones((4, 3), "float32")).shape
        else:
            with pytest.raises(ValueError, match="needs `edges`"):
                self.make()(np.ones((4, 3), "float32"), None)

    def test_graph_ids_of_another_length(self):
        graphs = batch([[]], [3])
        with pytest.raises(ValueError, match=r"`graph_ids` of .* one number for each row"):
            self.make()(graphs.x.astype("float32"), graphs.edges, np.zeros(5, "int32"))
