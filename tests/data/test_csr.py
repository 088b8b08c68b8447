"""Graphs in CSR files: opened without a look at them, sampled like those in memory, and named when they are wrong."""

import gzip
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from ganet_tf import data
from ganet_tf.data import NodeDataset, convert, neighbor_lists
from ganet_tf.data.neighbor_lists import NeighborLists, Rows
from ganet_tf.errors import DataFormatError, DatasetNotFoundError, OutOfMemoryError

try:
    import resource
except ImportError:  # Windows
    resource = None

NODES = 60


def in_memory(weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, NODES, size=(400, 2))
    weights = rng.random(400) if weighted else None
    x = rng.normal(size=(NODES, 3)).astype("float32")
    parts = np.split(rng.permutation(NODES), [30, 45])
    return NodeDataset(edges, x, np.arange(NODES) % 4, *parts, edge_weights=weights)


def save(ds, folder):
    """The CSR files of a data set."""
    folder.mkdir(exist_ok=True)
    arrays = {"indptr": ds.neighbors.indptr, "indices": ds.neighbors.indices, "x": ds.x, "y": ds.y}
    arrays |= {split: ds.nodes(split) for split in ("train", "val", "test")}
    if ds.edge_weights is not None:
        arrays["edge_weights"] = ds.edge_weights
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


@pytest.fixture
def folder(tmp_path):
    return save(in_memory(), tmp_path / "graph")


def equal(one, other):
    for a, b in zip(one, other, strict=True):
        assert a[0].keys() == b[0].keys()
        for key in a[0]:
            np.testing.assert_array_equal(a[0][key], b[0][key])
        np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_samples_as_in_memory(tmp_path, weighted):
    ours, theirs = in_memory(weighted), data.load(save(in_memory(weighted), tmp_path / "graph"))
    assert isinstance(theirs.x, np.memmap) and "edges" not in theirs.__dict__
    samples = [list(ds.sampled_numpy_batches([3, 2], 7, shuffle=True, seed=2, epoch=1)) for ds in (ours, theirs)]
    equal(*samples)
    np.testing.assert_array_equal(theirs.edges, ours.edges)
    np.testing.assert_array_equal(theirs.val_mask, ours.val_mask)
    assert theirs.num_classes == ours.num_classes and repr(theirs) == repr(ours).replace("'nodes'", "'graph'")
    assert theirs.statistics() == {**ours.statistics(), "name": "graph"}


def test_weights_follow_their_edges():
    ds = in_memory(weighted=True)
    whole = {tuple(edge): weight for edge, weight in zip(ds.edges.tolist(), ds.edge_weights, strict=True)}
    x = np.arange(NODES, dtype="float32")[:, None]  # so that a sample tells who is in it
    other = NodeDataset.from_csr(
        ds.neighbors.indptr, ds.neighbors.indices, x, ds.y, [0, 5], edge_weights=ds.edge_weights
    )
    for inputs, _ in other.sampled_numpy_batches([4, 3], 2):
        names = inputs["x"][:, 0].astype(int)
        assert [whole[tuple(edge)] for edge in names[inputs["edges"]].tolist()] == inputs["edge_weights"].tolist()


def test_the_whole_graph_in_one_batch(folder):
    (a,), (b,) = data.load(folder).batches("val"), in_memory().batches("val")
    equal([a], [b])


def test_marks_are_clean_again_and_one_list_serves_all_splits(folder):
    ds = data.load(folder)
    for split in ("train", "val"):
        list(ds.sampled_numpy_batches([3, 2], 8, split))
    assert len(ds.neighbors._free) == 1 and (ds.neighbors._free[0] == -1).all()


def test_other_features_keep_the_lists(folder):
    ds = data.load(folder)
    assert ds.with_features("degree").neighbors is ds.neighbors


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16"])
def test_rows_by_threads_are_those_of_the_map(tmp_path, dtype):
    x = (np.random.default_rng(0).normal(size=(50, 7)) * 9).astype(dtype)
    np.save(tmp_path / "x.npy", x)
    mapped, nodes = np.load(tmp_path / "x.npy", mmap_mode="r"), np.array([3, 49, 0, 17] * 9)
    for direct in (False, True):
        rows = Rows(mapped, direct)
        assert rows.direct is direct
        np.testing.assert_array_equal(rows.take(nodes, np.empty((36, 7), "float32")), x[nodes].astype("float32"))
    assert not Rows(mapped[2:], True).direct  # a view's offset in the file is not known


