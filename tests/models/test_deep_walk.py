"""DeepWalk: the skip-gram against loops, the regression against scikit-learn's, and what vectors are good for."""

import keras
import networkx as nx
import numpy as np
import pytest
import tensorflow as tf
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from ganet_tf.data import NodeDataset
from ganet_tf.models import DeepWalk
from ganet_tf.models.random_walks import RandomWalks
from ganet_tf.models.skip_gram import logistic_regression, near_on_walks, skip_gram_loss, summed
from tests.graphs import both_ways
from tests.models.contract import CLASSES, FEATURES, ModelContract


class TestDeepWalk(ModelContract):
    cls = DeepWalk
    arguments = {"num_nodes": 40, "units": 4, "C": (0.1, 1.0)}  # noqa: RUF012
    for_graphs = False

    def inputs(self, sizes=(4, 7, 2)):
        return super().inputs(sizes if sum(sizes) <= 40 else (12, 15))

    def test_another_width(self):
        """Features are not looked at."""
        inputs = self.inputs()
        model = self.built()
        np.testing.assert_array_equal(model({**inputs, "x": inputs["x"][:, :2]}), model(inputs))

    def test_summary_has_shapes_and_counts(self):
        model = self.built()
        assert model.count_params() == 2 * 40 * 4 + 5 * CLASSES
        assert sum(np.prod(w.shape) for w in model.trainable_weights) == 5 * CLASSES


def karate():
    graph = nx.karate_club_graph()
    club = np.array([graph.nodes[node]["club"] == "Officer" for node in graph], int)
    edges = both_ways(np.array(graph.edges))
    nodes = np.arange(34)
    return NodeDataset(edges, np.ones((34, 1)), club, train_mask=nodes % 4 == 0, val_mask=nodes % 4 == 1)


def clubs_found(vectors, club):
    """How many of the 34 a k-means into two gets right."""
    right = (KMeans(2, n_init=10, random_state=0).fit_predict(vectors) == club).sum()
    return max(right, 34 - right)


SMALL = {"num_nodes": 34, "units": 16, "window": 5}


def test_vectors_of_the_karate_club_tell_the_two_clubs_apart():
    ds, model = karate(), DeepWalk(2, **SMALL)
    keras.utils.set_random_seed(0)
    model.pretrain(ds, seed=0)
    assert clubs_found(model.embedding.embeddings.numpy(), ds.y) >= 32


def test_gensim_finds_the_same_clubs():
    word2vec = pytest.importorskip("gensim.models.word2vec", reason="gensim is not installed: pip install gensim")
    ds = karate()
    walks = RandomWalks(ds.edges, 34).draw(np.repeat(np.arange(34), 10), 39, np.random.default_rng(0))
    sentences = [list(map(str, walk)) for walk in walks]
    theirs = word2vec.Word2Vec(sentences, vector_size=16, window=5, sg=1, negative=5, sample=0, min_count=0, workers=1)
    assert clubs_found(np.array([theirs.wv[str(node)] for node in range(34)]), ds.y) >= 32


def test_loss_against_loops():
    rng = np.random.default_rng(0)
    u, v, noise = (rng.normal(size=(n, 3)).astype("float32") for n in (8, 8, 6))  # 2 walks of 4, 3 negatives each
    near = rng.integers(0, 2, (2, 4, 4)).astype("float32")
    expected = 0.0
    for walk, i, j in np.argwhere(near):
        expected += np.log1p(np.exp(-u[4 * walk + i] @ v[4 * walk + j]))
        expected += np.mean([5 * np.log1p(np.exp(u[4 * walk + i] @ n)) for n in noise[3 * walk : 3 * walk + 3]])
    found = skip_gram_loss(*map(tf.constant, (u, v, noise, near)), negatives=5)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_windows():
    walks = tf.constant(np.array([[3, 1, 4, 1, 5, 9, 2, 6]] * 500 + [[3, 1, -1, -1, -1, -1, -1, -1]]))
    near = near_on_walks(walks, 3, tf.constant([0, 1])).numpy()
    distance = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    assert not near[:, (distance == 0) | (distance > 3)].any()
    assert (near[:500, distance == 1] == 1).all()
    np.testing.assert_allclose(near[:500].mean(axis=0)[0, 1:4], [1, 2 / 3, 1 / 3], atol=0.08)
    assert near[500].sum() == 2


