import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ganet_tf import models
from ganet_tf.data import NodeDataset, sampling
from ganet_tf.data.sampling import NeighborSampler, distinct_places
from ganet_tf.errors import DataFormatError
from tests.graphs import modest


def random_dataset(nodes=60, edges=400, seed=0, features=1):
    """A random directed graph; the first feature of a node is its number, so that a sample tells who is in it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(nodes, features))
    x[:, 0] = np.arange(nodes)
    pairs = rng.integers(0, nodes, size=(edges, 2))
    return NodeDataset(pairs, x, np.arange(nodes) % 3, np.arange(nodes) % 2 == 0)


def whole_edges(dataset):
    return {tuple(edge) for edge in dataset.edges.tolist()}


def numbers(inputs):
    """The whole graph's number of each node of a sample."""
    return np.asarray(inputs["x"])[:, 0].astype(int)


def as_lists(batches):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), batch) for batch in batches]


many = settings(modest, max_examples=50)  # they cost microseconds
fanouts = st.lists(st.sampled_from([1, 2, 3, 7, None]), min_size=1, max_size=3)


@given(st.integers(1, 30), st.integers(0, 150), st.integers(0, 2**16), fanouts, st.integers(1, 8))
@many
def test_a_sample_is_a_piece_of_the_graph(nodes, edges, seed, fanout, num_seeds):
    ds = random_dataset(nodes, edges, seed)
    rng = np.random.default_rng(seed)
    seeds = rng.permutation(nodes)[:num_seeds].astype("int32")
    inputs, y = NeighborSampler(ds.x, ds.edges, ds.y, fanout).sample(seeds, rng)
    names, local = numbers(inputs), inputs["edges"]
    assert (np.diff(names) > 0).all()  # in order, each once
    np.testing.assert_array_equal(names[inputs["nodes"]], seeds)
    np.testing.assert_array_equal(y, ds.y[seeds])
    np.testing.assert_array_equal(inputs["x"], ds.x[names])
    key = local[:, 1].astype(int) * len(names) + local[:, 0]
    assert (np.diff(key) > 0).all()  # sorted by (target, source), unique
    assert {tuple(edge) for edge in names[local].tolist()} <= whole_edges(ds)


@given(st.integers(0, 2**16), fanouts)
@many
def test_every_node_gets_its_hops_fanout(seed, fanout):
    """Walk the sample from the seeds: a node first met after h hops has min(fanout[h], degree) neighbours in it."""
    ds = random_dataset(40, 200, seed)
    seeds = np.array([3, 8, 5], "int32")
    inputs, _ = NeighborSampler(ds.x, ds.edges, ds.y, fanout).sample(seeds, np.random.default_rng(seed))
    names, degrees = numbers(inputs), np.bincount(ds.edges[:, 1], minlength=40)
    edges = names[inputs["edges"]]
    hop, met = set(seeds.tolist()), set()
    for limit in [*fanout, 0]:
        met |= hop
        for node in hop:
            drawn = int((edges[:, 1] == node).sum())
            assert drawn == (degrees[node] if limit is None else min(limit, degrees[node]))
        hop = set(edges[np.isin(edges[:, 1], list(hop)), 0].tolist()) - met
    assert met == set(names.tolist()) and not hop


def test_neighbours_are_drawn_without_preference():
    degrees = np.full(20_000, 5)
    places = distinct_places(degrees, 2, np.random.default_rng(0))
    assert (places[:, 0] != places[:, 1]).all()
    pairs = np.bincount(places.min(1) * 5 + places.max(1), minlength=25).reshape(5, 5)[np.triu_indices(5, 1)]
    assert abs(pairs - 2_000).max() < 5 * np.sqrt(2_000)  # ten pairs, each as often as any other


