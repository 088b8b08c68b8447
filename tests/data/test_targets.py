import numpy as np
import pytest

from ganet_tf.data import Graph, GraphDataset, Target
from ganet_tf.data.targets import read_targets, strata
from ganet_tf.errors import DataFormatError

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "kind", "y", "labels"),
    [
        (["b", "a", None], "classes", [1, 0, -1], ("a", "b")),
        ([-1, 1, -1], "classes", [0, 1, 0], (-1, 1)),
        ([True, False], "classes", [1, 0], (False, True)),
        ([("C", 1), ("A", 2)], "classes", [1, 0], (("A", 2), ("C", 1))),
        (np.array([3, 5, 3]), "classes", [0, 1, 0], (3, 5)),
        ([0.5, 7.2], "regression", [[0.5], [7.2]], ()),
        ([1, 2.5, None], "regression", [[1], [2.5], [NAN]], ()),
        (np.array([0.0, 1.0]), "regression", [[0], [1]], ()),
        ([[0.5, 1.0], [2.0, NAN]], "regression", [[0.5, 1], [2, NAN]], ()),
        ([[0, 1], [1, 1]], "multilabel", [[0, 1], [1, 1]], ()),
        (np.array([[0.0, 1.0], [NAN, 1.0]]), "multilabel", [[0, 1], [NAN, 1]], ()),
        ([[0, -1], None], "multilabel", [[0, NAN], [NAN, NAN]], ()),
        ([[1, None], [-1, 0]], "multilabel", [[1, NAN], [NAN, 0]], ()),
        (np.array([[0.0, 1.0], [-1.0, NAN]]), "multilabel", [[0, 1], [NAN, NAN]], ()),
        ([[-1.0, 0.0], [-1.0, 0.0]], "regression", [[-1, 0], [-1, 0]], ()),
        (["a", NAN, np.float32("nan")], "classes", [0, -1, -1], ("a",)),
        ([5, NAN, 3], "classes", [1, -1, 0], (3, 5)),
        ([0, 1, -1, 2], "classes", [0, 1, -1, 2], (0, 1, 2)),
        ([0, -1], "classes", [1, 0], (-1, 0)),
        ([-1, 0, 2], "classes", [0, 1, 2], (-1, 0, 2)),
        ([np.array(7), np.array(7)], "classes", [0, 0], (7,)),
        (np.array([[4], [2]]), "classes", [1, 0], (2, 4)),
        (np.array([[1], [0]]), "multilabel", [[1], [0]], ()),
    ],
)
def test_kinds(values, kind, y, labels):
    got, target = read_targets(values, len(values))
    assert (target.kind, target.labels) == (kind, labels)
    np.testing.assert_allclose(got, y)
    assert got.dtype == (np.int32 if kind == "classes" else np.float32)
    assert target.width == (len(labels) if labels else got.shape[1])
    assert Target.from_json(target.to_json()) == target


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.5, "a"], "mixed kinds: there are floats, and 'a'"),
        ([0.5, True], "mixed kinds"),
        ([[0, 1], [1]], "all of one length"),
        ([[0, 1], 3], "rows of numbers"),
        ([[0, 2], [1, 1]], "not 0 and 1 alone"),
        ([[1, -1], [1, 1]], "write 0 where -1 means no"),
        ([float("inf"), 1.0], "infinite in row 0"),
        ([{1}, {2}], "cannot be a class"),
        ([1, 2, 3], "2 graphs, but 3 labels"),
        ({"a": 0, "b": 1}, "a list, one for each of the graphs, but is a dict"),
    ],
)
def test_what_is_refused(values, words):
    with pytest.raises(DataFormatError, match=words):
        read_targets(values, 2)