def test_sums_by_node():
    nodes, rows = np.array([2, 0, 2, 5]), np.arange(8, dtype="float32").reshape(4, 2)
    expected = np.zeros((6, 2))
    np.add.at(expected, nodes, rows)
    np.testing.assert_array_equal(summed(tf.constant(rows), tf.constant(nodes, tf.int32), 6), expected)


def test_interrupted_steps_go_on_to_the_same_vectors():
    def model():
        keras.utils.set_random_seed(1)
        new = DeepWalk(2, **SMALL, walks=4, passes=1)
        new.build({"x": (None, 1), "edges": (None, 2)})
        return new

    ds, whole, first, second = karate(), model(), model(), model()
    whole.pretraining(ds, 3).run()
    start = first.pretraining(ds, 3)
    assert start.steps == 36
    start.step(0)
    start.step(1)
    rest = second.pretraining(ds, 3)
    for mine, saved in zip(rest.variables, start.variables, strict=True):
        mine.assign(saved)
    rest.run(first=2)
    np.testing.assert_array_equal(second.embedding.embeddings, whole.embedding.embeddings)


def test_lone_nodes_keep_their_vectors():
    edges = both_ways([[0, 1], [1, 2]])
    ds = NodeDataset(edges, np.ones((4, 1)), np.array([0, 1, 0, 1]))
    model = DeepWalk(2, num_nodes=4, units=3, walks=2, walk_length=5)
    model.build({"x": (None, 1), "edges": (None, 2)})
    before = model.embedding.embeddings.numpy()
    model.pretrain(ds)
    moved = np.any(model.embedding.embeddings.numpy() != before, axis=1)
    assert moved.tolist() == [True, True, True, False]


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_regression_is_scikit_learns(strength):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 5))
    y = np.argmax(x[:, :3] + rng.normal(size=(60, 3)), axis=1)
    kernel, bias = logistic_regression(x, y, 3, strength)
    theirs = LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(x, y)
    np.testing.assert_allclose(kernel, theirs.coef_.T, atol=2e-3)
    np.testing.assert_allclose(bias - bias.mean(), theirs.intercept_ - theirs.intercept_.mean(), atol=2e-3)


def test_each_epoch_solves_for_one_strength():
    ds, model = karate(), DeepWalk(2, **SMALL, C=(0.01, 1.0))
    keras.utils.set_random_seed(0)
    model.pretrain(ds)
    model.compile("sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    vectors = model.embedding.embeddings.numpy()[ds.train_mask]
    for epoch, strength in enumerate((0.01, 1.0, 1.0)):
        model.fit(ds.batches("train"), initial_epoch=epoch, epochs=epoch + 1, verbose=0)
        kernel, _ = logistic_regression(vectors, ds.y[ds.train_mask], 2, strength)
        np.testing.assert_allclose(model.out.kernel, kernel, atol=1e-6)
    assert model.evaluate(ds.batches("val"), verbose=0, return_dict=True)["accuracy"] >= 0.8


def test_another_graph():
    with pytest.raises(ValueError, match=r"vectors for 35 nodes, but .* has 34: make it with num_nodes=34"):
        DeepWalk(2, num_nodes=35).pretrain(karate())


def test_vectors_are_in_the_file(tmp_path):
    model = DeepWalk(2, num_nodes=5, units=3)
    inputs = {"x": np.ones((5, FEATURES), "float32"), "edges": np.zeros((0, 2), "int32")}
    model(inputs)
    model.embedding.embeddings.assign(np.ones((5, 3)))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.embedding.embeddings, np.ones((5, 3)))
    np.testing.assert_array_equal(loaded(inputs), model(inputs))