def test_a_hub_costs_no_more_than_what_is_drawn():
    hub = np.stack([np.arange(1, 50_000), np.zeros(49_999)], axis=1).astype("int32")
    sampler = NeighborSampler(np.zeros((50_000, 1), "float32"), hub, np.zeros(50_000, "int32"), [3])
    inputs, _ = sampler.sample(np.array([0]), np.random.default_rng(0))
    assert inputs["edges"].shape == (3, 2) and len(set(inputs["edges"][:, 0].tolist())) == 3


def test_elements_are_like_those_of_batches():
    ds = random_dataset()
    batches = ds.sampled_batches([4, 2], 8)
    inputs, y = batches.element_spec
    assert inputs == {
        "x": tf.TensorSpec([None, 1], tf.float32),
        "edges": tf.TensorSpec([None, 2], tf.int32),
        "nodes": tf.TensorSpec([None], tf.int32),
    }
    assert y == tf.TensorSpec([None], tf.int32)
    assert batches.cardinality() == 4 == len(list(batches))
    assert ds.sampled_batches(3, 8, drop_remainder=True).cardinality() == 3
    assert ds.sampled_batches(3, 8, split="all").cardinality() == 8
    seeds = [numbers(inputs)[inputs["nodes"].numpy()] for inputs, _ in ds.sampled_batches(3, 8)]
    np.testing.assert_array_equal(np.concatenate(seeds), ds.nodes("train"))


