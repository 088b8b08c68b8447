"""The switches of GAO, HGAO and TopKGAO: heads, scores, gates, edge weights and dropout of attention weights."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers, native, ops
from tests.graphs import SPECIAL, batch, hub, permuted
from tests.layers.contract import assert_close, compare_implementations
from tests.layers.switched import VARIANTS, pair_weights

CASES = ("several_graphs", "complete", "no_edges")


@pytest.fixture(params=VARIANTS)
def variant(request):
    return VARIANTS[request.param]


@pytest.mark.parametrize("case", CASES)
def test_oracle(variant, case):
    variant.contract.check_against_oracle(SPECIAL[case])


def test_oracle_on_a_hub(variant):
    variant.contract.check_against_oracle(hub(degree=40))


@pytest.mark.parametrize("case", ("several_graphs", "complete"))
def test_gradients(variant, case):
    variant.contract.check_gradients(SPECIAL[case])


def outputs_and_gradients(layer, graphs, **options):
    x = tf.constant(graphs.x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, graphs.edges, graphs.graph_ids, **options)
        loss = tf.reduce_sum(outputs**2)
    return [outputs, *tape.gradient(loss, [x, *layer.trainable_weights])]


@pytest.mark.parametrize("training", [False, True])
def test_sparse_is_dense(variant, training):
    """With the same draws of dropout too: they belong to the edges, not to an implementation's tables."""
    for graphs in (SPECIAL["several_graphs"], SPECIAL["complete"], hub(degree=40)):
        results = []
        for implementation in ("sparse", "dense"):
            layer = variant.contract.built(implementation=implementation, attention_dropout=0.5, seed=3)
            results.append(outputs_and_gradients(layer, graphs, training=training))
        for first, second in zip(*results, strict=True):
            assert_close(first, second, 1e-10)


@pytest.mark.skipif(not native.available(), reason=f"no native kernels: {native.available()}")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_native_is_sparse(variant, dtype):
    for graphs in (SPECIAL["several_graphs"], SPECIAL["complete"], hub(degree=40)):
        compare_implementations(variant.contract.built, graphs, dtype, ["native"])


def test_permuting_nodes_permutes_the_output(variant):
    """The weights move with their edges."""
    graphs = SPECIAL["several_graphs"]
    layer = variant.cls(4, **variant.arguments, dtype="float64")
    layer.build((None, 3))
    weights = pair_weights(graphs.edges) if variant.weighted else None
    other, order = permuted(graphs)
    shuffled = np.random.default_rng(0).permutation(len(graphs.edges))
    moved = layer(other.x, other.edges[shuffled], edge_weights=None if weights is None else weights[shuffled])
    assert_close(moved, layer(graphs.x, graphs.edges, edge_weights=weights).numpy()[order], 1e-12)


def test_config_and_file_keep_the_switches(variant, tmp_path):
    layer = variant.cls(4, **variant.arguments, attention_dropout=0.25, name="mine")
    again = variant.cls.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert all(getattr(again, name) == value for name, value in variant.arguments.items())
    inputs = [keras.Input((3,)), keras.Input((2,), dtype="int32"), keras.Input(())]
    model = keras.Model(inputs, layer(inputs[0], inputs[1], edge_weights=inputs[2]))
    model.save(tmp_path / "model.keras")
    graphs = SPECIAL["complete"]
    arrays = [graphs.x.astype("float32"), graphs.edges, pair_weights(graphs.edges).astype("float32")]
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(arrays), model(arrays))


def test_half_precision_and_graph_mode(variant):
    graphs = SPECIAL["several_graphs"]
    full, half = (variant.contract.built(dtype) for dtype in ("float32", "mixed_float16"))
    expected = full(graphs.x.astype("float32"), graphs.edges)
    outputs = half(graphs.x.astype("float32"), graphs.edges)
    assert outputs.dtype == tf.float16
    assert_close(outputs.numpy().astype("float64"), expected, 3e-2)
    compiled = tf.function(full, reduce_retracing=True)
    assert_close(compiled(tf.constant(graphs.x, "float32"), tf.constant(graphs.edges)), expected, 1e-6)


def test_degenerate_features_give_no_nan(variant):
    for x in (np.zeros((9, 3)), np.ones((9, 3)), 1e6 * SPECIAL["several_graphs"].x):
        graphs = SPECIAL["several_graphs"]._replace(x=x.astype("float32"))
        layer = variant.contract.built("float32")
        for tensor in outputs_and_gradients(layer, graphs):
            assert np.isfinite(tensor).all()