def test_files_beyond_the_memory_are_read_by_threads(folder, monkeypatch):
    expected = list(data.load(folder).sampled_numpy_batches([3], 7))
    monkeypatch.setattr(neighbor_lists, "available_memory", lambda: 100)
    ds = data.load(folder)
    assert Rows(ds.x).direct
    equal(ds.sampled_numpy_batches([3], 7), expected)
    with pytest.raises(OutOfMemoryError, match=r"indices.npy take .* train on sampled_batches"):
        ds.batches("train")


def cut(path, share=0.5):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


@pytest.mark.parametrize("name", ["indptr", "indices", "x", "y", "train"])
def test_a_truncated_file_is_named(folder, name):
    cut(folder / f"{name}.npy")
    with pytest.raises(DataFormatError, match=f"{name}.npy .*is truncated"):
        data.load(folder)


def test_a_file_that_shrinks_after_opening_is_named(folder, monkeypatch):
    monkeypatch.setattr(neighbor_lists, "available_memory", lambda: 100)
    rows = Rows(data.load(folder).x)
    cut(folder / "x.npy")
    with pytest.raises(DataFormatError, match=r"x.npy ends before"):
        rows.take(np.arange(NODES), np.empty((NODES, 3), "float32"))


def change(path, place, value):
    array = np.load(path)
    array[place] = value
    np.save(path, array)


@pytest.mark.parametrize("value", [NODES, -1, 2**31 - 1])
def test_indices_outside_are_named_by_the_sample_that_meets_them(folder, value):
    change(folder / "indices.npy", slice(None), value)
    batches = data.load(folder).sampled_numpy_batches([3, 2], 8)
    with pytest.raises(DataFormatError, match=rf"indices.npy names node {value}, but the graph has {NODES} nodes"):
        list(batches)


@pytest.mark.parametrize("value", [10**12, -7, 3])
def test_lists_outside_are_named_by_the_sample_that_meets_them(folder, value):
    change(folder / "indptr.npy", 30, value)
    with pytest.raises(DataFormatError, match=r"indptr.npy has a list from -?\d+ to -?\d+, but .*indices.npy has \d+"):
        list(data.load(folder).sampled_numpy_batches([None], NODES, "all"))


@pytest.mark.parametrize("indices, what", [([1, 1, 0], "a node twice"), ([1, 2, 1], "a node itself")])
def test_lists_that_are_none_are_named_by_the_sample_that_meets_them(indices, what):
    ds = NodeDataset.from_csr([0, 2, 3, 3], indices, np.eye(3), [0, 1, 1], train=[0, 1])
    with pytest.raises(DataFormatError, match=f"indices: a list has {what} in it"):
        list(ds.sampled_numpy_batches([None], 2))


@pytest.mark.parametrize("value", [7, -3])
def test_classes_outside_are_named(folder, value):
    """Those of a split at once, which looks at no others."""
    files = [folder / f"{name}.npy" for name in ("indptr", "indices", "x", "y")]
    change(folder / "y.npy", 9, value)
    NodeDataset.from_csr(*files, num_classes=4, train=[8, 10])
    for more in ({"val": [8, 9]}, {"check": True}):
        with pytest.raises(DataFormatError, match=r"y.npy must hold classes below 4 .* but has .*(7|-3)"):
            NodeDataset.from_csr(*files, num_classes=4, **more)


WRONG = {
    "indices.npy names node 99": ("indices", -1, 99),
    "indices.npy: the list of node 0 is not ascending": ("indices", 0, NODES - 1),
    "indptr.npy descends after node 4": ("indptr", 4, 10**6),
    "x.npy has NaN": ("x", 7, np.nan),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_check_names_what_is_wrong(folder, message, monkeypatch):
    monkeypatch.setattr(neighbor_lists, "PIECE", 50)
    NodeDataset.from_folder(folder, check=True)
    name, place, value = WRONG[message]
    change(folder / f"{name}.npy", place, value)
    ds = data.load(folder)  # which looks at none of it
    with pytest.raises(DataFormatError, match=message):
        ds.check()


def test_a_node_in_its_own_list():
    lists = NeighborLists(np.array([0, 1, 2]), np.array([1, 1]))
    with pytest.raises(DataFormatError, match="list of node 1 has the node itself"):
        lists.check()


def test_files_that_do_not_belong_together(folder, tmp_path):
    np.save(folder / "indices.npy", np.zeros(3, int))
    with pytest.raises(DataFormatError, match=r"indptr.npy must go from 0 to the 3 entries of .*indices.npy"):
        data.load(folder)
    ds = in_memory()
    lists = ds.neighbors.indptr, ds.neighbors.indices
    with pytest.raises(DataFormatError, match="x has the shape"):
        NodeDataset.from_csr(*lists, ds.x[1:], ds.y)
    with pytest.raises(DataFormatError, match="train names node 3 more than once"):
        NodeDataset.from_csr(*lists, ds.x, ds.y, train=[3, 3])
    with pytest.raises(DataFormatError, match="val has 1 nodes whose target is unknown"):
        NodeDataset.from_csr(*lists, ds.x, np.full(NODES, -1), val=[3], num_classes=2)
    save(ds, tmp_path / "other").joinpath("x.npy").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"x\.npy is not there"):
        data.load(tmp_path / "other")


