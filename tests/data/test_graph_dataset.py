import networkx as nx
import numpy as np
import pytest

from ganet_tf.data import Graph, GraphDataset
from ganet_tf.errors import DataFormatError


@pytest.fixture
def ds(random_graphs):
    return GraphDataset.from_graphs(random_graphs(30), name="random")


def test_it_is_a_sequence_of_graphs(ds):
    assert len(ds) == 30 and ds.num_classes == 3 and ds.num_features == 3 and ds.name == "random"
    assert isinstance(ds[0], Graph) and ds[-1].y == ds.y[29] and len(list(ds)) == 30
    assert "graphs=30" in repr(ds)
    with pytest.raises(IndexError):
        ds[30]


@pytest.mark.parametrize("index", [slice(2, 9, 3), [2, 5, 8], np.array([2, 5, 8])])
def test_subsets(ds, index):
    part = ds[index]
    assert isinstance(part, GraphDataset)
    np.testing.assert_array_equal(part.y, ds.y[[2, 5, 8]])
    np.testing.assert_array_equal(part.sizes, ds.sizes[[2, 5, 8]])
    assert part.num_classes == 3
    np.testing.assert_array_equal(part[[1]][0].x, ds[5].x)


def test_masks_and_empty_subsets(ds):
    mask = ds.y == 1
    assert len(ds[mask]) == mask.sum() and set(ds[mask].y) == {1}
    assert len(ds[[]]) == 0


def test_further_inputs_go_with_their_graphs(ds):
    rows = np.arange(60, dtype=np.int32).reshape(30, 2)
    more = ds.with_arrays(rows=rows)
    assert "rows" not in ds.arrays()
    np.testing.assert_array_equal(more[[4, 2]].arrays()["rows"], rows[[4, 2]])
    np.testing.assert_array_equal(ds[[4, 2]].with_arrays(rows=rows[[9, 8]])[[1]].arrays()["rows"], rows[[8]])
    batches = more.batches(7, shuffle=True, seed=3)
    assert batches.element_spec[0]["rows"].shape.as_list() == [None, 2]
    for (inputs, y), (arrays, _) in zip(batches, more.numpy_batches(7, shuffle=True, seed=3), strict=True):
        np.testing.assert_array_equal(inputs["rows"], arrays["rows"])
        np.testing.assert_array_equal(y, ds.y[arrays["rows"][:, 0] // 2])
    for wrong in ({"rows": rows[:3]}, {"rows": 1}, {"x": rows}):
        with pytest.raises(DataFormatError, match=r"rows must have a row for each of 30|x is the name of an input"):
            ds.with_arrays(**wrong)


def test_sizes_and_edge_counts_are_those_of_the_graphs(ds):
    np.testing.assert_array_equal(ds.sizes, [graph.num_nodes for graph in ds])
    np.testing.assert_array_equal(ds.edge_counts, [len(graph.edges) for graph in ds])


def test_sort_pooling_k_is_dgcnns():
    sizes = [5, 12, 40, 11, 30, 20, 13, 14, 15, 16]
    ds = GraphDataset.from_graphs([Graph(np.ones((n, 1)), []) for n in sizes])
    ordered = sorted(sizes)
    assert ds.sort_pooling_k(0.6) == ordered[5] and ds.sort_pooling_k(0.9) == ordered[8]
    assert ds.sort_pooling_k(1.0) == 40 and ds.sort_pooling_k(0.1) == 10
    with pytest.raises(DataFormatError, match="quantile"):
        ds.sort_pooling_k(0)


def test_stratified_folds_partition_the_data_set(ds):
    tested = np.concatenate([ds.fold_indices(i, num_folds=5)[1] for i in range(1, 6)])
    np.testing.assert_array_equal(np.sort(tested), np.arange(30))
    train, test = ds.fold(2, splits="stratified", seed=3)
    assert len(train) == 27 and len(test) == 3 and set(test.y) == {0, 1, 2}
    assert ds.fold_kind == "stratified"
    again = ds.fold_indices(2, seed=3)[1]
    np.testing.assert_array_equal(again, ds.fold_indices(2, seed=3)[1])
    assert not np.array_equal(again, ds.fold_indices(2, seed=4)[1])


@pytest.mark.parametrize("index", [0, 11, 1.5, True])
def test_folds_count_from_one_to_ten(ds, index):
    with pytest.raises(DataFormatError, match="numbered from 1 to 10"):
        ds.fold(index)


def test_fold_arguments(ds):
    with pytest.raises(DataFormatError, match="splits must be"):
        ds.fold(1, splits="other")
    with pytest.raises(DataFormatError, match="no published folds"):
        ds.fold(1, splits="published")


def test_split_keeps_class_shares(ds):
    rest, part = ds.split(0.2, seed=1)
    assert len(rest) == 24 and np.bincount(part.y).tolist() == [2, 2, 2]
    assert not np.array_equal(ds.split(0.2, seed=2)[1].sizes, part.sizes)


def test_statistics(ds):
    statistics = ds.statistics()
    assert statistics["graphs"] == 30 and statistics["classes"] == 3
    assert statistics["class_counts"] == [10, 10, 10]
    assert statistics["avg_nodes"] == pytest.approx(ds.sizes.mean())


def test_with_features_keeps_graphs_and_changes_x(ds):
    part = ds[3:20]
    other = part.with_features("attributes+degree")
    for before, after in zip(part, other, strict=True):
        np.testing.assert_array_equal(before.edges, after.edges)
        np.testing.assert_array_equal(after.x[:, :3], before.x)
        degrees = np.bincount(before.edges[:, 1], minlength=before.num_nodes)
        np.testing.assert_array_equal(after.x[:, 3:].argmax(axis=1), degrees)


def test_bad_lists():
    with pytest.raises(DataFormatError, match="at least one graph"):
        GraphDataset.from_graphs([])
    with pytest.raises(DataFormatError, match="same number of features"):
        GraphDataset.from_graphs([Graph(np.ones((1, 1)), []), Graph(np.ones((1, 2)), [])])
    with pytest.raises(DataFormatError, match="num_classes is 1"):
        GraphDataset.from_graphs([Graph(np.ones((1, 1)), [], 1)], num_classes=1)


def test_from_networkx_is_there():
    ds = GraphDataset.from_networkx([nx.path_graph(3), nx.cycle_graph(4)], ["path", "cycle"])
    assert ds.class_labels == ["cycle", "path"] and ds.y.tolist() == [1, 0]
