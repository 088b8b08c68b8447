from itertools import chain

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ganet_tf.data import Graph, GraphDataset, batching
from ganet_tf.data.batching import ranges
from ganet_tf.errors import DataFormatError


@pytest.fixture
def ds():
    """Graph i has i + 1 nodes and the feature i, so that a batch tells which graphs are in it."""
    return GraphDataset.from_graphs([Graph(np.full((i + 1, 1), i), [[0, i]], i % 2) for i in range(10)])


def members(batch):
    x, graph_ids = batch[0]["x"].numpy()[:, 0], batch[0]["graph_ids"].numpy()
    return [int(x[np.argmax(graph_ids == g)]) for g in range(graph_ids.max() + 1)]


def epoch(batches):
    return [members(batch) for batch in batches]


def test_signature_and_cardinality(ds):
    batches = ds.batches(4)
    inputs, y = batches.element_spec
    assert inputs == {
        "x": tf.TensorSpec([None, 1], tf.float32),
        "edges": tf.TensorSpec([None, 2], tf.int32),
        "graph_ids": tf.TensorSpec([None], tf.int32),
    }
    assert y == tf.TensorSpec([None], tf.int32)
    assert batches.cardinality() == 3 == len(list(batches))
    assert ds.batches(4, drop_remainder=True).cardinality() == 2 == len(list(ds.batches(4, drop_remainder=True)))
    assert ds.batches(100).cardinality() == 1