# The converter


def lists_of(edges, directed, nodes=NODES):
    matrix = np.zeros((nodes, nodes), bool)
    matrix[edges[:, 1], edges[:, 0]] = True
    matrix |= matrix.T & (not directed)
    np.fill_diagonal(matrix, False)
    return [np.flatnonzero(row).tolist() for row in matrix]


def read_lists(folder):
    indptr, indices = np.load(folder / "indptr.npy"), np.load(folder / "indices.npy")
    return [part.tolist() for part in np.split(indices, indptr[1:-1])]


EDGES = np.random.default_rng(1).integers(0, NODES, size=(500, 2))


def as_text(path, separator=" "):
    path.write_text("# source target\n" + "".join(f"{a}{separator}{b}\n" for a, b in EDGES))


WRITERS = {
    "edges.txt": as_text,
    "edges.csv": lambda path: as_text(path, ","),
    "edges.txt.gz": lambda path: path.write_bytes(gzip.compress("".join(f"{a}\t{b}\n" for a, b in EDGES).encode())),
    "edges.npy": lambda path: np.save(path, EDGES),
    "index.npy": lambda path: np.save(path, EDGES.T),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_edge_lists(tmp_path, monkeypatch, name, directed):
    monkeypatch.setattr(convert, "TEXT", 300)
    monkeypatch.setattr(convert, "ROWS", 77)
    monkeypatch.setattr(convert, "BLOCKS", 16)  # so that blocks have several nodes
    WRITERS[name](tmp_path / name)
    convert.convert(tmp_path / name, tmp_path / "csr", directed, memory=100 * convert.BYTES_AN_EDGE)
    assert read_lists(tmp_path / "csr") == lists_of(EDGES, directed)
    assert not list((tmp_path / "csr").glob(".unfinished*"))


def write_ogb(folder, arrays, packed):
    """A folder as OGB has it: text, or for its largest data sets two .npz files."""
    (folder / "raw").mkdir(parents=True)
    (folder / "split" / "time").mkdir(parents=True)
    if packed:
        np.savez_compressed(folder / "raw" / "data.npz", edge_index=EDGES.T, node_feat=arrays["x"])
        np.savez(folder / "raw" / "node-label.npz", node_label=arrays["y"][:, None])
    else:
        for name, array in (("edge", EDGES), ("node-feat", arrays["x"]), ("node-label", arrays["y"][:, None])):
            text = "".join(",".join(map(str, row)) + "\n" for row in array.tolist())
            (folder / "raw" / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    for split, nodes in (("train", [4, 2]), ("valid", [7]), ("test", [9, 11])):
        (folder / "split" / "time" / f"{split}.csv.gz").write_bytes(
            gzip.compress("".join(f"{node}\n" for node in nodes).encode())
        )
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_folders_of_ogb(tmp_path, packed):
    rng = np.random.default_rng(0)
    arrays = {"x": rng.normal(size=(NODES, 5)).astype("float32"), "y": rng.integers(0, 6, NODES).astype(float)}
    arrays["y"][20:30] = np.nan
    source = write_ogb(tmp_path / "ogb", arrays, packed)
    words = [str(source), str(tmp_path / "csr"), "--directed", "--memory", "16M"]
    if packed:
        subprocess.run([sys.executable, "-m", "ganet_tf.data.convert", *words], check=True, timeout=120)
    else:
        assert convert.main(words) == 0
    ds = NodeDataset.from_folder(tmp_path / "csr", check=True)
    np.testing.assert_array_equal(ds.x, arrays["x"])
    np.testing.assert_array_equal(ds.y, np.nan_to_num(arrays["y"], nan=-1))
    assert ds.num_classes == int(np.nanmax(arrays["y"])) + 1
    assert [ds.nodes(split).tolist() for split in ("train", "val", "test")] == [[2, 4], [7], [9, 11]]
    assert read_lists(tmp_path / "csr") == lists_of(EDGES, directed=True)


def test_memory_of_a_conversion_is_bounded(tmp_path, monkeypatch):
    """Whatever the numbers of edges and nodes are; so are the files that are open at a time."""
    monkeypatch.setattr(convert, "ROWS", 2**12)
    opened, limit = [], 2**20

    def peak(nodes, edges):
        np.save(tmp_path / "edges.npy", np.random.default_rng(0).integers(0, nodes, size=(edges, 2)))
        tracemalloc.start()
        try:
            convert.convert(tmp_path / "edges.npy", tmp_path / "csr", memory=limit, say=opened.append)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1000, 1000)
    small, large = peak(100_000, 50_000), peak(400_000, 400_000)
    assert large < small + limit / 2 and large < 4 * limit, opened
    indptr = np.load(tmp_path / "csr" / "indptr.npy")
    assert len(indptr) > 399_000 and "in 31 parts" in opened[-1]


@pytest.mark.skipif(resource is None, reason="no limits here")
def test_more_parts_than_files_may_be_open(tmp_path):
    np.save(tmp_path / "edges.npy", EDGES)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(os.listdir("/proc/self/fd")) + 20 if os.path.exists("/proc/self/fd") else soft
    said = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        convert.convert(tmp_path / "edges.npy", tmp_path / "csr", memory=10 * convert.BYTES_AN_EDGE, say=said.append)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert read_lists(tmp_path / "csr") == lists_of(EDGES, False)
    assert "in 60 parts" in said[0]


def test_what_a_killed_conversion_left_is_removed(tmp_path):
    np.save(tmp_path / "edges.npy", EDGES)
    (tmp_path / "csr" / ".unfinished-abc").mkdir(parents=True)
    (tmp_path / "csr" / ".unfinished-abc" / "7").write_bytes(b"much")
    (tmp_path / "csr" / ".unfinished-def-indices.npy").write_bytes(b"much")
    convert.convert(tmp_path / "edges.npy", tmp_path / "csr")
    assert sorted(os.listdir(tmp_path / "csr")) == ["graph.json", "indices.npy", "indptr.npy"]


@pytest.mark.parametrize("targets", [[[0.5], [1.0], [2.5]], [[0, 1], [1, 1], [0, 0]]])
def test_targets_that_are_no_classes(targets, tmp_path):
    count, found = convert.write_targets(lambda: iter([np.array(targets)]), tmp_path / "y.npy")
    assert count == 3 and found == {} and np.load(tmp_path / "y.npy").tolist() == targets


@pytest.mark.parametrize("number", [0, -1, 2**31 + 1])
def test_numbers_of_nodes(number, tmp_path):
    np.save(tmp_path / "edges.npy", EDGES)
    with pytest.raises(DataFormatError, match="num_nodes must be a whole number from 1"):
        convert.convert(tmp_path / "edges.npy", tmp_path / "csr", num_nodes=number)


BAD = {
    "1 2\n3\n": "2 numbers in every line",
    "1 2\n3 x\n": "must hold numbers",
    "1 2\n3 1.5\n": "whole numbers",
    "1 -2\n": "names node -2",
    "1 99\n": "names node 99, but nodes are numbered from 0 to 59",
    "\n": "there is no edge",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_edge_lists(tmp_path, text, capsys):
    (tmp_path / "edges.txt").write_text(text)
    assert convert.main([str(tmp_path / "edges.txt"), str(tmp_path / "csr"), "--num-nodes", "60"]) == 2
    assert BAD[text] in capsys.readouterr().err
    assert not (tmp_path / "csr" / "graph.json").exists()


def test_a_truncated_archive(tmp_path, capsys):
    WRITERS["edges.txt.gz"](tmp_path / "edges.txt.gz")
    cut(tmp_path / "edges.txt.gz")
    assert convert.main([str(tmp_path / "edges.txt.gz"), str(tmp_path / "csr")]) == 2
    assert "edges.txt.gz is truncated" in capsys.readouterr().err