class TestAttentionDropout:
    @pytest.mark.parametrize("cls", [layers.GAO, layers.HGAO, layers.TopKGAO])
    def test_is_for_training_only_and_keeps_the_mean(self, cls):
        graphs = hub(degree=12)
        layer = cls(2, attention_dropout=0.5, score="uniform", seed=1, dtype="float64")
        plain = layer(graphs.x, graphs.edges).numpy()
        draws = np.mean([layer(graphs.x, graphs.edges, training=True) for _ in range(400)], axis=0)
        assert_close(draws, plain, 0.15)
        assert np.any(layer(graphs.x, graphs.edges, training=True) != plain)

    def test_drops_weights_not_features(self):
        """One neighbour a node: its value comes doubled, or not at all."""
        graphs = batch([[]], [200])
        layer = layers.GAO(3, attention_dropout=0.5, kernel_initializer="identity", dtype="float64")
        outputs = layer(graphs.x, graphs.edges, training=True).numpy()
        kept = np.any(outputs != 0, axis=1)
        np.testing.assert_allclose(outputs[kept], 2 * graphs.x[kept])
        assert 50 < kept.sum() < 150

    def test_heads_draw_for_themselves(self):
        graphs = batch([[]], [200])
        layer = layers.HGAO(1, heads=2, gate=None, attention_dropout=0.5, kernel_initializer="ones", dtype="float64")
        outputs = layer(graphs.x, graphs.edges, training=True).numpy()
        assert np.any((outputs[:, 0] == 0) != (outputs[:, 1] == 0))

    def test_its_random_state_is_saved(self, tmp_path):
        graphs = SPECIAL["complete"]
        x, edges = keras.Input((3,)), keras.Input((2,), dtype="int32")
        model = keras.Model([x, edges], layers.GAO(2, attention_dropout=0.5)(x, edges))
        inputs = [graphs.x.astype("float32"), graphs.edges]
        model(inputs, training=True)
        model.save(tmp_path / "model.keras")
        loaded = keras.models.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(loaded(inputs, training=True), model(inputs, training=True))

    def test_without_it_no_random_numbers_are_used(self):
        assert not layers.HGAO(2).non_trainable_variables
        assert not hasattr(layers.GAO(2), "seed_generator")


class TestCosine:
    def test_the_temperature_starts_at_four_and_learns(self):
        layer = layers.HGAO(2, heads=3, score="cosine")
        layer.build((None, 5))
        assert layer.temperature.numpy().tolist() == [4, 4, 4]
        assert layer.query_kernel.shape == layer.key_kernel.shape == (5, 48)
        assert "temperature" in [w.name for w in layer.trainable_weights]

    def test_the_length_of_features_does_not_matter_to_the_weights(self):
        graphs = SPECIAL["complete"]
        layer = layers.HGAO(2, k=3, score="cosine", dtype="float64")
        first = layer.selected(graphs.x, graphs.edges)
        second = layer.selected(5 * graphs.x, graphs.edges)
        assert_close(second.weights, first.weights, 1e-12)


def test_uniform_has_no_keys():
    for layer in (layers.GAO(2, score="uniform"), layers.HGAO(2, score="uniform"), layers.TopKGAO(2, score="uniform")):
        layer.build((None, 3))
        assert not hasattr(layer, "key_kernel")


def test_without_a_gate_the_projection_does_not_train():
    layer = layers.HGAO(2, gate=None)
    layer.build((None, 3))
    assert [w.name for w in layer.trainable_weights] == ["key_kernel", "value_kernel"]
    assert "projection" in [w.name for w in layer.weights]


@pytest.mark.parametrize("arguments", [{}, {"heads": 2}, {"score": "cosine", "heads": 2}, {"score": "uniform"}])
def test_selected_says_what_the_layer_attends_to(arguments):
    graphs = SPECIAL["several_graphs"]
    weights = pair_weights(graphs.edges)
    layer = layers.HGAO(4, k=2, **arguments, dtype="float64")
    outputs = layer(graphs.x, graphs.edges, edge_weights=weights).numpy()
    chosen = layer.selected(graphs.x, graphs.edges, edge_weights=weights)
    indices, attention = (np.reshape(t, (9, layer.heads, -1)) for t in (chosen.indices, chosen.weights))
    gates = np.reshape(chosen.gate, indices.shape)
    values = np.reshape(graphs.x @ layer.value_kernel.numpy(), (9, layer.heads, 4))
    for i, h in np.ndindex(9, layer.heads):
        there = indices[i, h] >= 0
        expected = (attention * gates)[i, h][there] @ values[indices[i, h][there], h]
        assert_close(outputs[i, 4 * h : 4 * h + 4], expected, 1e-12)
        assert attention[i, h].sum() == pytest.approx(1)