def test_batches_hold_the_graphs_in_order(ds):
    assert epoch(ds.batches(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    first = next(iter(ds.batches(3)))
    np.testing.assert_array_equal(first[0]["edges"], [[0 + 1, 1 + 1], [3, 5]])
    np.testing.assert_array_equal(first[0]["graph_ids"], [0, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(first[1], [0, 1, 0])


@pytest.mark.parametrize("batch_size", [3, 5])
def test_each_epoch_has_its_own_order(ds, batch_size):
    batches = ds.batches(batch_size, shuffle=True, seed=1)
    epochs = [epoch(batches) for _ in range(3)]
    assert all(sorted(chain(*e)) == list(range(10)) for e in epochs)
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert epochs == [epoch(ds.batches(batch_size, shuffle=True, seed=1, initial_epoch=e)) for e in range(3)]
    assert epoch(ds.batches(batch_size, shuffle=True, seed=2)) != epochs[0]


@pytest.mark.parametrize("batch_size", [2, 3, 4, 5])
def test_a_look_at_the_first_batch_does_not_use_up_an_epoch(ds, batch_size):
    batches = ds.batches(batch_size, shuffle=True)
    first = members(next(iter(batches)))
    assert first == members(next(iter(batches))) == epoch(batches)[0]


def test_two_iterators_side_by_side_see_one_epoch_each(ds):
    batches = ds.batches(2, shuffle=True, seed=1)
    one, other = zip(*((members(a), members(b)) for a, b in zip(batches, batches, strict=True)), strict=True)
    assert list(one) == list(other) == epoch(ds.batches(2, shuffle=True, seed=1))


def test_repeated_batches_are_epoch_after_epoch(ds):
    batches = ds.batches(3, shuffle=True, seed=1)
    repeated = epoch(batches.repeat(3))
    assert repeated == [b for e in range(3) for b in epoch(ds.batches(3, shuffle=True, seed=1, initial_epoch=e))]


@pytest.mark.parametrize("batch_size", [2, 5, 10])
@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_keras_sees_epoch_after_epoch(ds, monkeypatch, batch_size, built, repeated):
    used = []
    order = batching.BatchPlan.order
    monkeypatch.setattr(batching.BatchPlan, "order", lambda plan, e: used.append(e) or order(plan, e))

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense(tf.math.segment_sum(inputs["x"], inputs["graph_ids"]))

    model = Model()
    if built:
        model(next(iter(ds.batches(batch_size)))[0])
        used.clear()
    model.compile("sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    batches = ds.batches(batch_size, shuffle=True, initial_epoch=3)
    options = {"steps_per_epoch": len(batches)} if repeated else {}
    model.fit(batches.repeat() if repeated else batches, epochs=3, shuffle=False, verbose=0, **options)
    assert [e for e in dict.fromkeys(used) if e < 6] == [3, 4, 5]  # a repeated one may have begun the next
    assert model.optimizer.iterations == 3 * -(-10 // batch_size)


def test_bad_arguments(ds):
    for size in (0, -1, 1.5, True):
        with pytest.raises(DataFormatError, match="batch_size"):
            ds.batches(size)
    with pytest.raises(DataFormatError, match="leaves no batch"):
        ds.batches(11, drop_remainder=True)
    with pytest.raises(DataFormatError, match="empty"):
        ds[[]].batches(2)


def test_numpy_batches_are_those_of_the_dataset(ds):
    options = {"shuffle": True, "seed": 3}
    for epoch in (0, 1):
        ours = list(ds.numpy_batches(4, epoch=epoch, **options))
        theirs = list(ds.batches(4, initial_epoch=epoch, **options))
        assert len(ours) == len(theirs) == 3
        for (inputs, y), (expected, classes) in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(y, classes)
            for name, array in inputs.items():
                np.testing.assert_array_equal(array, expected[name])


def test_no_tuner_that_an_epoch_would_wait_for(ds):
    assert ds.batches(4, shuffle=True).options().autotune.enabled is False


@st.composite
def graphs(draw):
    channels = draw(st.integers(0, 3))
    many = []
    for _ in range(draw(st.integers(1, 6))):
        nodes = draw(st.integers(1, 6))
        node = st.integers(0, nodes - 1)
        edges = draw(st.lists(st.tuples(node, node), max_size=12))
        values = st.floats(-1e6, 1e6, width=32)
        x = draw(st.lists(st.lists(values, min_size=channels, max_size=channels), min_size=nodes, max_size=nodes))
        many.append(Graph(np.array(x, np.float32).reshape(nodes, channels), edges, draw(st.integers(0, 4))))
    return many


def unbatch(batch, y):
    """Takes a batch apart again, in the plainest way."""
    out = []
    for number in range(len(y)):
        nodes = np.flatnonzero(batch["graph_ids"] == number)
        inside = np.isin(batch["edges"][:, 1], nodes)
        out.append(Graph(batch["x"][nodes], batch["edges"][inside] - nodes[0], y[number]))
    return out


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.edges, other.edges)
        assert one.y == other.y


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_batched_and_taken_apart_is_what_it_was(many):
    ds = GraphDataset.from_graphs(many)
    assert_same(unbatch(ds.arrays(), ds.y), many)
    assert_same(list(ds), many)
    edges = ds.arrays()["edges"]
    assert (np.diff(edges[:, 1]) >= 0).all()


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_any_choice_of_graphs_is_collated_in_its_order(many, random):
    ds = GraphDataset.from_graphs(many)
    chosen = [random.randrange(len(many)) for _ in range(5)]
    part = ds.subset(chosen)
    assert_same(unbatch(part.arrays(), part.y), [many[index] for index in chosen])


def test_what_tensorflow_gets_is_aligned(random_graphs):
    batch = GraphDataset.from_graphs(random_graphs(20)).arrays()
    assert batch["x"].ctypes.data % 64 == 0 and batch["edges"].ctypes.data % 64 == 0


def test_ranges():
    np.testing.assert_array_equal(ranges([5, 0, 9], [2, 0, 3]), [5, 6, 9, 10, 11])
    assert len(ranges([], [])) == 0


def test_edge_weights_come_along(random_graphs):
    rng = np.random.default_rng(0)
    graphs = [Graph(g.x, g.edges, g.y, rng.random(len(g.edges))) for g in random_graphs(9)]
    ds = GraphDataset(graphs)
    for inputs, _ in ds.batches(4, shuffle=True):
        assert inputs["edge_weights"].dtype == tf.float32 and inputs["edge_weights"].shape == inputs["edges"].shape[:1]
    inputs, _ = next(iter(ds[[3, 1]].batches(2)))
    np.testing.assert_array_equal(
        inputs["edge_weights"], np.concatenate([graphs[3].edge_weights, graphs[1].edge_weights])
    )
    assert set(next(iter(GraphDataset(random_graphs(3)).batches(2)))[0]) == {"x", "edges", "graph_ids"}


def test_targets_of_every_kind_in_batches(random_graphs):
    graphs = random_graphs(4)
    _, y = next(iter(GraphDataset(graphs, [[0.5, 1.0]] * 4).batches(4)))
    assert y.dtype == tf.float32 and y.shape == (4, 2)
    element = next(iter(GraphDataset(graphs, ["a", None, "b", "a"]).batches(4)))
    assert len(element) == 3
    np.testing.assert_array_equal(element[1], [0, 0, 1, 0])
    np.testing.assert_array_equal(element[2], [1, 0, 1, 1])
