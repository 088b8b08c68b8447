import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ganet_tf.data import Graph, GraphDataset
from ganet_tf.data.graph_store import ranges


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