def test_selected_ranks_by_the_weighted_projection():
    x, edges = np.array([[1.0], [2.0], [3.0]]), np.array([[1, 0], [2, 0]])
    layer = layers.HGAO(1, k=2, dtype="float64")
    assert layer.selected(x, edges).indices.numpy()[0].tolist() == [2, 1]
    assert layer.selected(x, edges, edge_weights=np.array([1.0, 0.3])).indices.numpy()[0].tolist() == [1, 0]


class TestEdgeWeights:
    LAYERS = (layers.GCN, layers.GAO, layers.HGAO, layers.TopKGAO, layers.SampledGAO, layers.GAT, layers.CGAO)
    ALL = (*LAYERS, layers.Linear, layers.GAM)

    @pytest.mark.parametrize("cls", ALL)
    def test_ones_are_as_none(self, cls):
        graphs = SPECIAL["several_graphs"]
        edges = np.concatenate([graphs.edges, [[1, 1]]])
        layer = cls(4, dtype="float64")
        ones = layer(graphs.x, edges, graphs.graph_ids, edge_weights=np.ones(len(edges)))
        assert_close(ones, layer(graphs.x, edges, graphs.graph_ids), 1e-12)

    def test_those_of_a_repeated_edge_are_added_and_a_loop_is_one(self):
        x = np.eye(2)
        edges = np.array([[1, 0], [1, 0], [0, 0]])
        for way in ("auto", "sparse", "dense"):
            layer = layers.GCN(2, None, way, kernel_initializer="identity", dtype="float64")
            outputs = layer(x, edges, edge_weights=np.array([0.5, 3.0, 7.0]))
            assert outputs.numpy().tolist() == [[1, 3.5], [0, 1]]

    @pytest.mark.parametrize("normalization", ["sym", "row", None])
    def test_gcn_is_the_weighted_matrix(self, normalization):
        for graphs in (SPECIAL["several_graphs"], SPECIAL["complete"], SPECIAL["no_edges"]):
            a = np.eye(graphs.num_nodes)
            a[graphs.edges[:, 1], graphs.edges[:, 0]] = pair_weights(graphs.edges)
            d = a.sum(1)
            matrix = {"sym": a / np.sqrt(np.outer(d, d)), "row": a / d[:, None], None: a}[normalization]
            x, results = tf.constant(graphs.x), []
            for implementation in ("auto", "sparse", "dense"):
                layer = layers.GCN(
                    4, normalization=normalization, implementation=implementation, use_bias=False, dtype="float64"
                )
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    outputs = layer(x, graphs.edges, edge_weights=pair_weights(graphs.edges))
                assert_close(outputs, matrix @ graphs.x @ layer.kernel.numpy(), 1e-12)
                ones = np.ones((graphs.num_nodes, 4))
                assert_close(tape.gradient(outputs, x), matrix.T @ ones @ layer.kernel.numpy().T, 1e-12)
                results.append(outputs)

    def test_gat_and_the_sampled_operator_weight_their_scores(self):
        """Two neighbours and the node itself; the scores are known."""
        x, edges = tf.constant([[1.0], [2.0], [3.0]], tf.float64), tf.constant([[1, 0], [2, 0]])
        weights = tf.constant([1.0, 0.25], tf.float64)
        for implementation in ("sparse", "dense"):
            taken = ops.sampled_gao(x, x, x, edges, implementation=implementation, edge_weights=weights)
            assert taken.numpy().ravel().tolist() == [2, 2, 3]
        zeros, h = tf.zeros([3, 1], tf.float64), x[:, None, :]
        expected = np.exp([1, 2, 0.75]) @ [1, 2, 3] / np.exp([1, 2, 0.75]).sum()
        assert_close(ops.gat(h, x, zeros, edges, edge_weights=weights)[0, 0, 0], expected, 1e-12)

    def test_the_gradient_of_the_sampled_operator(self):
        graphs = SPECIAL["complete"]
        weights, results = tf.constant(pair_weights(graphs.edges)), []
        for implementation in ("sparse", "dense"):
            x = tf.constant(graphs.x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = ops.sampled_gao(
                    x, x, x, graphs.edges, 0.7, tf.constant([1, 2]), None, implementation, edge_weights=weights
                )
                loss = tf.reduce_sum(y**3)
            results.append(tape.gradient(loss, x))
        assert_close(results[0], results[1], 1e-10)

    def test_looked_up_once_for_all_layers_of_a_trace(self, monkeypatch):
        from ganet_tf.ops import implementations, neighborhood

        made = []
        check = neighborhood.check_edge_weights
        for module in (implementations, neighborhood):
            monkeypatch.setattr(module, "check_edge_weights", lambda *args: made.append(1) or check(*args))
        first, second = layers.GAM(3, k=2), layers.GCN(2)
        first.build((None, 3), (None, 2))
        second.build((None, 6), (None, 2))

        @tf.function
        def network(x, edges, weights):
            return second(first(x, edges, edge_weights=weights), edges, edge_weights=weights)

        graphs = SPECIAL["complete"]
        weights = tf.constant(pair_weights(graphs.edges), tf.float32)
        network(tf.constant(graphs.x, tf.float32), tf.constant(graphs.edges), weights)
        assert len(made) == 1

    @pytest.mark.parametrize(
        ("weights", "error", "text"),
        [
            ([1.0], ValueError, r"`edge_weights` of .* one number for each row of `edges` \(2, 2\), but has \(1,\)"),
            ([[1.0, 2.0]], ValueError, r"must have shape \[edges\]"),
            ([1, 2], TypeError, "must be floating point, but is int"),
            ([1.0, -2.0], ValueError, r"entry 1 is -2.0, but weights must be finite and at least 0"),
            ([np.nan, 1.0], ValueError, "entry 0 is nan"),
            ([np.inf, 1.0], ValueError, "entry 0 is inf"),
        ],
    )
    def test_bad_weights_are_named(self, weights, error, text):
        with pytest.raises(error, match=text):
            layers.GCN(2)(np.ones((3, 2), "float32"), np.array([[0, 1], [1, 2]]), edge_weights=np.array(weights))

    @pytest.mark.parametrize("implementation", ["auto", "sparse", "dense"])
    @pytest.mark.parametrize("make", [layers.GCN, layers.GAO, layers.HGAO, layers.TopKGAO, layers.SampledGAO])
    def test_bad_weights_in_a_compiled_step(self, make, implementation):
        self.refused_in_a_compiled_step(make(2, implementation=implementation))

    @pytest.mark.parametrize("layer", [layers.GAT(2), layers.SAGEConv(2), layers.ChebConv(2, K=1), layers.GAM(2)])
    def test_bad_weights_of_other_layers(self, layer):
        self.refused_in_a_compiled_step(layer)

    def refused_in_a_compiled_step(self, layer):
        x, edges = tf.ones([3, 2]), tf.constant([[0, 1], [1, 2]])
        specs = [tf.TensorSpec([None])]
        step = tf.function(lambda w: layer(x, edges, edge_weights=w), autograph=False, input_signature=specs)
        assert np.isfinite(step(tf.constant([1.0, 0.0]))).all()
        for bad in (-0.5, np.nan, np.inf):
            with pytest.raises(tf.errors.InvalidArgumentError, match="must be finite and at least 0"):
                step(tf.constant([1.0, bad]))

    def test_debug_checks_name_the_entry(self):
        layer = layers.GAO(2)
        layer.build((None, 2))
        before = ops.debug_checks(True)
        try:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"entry\] \[1\] \[is\] \[-1\]"):
                tf.function(lambda w: layer(tf.ones([3, 2]), tf.constant([[0, 1], [1, 2]]), edge_weights=w))(
                    tf.constant([1.0, -1.0])
                )
        finally:
            ops.debug_checks(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"score": "cosin"},
            "`score` must be one of 'dot', 'cosine', 'uniform', but is 'cosin'. Did you mean 'cosine'",
        ),
        ({"gate": "duble"}, "Did you mean 'double'"),
        ({"heads": 0}, "`heads` must be a whole number of at least 1"),
        ({"query_units": 0}, "`query_units` must be a whole number"),
        ({"attention_dropout": 1.0}, "`attention_dropout` is the share"),
    ],
)
def test_bad_switches_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        layers.HGAO(2, **arguments)
