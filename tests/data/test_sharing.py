"""One worker's share of every batch: all shares together are the batch, and so are their gradients."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ganet_tf import models
from ganet_tf.data import Graph, GraphDataset, NodeDataset
from ganet_tf.data.batching import deal
from ganet_tf.errors import DataFormatError
from tests.graphs import modest


def some_graphs(count=11, seed=0, y=None):
    """Graphs of 1 to 9 nodes; the first feature of a node is the number of its graph."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number in range(count):
        size = int(rng.integers(1, 10))
        x = rng.normal(size=(size, 3))
        x[:, 0] = number
        graphs.append(Graph(x, rng.integers(0, size, size=(2 * size, 2)), number % 2))
    return GraphDataset(graphs, y)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 9))
@settings(modest, max_examples=50)
def test_everybody_gets_something_else_and_about_as_much(sizes, count):
    sizes = np.array(sizes)
    parts = deal(sizes, count)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(sizes)))
    loads = [sizes[part].sum() for part in parts]
    # The rule's own bound: when the last graph came to the fullest worker, nobody had less than it had before.
    assert max(loads) - sizes.max() <= min(loads)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_shares_of_a_batch_are_the_batch(count):
    ds = some_graphs()
    whole = list(ds.numpy_batches(4, shuffle=True, seed=3, epoch=2))
    shares = [list(ds.numpy_batches(4, shuffle=True, seed=3, epoch=2, share=(i, count))) for i in range(count)]
    for step, (inputs, y) in enumerate(whole):
        parts = [share[step] for share in shares]
        numbers = [np.unique(part[0]["x"][:, 0][part[2][part[0]["graph_ids"]] > 0]) for part in parts]
        assert sorted(np.concatenate(numbers).tolist()) == np.unique(inputs["x"][:, 0]).tolist()
        for _, classes, weights in parts:  # R B_r / B, or one graph of weight 0
            assert len(classes) == len(weights) > 0
            assert set(weights.tolist()) == {0.0} or np.allclose(weights, count * len(classes) / len(y))


def test_tensors_are_the_arrays():
    ds = some_graphs()
    arrays = list(ds.numpy_batches(4, shuffle=True, seed=1, share=(1, 2)))
    for made, expected in zip(ds.batches(4, shuffle=True, seed=1, share=(1, 2)), arrays, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, made, expected)


def gradient(model, inputs, y, weight=None):
    """The flat gradient of what `fit` minimizes, in float64."""
    with tf.GradientTape() as tape:
        loss = model.compute_loss(inputs, y, model(inputs, training=True), weight)
    return np.concatenate([np.ravel(g) for g in tape.gradient(loss, model.trainable_variables)]).astype("float64")


def check_sum(model, whole, shares):
    """Keras divides the loss by the number of replicas under a strategy, which here is done by hand."""
    expected = gradient(model, *whole)
    found = sum(gradient(model, *share) for share in shares) / len(shares)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("batch_size", [11, 2])
def test_gradients_of_graphs_add_up(batch_size):
    keras.utils.set_random_seed(0)
    ds = some_graphs()
    model = models.GraphClassifier(2, num_modules=1, sort_pooling_k=10, dropout=0.0, head_dropout=0.0)
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    whole = next(iter(ds.numpy_batches(batch_size)))
    check_sum(model, whole, [next(iter(ds.numpy_batches(batch_size, share=(i, 3)))) for i in range(3)])


def test_unknown_numbers_are_counted_out():
    """Means over known entries add up if each share weighs as many as it has of them."""
    y = np.random.default_rng(0).normal(size=(11, 2))
    y[2:7, 0] = np.nan
    ds = some_graphs(y=list(y))
    entries = [next(iter(ds.numpy_batches(11, share=(i, 3)))) for i in range(3)]
    total = sum(np.nanmean(part) * weight[0] / 3 for _, part, weight in entries)
    np.testing.assert_allclose(total, np.nanmean(y), rtol=1e-6)


def test_unknown_classes_keep_the_weight_0():
    ds = some_graphs(y=[None, "a", "b", None, "a", "b", "a", "b", "a", "b", "a"])
    parts = [next(iter(ds.numpy_batches(11, share=(i, 2)))) for i in range(2)]
    for _, y, weights in parts:
        assert (y >= 0).all() and set(weights.tolist()) <= {0.0, np.float32(2 * len(y) / 11)}
    assert sum((weights == 0).sum() for *_, weights in parts) == 2


def nodes(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 3)).astype("float32")
    x[:, 0] = np.arange(40)
    return NodeDataset(rng.integers(0, 40, size=(200, 2)), x, np.arange(40) % 3, np.arange(40) % 2 == 0)


def seeds_of(batch):
    return batch[0]["x"][:, 0][batch[0]["nodes"]].astype(int).tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_the_shares_of_seeds_are_the_seeds(count):
    ds = nodes()
    options = dict(fanout=[2, 2], batch_size=7, shuffle=True, seed=5, epoch=1)
    whole = list(ds.sampled_numpy_batches(**options))
    shares = [list(ds.sampled_numpy_batches(**options, share=(i, count))) for i in range(count)]
    for step, batch in enumerate(whole):
        real = [share[step] for share in shares if share[step][2][0] > 0]
        assert sorted(seed for part in real for seed in seeds_of(part)) == sorted(seeds_of(batch))
        for part in real:
            assert np.allclose(part[2], count * len(part[1]) / len(batch[1]))


def test_one_of_one_draws_what_is_drawn_without_a_share():
    ds = nodes()
    for share, whole in zip(ds.sampled_batches(2, 7, share=(0, 1)), ds.sampled_batches(2, 7), strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, share[:2], whole)


def test_workers_draw_different_neighbours():
    """Two nodes with the same 38 neighbours, one for each worker."""
    x = np.arange(40, dtype="float32")[:, None]
    ds = NodeDataset([[i, j] for j in (0, 1) for i in range(2, 40)], x, np.zeros(40, int), [0, 1])
    drawn = [next(iter(ds.sampled_numpy_batches(20, 2, hops=1, share=(i, 2)))) for i in range(2)]
    assert seeds_of(drawn[0]) == [0] and seeds_of(drawn[1]) == [1]
    assert set(drawn[0][0]["x"][1:, 0]) != set(drawn[1][0]["x"][1:, 0])


def test_gradients_of_nodes_add_up():
    keras.utils.set_random_seed(0)
    ds = nodes()
    model = models.NodeClassifier(3, num_modules=1, dropout=0.0, attention_dropout=0.0)
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    options = dict(fanout=None, batch_size=9, hops=6)  # all neighbours: whoever draws, the sample is exact
    whole = next(iter(ds.sampled_numpy_batches(**options)))
    check_sum(model, whole, [next(iter(ds.sampled_numpy_batches(**options, share=(i, 2)))) for i in range(2)])


@pytest.mark.parametrize("share", [(2, 2), (-1, 2), (0, 0), 3, (0.5, 2), (0, 1, 2)])
def test_shares_that_are_none(share):
    with pytest.raises(DataFormatError, match=r"share must be \(index, count\)"):
        some_graphs().batches(4, share=share)
