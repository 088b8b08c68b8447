"""Planetoid: its context loss pair by pair, its two variants, its training before and beside the epochs."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.data import NodeDataset
from ganet_tf.models import Planetoid
from ganet_tf.models.context_training import grouped, window_pairs
from ganet_tf.models.pretraining import Beside
from tests.graphs import both_ways
from tests.models.contract import CLASSES, FEATURES, ModelContract, rings

QUICK = {"label_steps": 3, "graph_steps": 4, "label_batch": 5, "graph_batch": 4}


class PlanetoidContract(ModelContract):
    cls = Planetoid
    for_graphs = False

    def inputs(self, sizes=(4, 7, 2)):
        return super().inputs(sizes if sum(sizes) <= 40 else (12, 15))

    def test_summary_has_shapes_and_counts(self):
        """The context weights are not trained by `fit`."""
        model = self.built()
        context = (model.units + 1) * 40 + (model.units if model.variant == "I" else 0)
        assert model.count_params() == sum(np.prod(w.shape) for w in model.trainable_weights) + context


class TestTransductive(PlanetoidContract):
    arguments = {"num_nodes": 40, "units": 4}  # noqa: RUF012


class TestInductive(PlanetoidContract):
    arguments = {"num_nodes": 40, "units": 4, "variant": "I"}  # noqa: RUF012


def ring_data(n=12):
    """A ring with two halves of one class each, which the features do not tell."""
    edges = both_ways(np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1))
    y, nodes = (np.arange(n) < n // 2).astype(int), np.arange(n)
    x = np.random.default_rng(0).normal(size=(n, 3))
    return NodeDataset(edges, x, y, nodes % 3 == 0, nodes % 3 == 1, nodes % 3 == 2)


def built(variant, **kwargs):
    keras.utils.set_random_seed(2)
    model = Planetoid(2, num_nodes=12, variant=variant, units=5, **{**QUICK, **kwargs})
    model.build({"x": (None, 3), "edges": (None, 2)})
    return model


def test_a_walk_of_eleven_has_65_pairs():
    pairs = window_pairs(np.arange(11)[None], 3)
    assert len(pairs) == 65
    assert np.abs(pairs[:, 0] - pairs[:, 1]).max() == 3
    assert (pairs[:, 0] == pairs[:, 1]).sum() == 11
    assert len(window_pairs(np.array([[0, 1, -1, -1]]), 3)) == 4


def test_grouping():
    pairs = np.array([[4, 1], [2, 0], [4, 1], [4, 3]])
    rows, counts, places, weights = grouped(pairs, num_nodes=5)
    assert rows.tolist() == [2, 4] and counts.tolist() == [1, 3]
    assert places.tolist() == [[0, 0], [1, 1], [1, 3]] and weights.tolist() == [1, 2, 1]


@pytest.mark.parametrize("variant", ["T", "I"])
def test_grouped_step_is_the_gradient_pair_by_pair(variant):
    ds, model = ring_data(), built(variant)
    rng = np.random.default_rng(1)
    for weight in model.non_trainable_variables:  # the context's, which start at 0 in part
        if weight.dtype == "float32":
            weight.assign(rng.normal(size=weight.shape))
    training = model.pretraining(ds, seed=0)
    pairs = training._walk_pairs(training.label_steps)
    moved = [w for w in model.embedding.trainable_variables if "kernel" in w.path or "embeddings" in w.path]
    moved += [model.context.kernel, model.context.bias]
    with tf.GradientTape() as tape:
        tape.watch([w.value for w in moved])
        loss = 0.0
        for node, context in pairs:
            source = tf.constant(ds.x[[node]] if variant == "I" else [int(node)])
            scores = model.context_vectors(source) @ model.context.kernel.value + model.context.bias.value
            loss -= tf.nn.log_softmax(scores)[0, int(context)]
    gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, [w.value for w in moved])]
    expected = [w.numpy() - model.plan["context_rate"] * g.numpy() for w, g in zip(moved, gradients, strict=True)]
    mean = training.step(training.label_steps)
    np.testing.assert_allclose(mean, loss / len(pairs), rtol=1e-5)
    for weight, value in zip(moved, expected, strict=True):
        np.testing.assert_allclose(weight, value, rtol=1e-4, atol=1e-5)


def test_label_pairs_are_of_one_class_and_labelled():
    ds, training = ring_data(), built("T", label_batch=200).pretraining(ring_data(), 0)
    pairs = training._label_pairs(0)
    assert ds.train_mask[pairs].all()
    assert (ds.y[pairs[:, 0]] == ds.y[pairs[:, 1]]).all()
    assert len(np.unique(pairs, axis=0)) == 8  # 2 of each class, with each of them


def test_walks_of_the_inductive_variant_skip_test_nodes():
    ds, training = ring_data(), built("I").pretraining(ring_data(), 0)
    pairs = np.concatenate([training._walk_pairs(number) for number in range(3, 20)])
    assert not ds.test_mask[pairs].any()
    seen = np.concatenate([built("T").pretraining(ring_data(), 0)._walk_pairs(number) for number in range(3, 20)])
    assert ds.test_mask[seen].any()


def test_training_adds_the_losses_of_both_branches():
    inputs, y = rings([6]), np.array([0, 1, 2, 0, 1, 2])
    arrays = {"x": inputs["x"], "edges": inputs["edges"]}
    model = Planetoid(CLASSES, num_nodes=6, units=4)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss)
    logits = model(arrays)
    parts = [loss(y, scores) for scores in (logits, *model.branch_scores(arrays))]
    np.testing.assert_allclose(model.compute_loss(arrays, y, logits, training=True), sum(parts), rtol=1e-5)
    np.testing.assert_allclose(model.compute_loss(arrays, y, logits, training=False), parts[0], rtol=1e-5)


@pytest.mark.parametrize("variant", ["T", "I"])
def test_against_numpy(variant):
    inputs = rings([6])
    model = Planetoid(CLASSES, num_nodes=6, variant=variant, units=4, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({"x": x, "edges": inputs["edges"]})

    def dense(h, layer):
        return h @ layer.kernel.numpy() + layer.bias.numpy()

    def softmax(h):
        return np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)

    e = model.embedding.embeddings.numpy() if variant == "T" else np.maximum(dense(x, model.embedding), 0)
    both = np.concatenate([softmax(dense(x, model.from_x)), softmax(dense(e, model.from_vector))], axis=1)
    np.testing.assert_allclose(outputs, dense(both, model.out), rtol=1e-10)


def test_sparse_features():
    inputs, model = rings([6]), Planetoid(CLASSES, num_nodes=6, variant="I", units=4)
    arrays = {"x": inputs["x"], "edges": inputs["edges"]}
    expected = model(arrays)
    np.testing.assert_allclose(model({**arrays, "x": tf.sparse.from_dense(inputs["x"])}), expected, rtol=1e-5)


def test_the_authors_steps_by_default():
    assert Planetoid(2, num_nodes=3).plan["label_steps"] == 2000
    assert Planetoid(2, num_nodes=3, variant="I").plan["graph_steps"] == 400
    assert Planetoid(2, num_nodes=3, joint=0.5, graph_steps=0).plan == {
        "label_steps": 2000,
        "graph_steps": 0,
        "label_batch": 100,
        "graph_batch": 200,
        "context_rate": 0.01,
        "joint": 0.5,
    }


def test_interrupted_steps_go_on_to_the_same_weights():
    ds, whole, part = ring_data(), built("T"), built("T")
    whole.pretraining(ds, 1).run()
    started = part.pretraining(ds, 1)
    for number in range(4):
        started.step(number)
    part.pretraining(ds, 1).run(first=4)
    for mine, theirs in zip(part.variables, whole.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_steps_beside_the_epochs():
    ds, model = ring_data(), built("I", joint=0.5)
    callback = model.pretrain(ds, seed=0)
    assert isinstance(callback, Beside)
    numbers = [callback.pretraining.beside(epoch) for epoch in range(200)]
    assert 70 < sum(len(n) for n in numbers) < 130
    assert all(n in ((), (7 + epoch,)) for epoch, n in enumerate(numbers))
    before = model.context.kernel.numpy()
    model.compile("sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(ds.batches("train"), epochs=10, verbose=0, callbacks=[callback])
    assert np.any(model.context.kernel.numpy() != before)


def test_vectors_carry_what_the_features_do_not():
    """Two cliques, one node of each labelled: without steps on walks, the class of the others stays unknown."""
    cliques = np.argwhere(np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20))
    nodes, x = np.arange(20), np.random.default_rng(0).normal(size=(20, 3))
    ds = NodeDataset(cliques, x, nodes // 10, train_mask=nodes % 10 == 0, test_mask=nodes % 10 > 0)

    def accuracy(**steps):
        keras.utils.set_random_seed(0)
        model = Planetoid(2, num_nodes=20, units=10, **steps)
        model.pretrain(ds)
        model.compile(keras.optimizers.SGD(1.0), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(ds.batches("train"), epochs=100, verbose=0)
        inputs, y = next(iter(ds.batches("test")))
        return np.mean(np.argmax(model(inputs), axis=1) == y.numpy())

    assert accuracy(label_steps=0, graph_steps=0) < 0.8
    assert accuracy(label_steps=50, graph_steps=50, graph_batch=20, context_rate=0.01) > 0.9


def test_unknown_variant():
    with pytest.raises(ValueError, match="`variant` must be one of 'T', 'I', but is 'G'"):
        Planetoid(2, num_nodes=FEATURES, variant="G")