@pytest.mark.parametrize("batch_size", [7, 15, 30])
def test_an_epoch_is_a_function_of_seed_and_number(batch_size):
    ds = random_dataset()
    options = {"fanout": [3, 2], "batch_size": batch_size, "shuffle": True}
    batches = ds.sampled_batches(seed=1, **options)
    epochs = [as_lists(batches) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert epochs == [as_lists(ds.sampled_batches(seed=1, initial_epoch=e, **options)) for e in range(3)]
    assert as_lists(ds.sampled_batches(seed=2, **options)) != epochs[0]


@pytest.mark.parametrize("batch_size", [7, 15])
def test_a_look_at_the_first_batch_does_not_use_up_an_epoch(batch_size):
    batches = random_dataset().sampled_batches(3, batch_size, shuffle=True)
    first = as_lists(batches.take(1))
    assert first == as_lists(batches.take(1)) == as_lists(batches)[:1]


def test_two_readers_at_once_stay_in_their_epoch():
    ds = random_dataset()
    batches = ds.sampled_batches(3, 8, shuffle=True)
    both = as_lists(tf.data.Dataset.zip((batches, batches)))
    assert [one for one, _ in both] == [other for _, other in both] == as_lists(ds.sampled_batches(3, 8, shuffle=True))


def test_no_generator_slows_the_process_down(monkeypatch):
    """TensorFlow changes the settings of malloc as soon as a generator runs: see `epoch_dataset`."""
    monkeypatch.setattr(tf.data.Dataset, "from_generator", None)
    assert len(list(random_dataset().sampled_batches(3, 8))) == 4


def test_without_shuffling_neighbours_still_change():
    batches = random_dataset().sampled_batches(2, 10)
    first, second = as_lists(batches), as_lists(batches)
    assert [y for _, y in first] == [y for _, y in second] and first != second


@pytest.mark.parametrize("batch_size", [8, 30])
def test_keras_sees_epoch_after_epoch(monkeypatch, batch_size):
    used = []
    sample = sampling.NeighborSampler.sample

    def watched(sampler, seeds, rng):
        used.append(rng.bit_generator.seed_seq.entropy)
        return sample(sampler, seeds, rng)

    monkeypatch.setattr(sampling.NeighborSampler, "sample", watched)
    ds = random_dataset()
    model = models.GCN(ds.num_classes, units=4)
    model.compile("sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(ds.sampled_batches(3, batch_size, shuffle=True, initial_epoch=2), epochs=3, verbose=0)
    steps = -(-30 // batch_size)
    assert list(dict.fromkeys(map(tuple, used))) == [(0, e, step) for e in (2, 3, 4) for step in range(steps)]
    assert model.optimizer.iterations == 3 * steps


@pytest.mark.parametrize("operator", ["hgao", "gao", "topk", "linear"])
@pytest.mark.parametrize("normalization", ["sym", "row"])
def test_all_neighbours_give_the_logits_of_the_whole_graph(operator, normalization):
    ds = random_dataset(300, 500, features=5)
    model = models.NodeClassifier(3, operator, k=2, num_modules=1, units=6, module_units=4, normalization=normalization)
    whole = model({"x": ds.x, "edges": ds.edges}).numpy()
    hops = models.receptive_hops(model)
    assert hops == {"linear": 3}.get(operator, 4) + (normalization == "sym")
    sizes = []
    for inputs, _ in ds.sampled_batches(None, 3, hops=hops).take(4):
        np.testing.assert_allclose(model(inputs), whole[numbers(inputs)[inputs["nodes"]]], rtol=2e-5, atol=2e-5)
        sizes.append(len(inputs["x"]))
    assert min(sizes) < 300  # else nothing was shown


def test_one_hop_less_is_not_exact():
    """`receptive_hops` is not too many: without the last one "sym" sees wrong degrees, "row" too few nodes."""
    ds = random_dataset(300, 500, features=5)
    for normalization in ("sym", "row"):
        model = models.NodeClassifier(3, num_modules=1, normalization=normalization)
        whole = model({"x": ds.x, "edges": ds.edges}).numpy()
        batches = ds.sampled_batches(None, 30, hops=models.receptive_hops(model) - 1)
        wrong = [np.abs(model(i) - whole[numbers(i)[i["nodes"]]]).max() for i, _ in batches]
        assert max(wrong) > 1e-4 * np.abs(whole).max()


def test_training_on_samples_learns():
    """Two random graphs with a class each: their samples are enough to tell the nodes apart."""
    rng = np.random.default_rng(0)
    group = np.arange(400) % 2
    pairs = rng.integers(0, 400, (6_000, 2))
    pairs = pairs[group[pairs[:, 0]] == group[pairs[:, 1]]]
    x = rng.normal(size=(400, 4)) + 0.5 * group[:, None]
    ds = NodeDataset(pairs, x, group, np.arange(400) < 100, None, np.arange(400) >= 100)
    keras.utils.set_random_seed(0)
    model = models.NodeClassifier(2, num_modules=1, k=4, dropout=0.0, attention_dropout=0.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    model.fit(ds.sampled_batches([5, 5, 5], 20, shuffle=True), epochs=4, verbose=0)
    assert model.evaluate(ds.batches("test"), verbose=0, return_dict=True)["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fanout": []}, "fanout is empty"),
        ({"fanout": 0}, "fanout must be a whole number from 1"),
        ({"fanout": [3, 1.5]}, "fanout must be a whole number from 1"),
        ({"fanout": 3, "hops": 0}, "hops must be a whole number from 1"),
        ({"fanout": 3, "batch_size": 0}, "batch_size"),
        ({"fanout": 3, "split": "tset"}, "did you mean 'test'"),
        ({"fanout": 3, "split": "val"}, "has no nodes: give val_mask"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(DataFormatError, match=words):
        random_dataset().sampled_batches(**{"batch_size": 4, **options})


def test_edge_weights_belong_to_the_same_edges():
    """The weight of an edge is a function of its two nodes, wherever it turns up."""
    rng = np.random.default_rng(0)
    edges = np.unique(rng.integers(0, 40, (300, 2)), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    x = np.arange(40, dtype=np.float32)[:, None]
    ds = NodeDataset(edges, x, np.zeros(40, int), np.arange(40), edge_weights=edges[:, 0] * 100 + edges[:, 1])
    for inputs, _ in ds.sampled_batches([3, 2], 7):
        number = inputs["x"].numpy()[:, 0]
        source, target = number[inputs["edges"].numpy().T]
        np.testing.assert_array_equal(inputs["edge_weights"], source * 100 + target)
