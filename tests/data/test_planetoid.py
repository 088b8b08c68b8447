import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from ganet_tf.data import planetoid
from ganet_tf.data.planetoid import read_planetoid
from ganet_tf.errors import DataFormatError, UnsafeFileError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Eight nodes: 0-1 train, 2-3 validation, 4 nothing; test 7, 5; node 6 is absent everywhere."""
    monkeypatch.setattr(planetoid, "NUM_VALIDATION", 2)
    x = np.arange(1, 22, dtype=np.float64).reshape(7, 3)
    y = np.eye(2, dtype=np.int32)[[0, 1, 0, 1, 0, 1, 1]]
    parts = {
        "x": sp.csr_matrix(x[:2]),
        "y": y[:2],
        "allx": sp.csr_matrix(x[:5]),
        "ally": y[:5],
        "tx": sp.csr_matrix(x[5:]),
        "ty": y[5:],
        "graph": {0: [1, 1, 0], 1: [0], 5: [7], 4: []},
    }
    for part, value in parts.items():
        (tmp_path / f"ind.tiny.{part}").write_bytes(pickle.dumps(value, 2))
    (tmp_path / "ind.tiny.test.index").write_text("7\n5\n")
    return tmp_path


def test_what_is_read(folder):
    ds = read_planetoid(folder, "tiny")
    assert ds.num_nodes == 8 and ds.num_classes == 2
    np.testing.assert_array_equal(ds.x[:, 0], [1, 4, 7, 10, 13, 19, 0, 16])
    np.testing.assert_array_equal(ds.y[[0, 1, 2, 3, 4, 5, 7]], [0, 1, 0, 1, 0, 1, 1])
    np.testing.assert_array_equal(ds.edges, [[1, 0], [0, 1], [7, 5], [5, 7]])
    assert [ds.nodes(split).tolist() for split in ("train", "val", "test")] == [[0, 1], [2, 3], [5, 7]]


def test_options_go_on(folder):
    assert read_planetoid(folder, "tiny", normalize_features="row").x.sum() == pytest.approx(7)


@pytest.mark.parametrize(
    ("part", "data", "words"),
    [
        ("y", pickle.dumps(np.eye(3), 2), "x has 2 rows, but .y 3"),
        ("tx", pickle.dumps(np.eye(3), 2), "sparse matrix"),
        ("x", b"\x80\x02cnumpy\nndarray\n.", "no array"),
        ("graph", pickle.dumps({0: 1}, 2), "lists of node numbers"),
        ("graph", pickle.dumps({0: ["a"]}, 2), "lists of node numbers"),
        ("graph", pickle.dumps({0: [10**30]}, 2), "lists of node numbers"),
        ("test.index", b"7\n999999999999\n", "far more than there are"),
        ("test.index", b"", "2 different nodes"),
        ("y", pickle.dumps([1, 2], 2), "sparse matrix"),
        ("graph", pickle.dumps([1, 2], 2), "dict of neighbour lists"),
        ("graph", pickle.dumps({0: [99]}, 2), "node 99"),
        ("graph", b"garbage", "not a readable pickle"),
        ("test.index", b"7\n", "2 different nodes"),
        ("test.index", b"7\n7\n", "2 different nodes"),
        ("test.index", b"7\n4\n", "names node 4, which is in allx"),
        ("test.index", b"7\nx\n", "not a number"),
    ],
)
def test_bad_files(folder, part, data, words):
    (folder / f"ind.tiny.{part}").write_bytes(data)
    with pytest.raises(DataFormatError, match=words):
        read_planetoid(folder, "tiny")


def test_code_in_a_pickle_is_refused(folder):
    (folder / "ind.tiny.x").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(UnsafeFileError, match=r"asks for os\.system"):
        read_planetoid(folder, "tiny")