def test_like_another_data_set():
    target = read_targets(["a", "b", "c"], 3)[1]
    assert read_targets(["c", "a"], 2, target)[0].tolist() == [2, 0]
    assert read_targets(None, 2, target)[0].tolist() == [-1, -1]
    with pytest.raises(DataFormatError, match="class 'd' is not one of"):
        read_targets(["d"], 1, target)
    with pytest.raises(DataFormatError, match="these targets are regression"):
        read_targets([0.5], 1, target)
    numbers = read_targets([[0.5, 1.0]], 1)[1]
    assert np.isnan(read_targets(None, 2, numbers)[0]).all()
    with pytest.raises(DataFormatError, match=r"regression \(1 each\), but regression \(2 each\)"):
        read_targets([0.5], 1, numbers)
    with pytest.raises(DataFormatError, match="classes, but regression is expected"):
        read_targets(["a"], 1, numbers)
    # What would be another kind by itself is what is expected.
    assert read_targets([[0.0, 1.0]], 1, numbers)[0].tolist() == read_targets([[0, 1]], 1, numbers)[0].tolist()
    one = read_targets([0.5], 1)[1]
    assert read_targets([3, None], 2, one)[0][0] == 3 and np.isnan(read_targets([NAN], 1, one)[0]).all()
    column = read_targets(np.array([[0], [1], [2]]), 3)[1]
    assert read_targets(np.array([[1], [0]]), 2, column)[0].tolist() == [1, 0]
    assert read_targets([-1, 1], 2, column)[0].tolist() == [-1, 1]


def test_what_could_be_meant_otherwise_is_told(caplog):
    read_targets([0, 1, -1], 3, what="nodes")
    assert "-1 is taken for an unknown class of some nodes" in caplog.text
    assert read_targets([(1, 0), (0, 1)], 2)[1].labels == ((0, 1), (1, 0))
    assert "tuples such as (0, 1) are classes" in caplog.text


def test_tensors_of_other_libraries_are_their_numbers():
    class Tensor:
        def __init__(self, value):
            self.value = np.asarray(value)

        def numpy(self):
            return self.value

        def __iter__(self):
            return map(Tensor, self.value)

    for values in (Tensor([5, 3, 5]), list(Tensor([5, 3, 5]))):
        assert read_targets(values, 3)[1].labels == (3, 5)
    assert read_targets(Tensor([[0.5], [1.5]]), 2)[0].tolist() == [[0.5], [1.5]]


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "x", "labels": [], "width": 1}', "[1]"])
def test_other_json_is_refused(text):
    with pytest.raises(DataFormatError, match="not the JSON of a Target"):
        Target.from_json(text)


def dataset(labels):
    return GraphDataset([Graph(np.ones((n % 3 + 1, 1)), []) for n in range(len(labels))], labels)


def test_folds_follow_the_range_of_a_number():
    values = np.random.default_rng(0).normal(size=100)
    ds = dataset(values)
    assert ds.target.kind == "regression" and ds.num_classes == 1
    tests = [ds.fold(i)[1] for i in range(1, 11)]
    assert sum(map(len, tests)) == 100
    assert np.std([test.y.mean() for test in tests]) < 0.15  # 0.3 at random
    rest, part = ds.split(0.2)
    assert len(part) == 20 and abs(part.y.mean() - rest.y.mean()) < 0.2
    assert strata(ds.y, ds.target, 10).max() == 4


def test_folds_of_several_labels_and_of_unknown_classes():
    several = dataset(np.random.default_rng(0).integers(0, 2, (40, 3)))
    assert several.target.kind == "multilabel" and len(several.fold(1)[1]) == 4
    some = dataset([None if n % 4 == 0 else n % 2 for n in range(40)])
    assert len(some.fold(1)[1]) == 4 and some.statistics()["class_counts"] == [10, 20]


def test_batches_of_numbers():
    (_, y), *_ = dataset([[0.5, 1.5]] * 4).numpy_batches(4)
    assert y.shape == (4, 2) and y.dtype == np.float32


def test_unknown_classes_have_no_weight():
    ds = dataset(["a", None, "b", "b"])
    _, y, weights = next(ds.numpy_batches(4))
    assert y.tolist() == [0, 0, 1, 1] and weights.tolist() == [1, 0, 1, 1]
    assert len(next(ds[[0, 2]].numpy_batches(2))) == 2
    assert ds[1].y == -1


def test_graphs_with_targets_of_their_own():
    graphs = [Graph(np.ones((1, 1)), [], y) for y in (0.5, 1.5)]
    np.testing.assert_array_equal(GraphDataset(graphs).y, [[0.5], [1.5]])
    with pytest.raises(DataFormatError, match="mixed kinds"):
        GraphDataset(graphs, ["a", 0.5])
