"""Users' own data through every door, for both tasks: each must give the same data set."""

import inspect
import re
import textwrap
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from ganet_tf import data
from ganet_tf.data import Encoder, Graph, GraphDataset, NodeDataset, archive
from ganet_tf.errors import DataFormatError, DatasetNotFoundError

# Two graphs: a path a-b-c with weights 2 and 0.5, and a pair; x is one number for each node.
PAIRS = [[[0, 1], [1, 0], [1, 2], [2, 1]], [[0, 1], [1, 0]]]
WEIGHTS = [[2, 2, 0.5, 0.5], [1, 1]]
X = [[[1.0], [2.0], [3.0]], [[4.0], [5.0]]]
LABELS = ["path", "pair"]
EDGES = {"graph": [7, 7, 9], "source": ["a", "b", "a"], "target": ["b", "c", "b"], "weight": [2.0, 0.5, 1.0]}
NODES = {"graph": [7, 9, 7, 7, 9], "node": list("aabcb"), "size": [1.0, 4.0, 2.0, 3.0, 5.0]}
GRAPHS = {"graph": [9, 7], "label": ["pair", "path"]}


class Tensor:
    """Looks like a tensor of another library, and is no array."""

    def __init__(self, value):
        self.value = np.asarray(value)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.value


def networkx_graphs():
    graphs = []
    for pairs, weights, x in zip(PAIRS, WEIGHTS, X, strict=True):
        graph = nx.Graph()
        graph.add_nodes_from((node, {"x": value}) for node, value in enumerate(x))
        graph.add_weighted_edges_from((*pair, weight) for pair, weight in zip(pairs, weights, strict=True))
        graphs.append(graph)
    return graphs


def pyg_graphs(**more):
    parts = zip(PAIRS, WEIGHTS, X, strict=True)
    return [
        SimpleNamespace(
            edge_index=Tensor(np.transpose(p)), edge_weight=Tensor(w), x=Tensor(x), num_nodes=len(x), **more
        )
        for p, w, x in parts
    ]


class DGLGraph:
    def __init__(self, pairs, ndata, edata):
        self.pairs, self.ndata, self.edata = pairs, ndata, edata

    def edges(self):
        return Tensor(np.transpose(self.pairs)[0]), Tensor(np.transpose(self.pairs)[1])

    def num_nodes(self):
        return len(self.ndata["feat"].numpy())


def dgl_graphs():
    parts = zip(PAIRS, WEIGHTS, X, strict=True)
    return [DGLGraph(p, {"feat": Tensor(x)}, {"weight": Tensor(w)}) for p, w, x in parts]


def write_csv(path, table):
    rows = [list(table), *zip(*table.values(), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def graph_doors(folder):
    index = [np.transpose(pairs) for pairs in PAIRS]
    folder.mkdir(exist_ok=True)
    paths = [write_csv(folder / f"{n}.csv", t) for n, t in (("edges", EDGES), ("nodes", NODES), ("graphs", GRAPHS))]
    together = {"edges": np.concatenate(PAIRS), "x": np.concatenate(X), "edge_weights": np.concatenate(WEIGHTS)}
    np.savez(folder / "mine.npz", sizes=[3, 2], edge_counts=[4, 2], y=[1, 0], **together)
    graphs = [Graph(x, e, edge_weights=w) for x, e, w in zip(X, PAIRS, WEIGHTS, strict=True)]
    return {
        "constructor": GraphDataset(graphs, LABELS),
        "networkx": GraphDataset.from_networkx(networkx_graphs(), LABELS),
        "edge_index": GraphDataset.from_edge_index(index, X, LABELS, edge_weights=WEIGHTS),
        "pyg": GraphDataset.from_pyg(pyg_graphs(), LABELS),
        "dgl": GraphDataset.from_dgl(dgl_graphs(), LABELS),
        "dgl pairs": GraphDataset.from_dgl(list(zip(dgl_graphs(), [Tensor(1), Tensor(0)], strict=True))),
        "pandas": GraphDataset.from_pandas(EDGES, NODES, GRAPHS),
        "csv": GraphDataset.from_pandas(*paths),
        "csv folder": data.load(folder),
        "npz": data.load(folder / "mine.npz"),
    }


DOORS = ["constructor", "networkx", "edge_index", "pyg", "dgl", "dgl pairs", "pandas", "csv", "csv folder", "npz"]


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_graphs(tmp_path, door):
    ds = graph_doors(tmp_path / "mine")[door]
    assert len(ds) == 2 and ds.y.tolist() == [1, 0] and ds.num_features == 1
    assert ds.class_labels == (["pair", "path"] if door not in ("dgl pairs", "npz") else [0, 1])
    for index, graph in enumerate(ds):
        expected = Graph(X[index], PAIRS[index], edge_weights=WEIGHTS[index])
        np.testing.assert_array_equal(graph.x, expected.x)
        np.testing.assert_array_equal(graph.edges, expected.edges)
        np.testing.assert_array_equal(graph.edge_weights, expected.edge_weights)
    batch = ds.arrays()
    np.testing.assert_array_equal(batch["edge_weights"], [2, 2, 0.5, 0.5, 1, 1])
    assert batch["edge_weights"].dtype == np.float32


def test_several_targets_keep_the_names_of_their_columns():
    ds = GraphDataset.from_pandas(EDGES, NODES, {"graph": [7, 9], "logp": ["0.5", ""], "mass": ["1", "2.5"]})
    assert ds.target == data.Target("regression", width=2, names=("logp", "mass"))
    assert data.Target.from_json(ds.target.to_json()) == ds.target
    assert GraphDataset.from_pandas(EDGES, NODES, like=ds).target == ds.target
    assert GraphDataset.from_pandas(EDGES, NODES, {"graph": [7, 9], "a": ["1", "x2"]}).class_labels == ["1", "x2"]


NODE_EDGES = {"source": ["a", "b"], "target": ["b", "c"], "weight": [2.0, 0.5]}
NODE_TABLE = {"node": list("abc"), "y": ["red", "blue", "red"], "split": ["train", "train", "test"], "size": [1, 2, 3]}
MASKS = {"train_mask": [0, 1], "val_mask": None, "test_mask": [2]}


def node_doors(folder):
    index, y = np.transpose(PAIRS[0]), ["red", "blue", "red"]
    weights = sp.coo_array((WEIGHTS[0], index), shape=(3, 3))
    folder.mkdir(exist_ok=True)
    paths = [write_csv(folder / f"{n}.csv", t) for n, t in (("edges", NODE_EDGES), ("nodes", NODE_TABLE))]
    np.savez(
        folder / "mine.npz",
        edge_index=index,
        x=X[0],
        y=[1, 0, 1],
        edge_weights=WEIGHTS[0],
        train_mask=[0, 1],
        test_mask=[2],
    )
    graph = networkx_graphs()[0]
    for name in ("y", "split"):
        nx.set_node_attributes(graph, dict(enumerate(NODE_TABLE[name])), name)
    masks = {name: Tensor(mask) for name, mask in MASKS.items() if mask is not None}
    item = SimpleNamespace(
        edge_index=Tensor(index), x=Tensor(X[0]), y=Tensor([1, 0, 1]), edge_weight=Tensor(WEIGHTS[0]), **masks
    )
    ndata = {"feat": Tensor(X[0]), "label": Tensor([1, 0, 1]), **masks}
    return {
        "constructor": NodeDataset(PAIRS[0], X[0], y, **MASKS, edge_weights=WEIGHTS[0]),
        "scipy": NodeDataset(weights, X[0], y, **MASKS),
        "dense": NodeDataset(weights.toarray(), X[0], y, **MASKS),
        "networkx": NodeDataset.from_networkx(graph),
        "edge_index": NodeDataset.from_edge_index(index, X[0], y, **MASKS, edge_weights=WEIGHTS[0]),
        "pyg": NodeDataset.from_pyg(item),
        "dgl": NodeDataset.from_dgl(DGLGraph(PAIRS[0], ndata, {"weight": Tensor(WEIGHTS[0])})),
        "pandas": NodeDataset.from_pandas(NODE_EDGES, NODE_TABLE),
        "csv": NodeDataset.from_pandas(*paths),
        "csv folder": data.load(folder),
        "npz": data.load(folder / "mine.npz"),
    }


NODE_DOORS = [
    "constructor",
    "scipy",
    "dense",
    "networkx",
    "edge_index",
    "pyg",
    "dgl",
    "pandas",
    "csv",
    "csv folder",
    "npz",
]


@pytest.mark.parametrize("door", NODE_DOORS)
def test_every_door_gives_the_same_nodes(tmp_path, door):
    ds = node_doors(tmp_path / "mine")[door]
    assert isinstance(ds, NodeDataset) and ds.y.tolist() == [1, 0, 1] and ds.num_classes == 2
    assert ds.class_labels == (["blue", "red"] if door not in ("pyg", "dgl", "npz") else [0, 1])
    np.testing.assert_array_equal(ds.x, X[0])
    np.testing.assert_array_equal(ds.edges, [[1, 0], [0, 1], [2, 1], [1, 2]])
    np.testing.assert_array_equal(ds.edge_weights, [2, 2, 0.5, 0.5])
    assert [ds.nodes(split).tolist() for split in ("train", "val", "test")] == [[0, 1], [], [2]]


def test_weights_of_one_are_none():
    graphs = [nx.path_graph(3)]
    nx.set_edge_attributes(graphs[0], 1.0, "weight")
    assert "edge_weights" not in GraphDataset.from_networkx(graphs).arrays()
    assert NodeDataset(np.ones((2, 2)), np.eye(2), [0, 1]).edge_weights is None
    assert "edge_weights" not in GraphDataset.from_networkx(networkx_graphs(), edge_weight=None).arrays()


def test_edges_without_a_weight_have_one():
    graph = nx.path_graph(3)
    graph.edges[0, 1]["weight"] = 3
    assert GraphDataset.from_networkx([graph])[0].edge_weights.tolist() == [3, 3, 1, 1]


def test_directed_tables():
    table = {"graph": [0, 0], "source": [1, 2], "target": [2, 3]}
    assert len(GraphDataset.from_pandas(table)[0].edges) == 4
    assert GraphDataset.from_pandas(table, directed=True)[0].edges.tolist() == [[0, 1], [1, 2]]
    both = {"graph": [0, 0], "source": [1, 2], "target": [2, 1], "weight": [3.0, 4.0]}
    assert GraphDataset.from_pandas(both)[0].edge_weights.tolist() == [4, 3]  # not added up


class TestEncode:
    """A model sees new graphs as it saw those it learned from."""

    def molecules(self, *atoms):
        graph = nx.path_graph(len(atoms))
        nx.set_node_attributes(graph, dict(enumerate(atoms)), "label")
        return graph

    def test_an_o_stays_an_o(self):
        train = GraphDataset.from_networkx([self.molecules("C", "N", "O")], ["x"])
        for new in (
            train.encode([self.molecules("C", "O")]),
            GraphDataset.from_networkx([self.molecules("C", "O")], like=train),
            GraphDataset.from_networkx([self.molecules("C", "O")], like=Encoder.from_json(train.encoder.to_json())),
        ):
            np.testing.assert_array_equal(new[0].x, [[1, 0, 0], [0, 0, 1]])
            assert new.encoder == train.encoder
        with pytest.raises(DataFormatError, match="node label 'S' did not occur"):
            train.encode([self.molecules("C", "O", "S")])
        other = GraphDataset.from_networkx([self.molecules("C", "N", "O")], ["x"], unknown="other")
        np.testing.assert_array_equal(other.encode([self.molecules("S")])[0].x, [[0, 0, 0, 1]])

    def test_classes_keep_their_numbers(self):
        train = GraphDataset.from_networkx(networkx_graphs(), LABELS)
        assert train.encode(networkx_graphs()[:1], ["path"]).y.tolist() == [1]
        new = train.encode(networkx_graphs())
        assert new.class_labels == train.class_labels and new.y.tolist() == [-1, -1]
        with pytest.raises(DataFormatError, match="class 'ring' is not one of"):
            train.encode(networkx_graphs()[:1], ["ring"])
        assert train[:1].encoder == train.encoder

    def test_of_other_objects(self):
        train = GraphDataset([Graph(np.ones((2, 3)), [])], ["x"])
        assert train.encode([Graph(np.zeros((1, 3)), [])]).num_features == 3
        with pytest.raises(DataFormatError, match="3 attributes of each node, but these nodes have 2"):
            train.encode([Graph(np.zeros((1, 2)), [])])
        train = GraphDataset.from_pyg(pyg_graphs(), LABELS)
        assert train.encode(pyg_graphs())[0].x.tolist() == X[0]

    def test_after_other_features_were_chosen(self):
        train = GraphDataset.from_networkx([self.molecules("C", "N", "O")], ["x"]).with_features("attributes+degree")
        assert train.encoder.kind == "labels+degree"
        np.testing.assert_array_equal(
            train.encode([self.molecules("N", "O")])[0].x, [[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 1, 0]]
        )

    def test_other_features_keep_the_channel_for_others(self):
        train = GraphDataset.from_networkx([self.molecules("C", "N")], unknown="other")
        train = train.with_features("attributes+degree")
        assert train.num_features == train.encoder.width == train.encode([self.molecules("S")]).num_features

    def test_files_in_tu_layout(self, tu_folder):
        train = data.load(tu_folder())
        new = data.load(tu_folder("NEW", graph_labels=None, node_labels="9\n9\n9\n9\n9\n5\n"), like=train)
        np.testing.assert_array_equal(new[2].x, [[1, 0, 0]])
        np.testing.assert_array_equal(new[0].x, [[0, 0, 1]] * 3)
        assert new.y.tolist() == [-1, -1, -1]
        with pytest.raises(DataFormatError, match="node label 8 did not occur"):
            data.load(tu_folder("NEW", node_labels="8\n9\n9\n9\n9\n5\n"), like=train)
        with pytest.raises(DataFormatError, match="no file NEW_graph_labels"):
            data.load(tu_folder("NEW", graph_labels=None))
        with pytest.raises(DataFormatError, match="like must be a data set, an Encoder or the path"):
            data.load(tu_folder(), like=3)
        with pytest.raises(DataFormatError, match="MUTAG is no file of an encoder"):
            data.load(tu_folder(), like="MUTAG")

    def test_a_file_beside_a_model(self, tmp_path):
        train = GraphDataset.from_networkx([self.molecules("C", "N", "O")] * 2, ["yes", "no"])
        train.save_encoder(tmp_path / "encoder.json")
        new = GraphDataset.from_networkx([self.molecules("O", "C")], ["yes"], like=str(tmp_path / "encoder.json"))
        np.testing.assert_array_equal(new[0].x, [[0, 0, 1], [1, 0, 0]])
        assert (new.encoder, new.target, new.y.tolist()) == (train.encoder, train.target, [1])
        nodes = NodeDataset.from_networkx(self.molecules("C", "N"))
        nodes.save_encoder(tmp_path / "nodes.json")
        again = NodeDataset.from_networkx(self.molecules("N", "C"), like=tmp_path / "nodes.json")
        np.testing.assert_array_equal(again.x, nodes.x[::-1])
        (tmp_path / "nodes.json").write_text("[]")
        with pytest.raises(DataFormatError, match="is no file of an encoder"):
            NodeDataset.from_networkx(self.molecules("N"), like=tmp_path / "nodes.json")

    def test_targets_of_any_kind_may_be_left_aside(self, tmp_path, tu_folder):
        (tmp_path / "mine").mkdir()
        for name, part in (("edges", EDGES), ("nodes", NODES)):
            write_csv(tmp_path / f"mine/{name}.csv", part)
        (tmp_path / "mine/graphs.csv").write_text("graph,label\n7,0.5\n9,high\n")
        with pytest.raises(DataFormatError, match="mixed kinds"):
            data.load(tmp_path / "mine")
        assert data.load(tmp_path / "mine", labelled=False).y.tolist() == [0, 0]
        (tmp_path / "mine/graphs.csv").unlink()
        assert len(data.load(tmp_path / "mine", labelled=False)) == 2
        np.savez(tmp_path / "graphs.npz", edges=[[0, 1]], sizes=[2], edge_counts=[1], y=[[1, 2]])
        assert data.load(tmp_path / "graphs.npz", labelled=False).y.tolist() == [0]
        np.savez(tmp_path / "nodes.npz", edges=[[0, 1]], x=np.eye(2), y=[[1, 2], [3, 4]], train_mask=[0])
        assert data.load(tmp_path / "nodes.npz", labelled=False).y.tolist() == [-1, -1]
        (tmp_path / "csr").mkdir()
        for name, part in (("indptr", [0, 0, 1]), ("indices", [0]), ("x", np.eye(2)), ("train", [0])):
            np.save(tmp_path / f"csr/{name}.npy", part)
        with pytest.raises(DatasetNotFoundError, match=r"y\.npy is not there"):
            data.load(tmp_path / "csr")
        assert data.load(tmp_path / "csr", labelled=False).y.tolist() == [-1, -1]
        assert data.load(tu_folder("NEW", graph_labels=None), labelled=False).y.tolist() == [-1] * 3

    def test_nodes_of_another_graph(self):
        graph = self.molecules("C", "N", "O")
        nx.set_node_attributes(graph, {0: "a", 1: "b", 2: "a"}, "y")
        train = NodeDataset.from_networkx(graph)
        new = NodeDataset.from_networkx(self.molecules("O", "C"), like=train)
        np.testing.assert_array_equal(new.x, [[0, 0, 1], [1, 0, 0]])
        assert new.class_labels == ["a", "b"] and new.y.tolist() == [-1, -1]


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: GraphDataset([nx.path_graph(2)]), "there is a Graph in it; networkx graphs go to"),
            (lambda: GraphDataset([]), "at least one graph"),
            (lambda: GraphDataset(Graph(np.eye(2), [])), "this is one Graph, but a list"),
            (lambda: GraphDataset.from_edge_index(PAIRS, X), r"edge_index must have the shape \[2, E\]"),
            (lambda: GraphDataset.from_edge_index([[[0], [1]]]), "x or num_nodes must be given"),
            (lambda: GraphDataset.from_edge_index([[[0], [1]]], num_nodes=[1]), "node 1"),
            (
                lambda: GraphDataset.from_edge_index([[[0], [1]]], num_nodes=[2], edge_weights=[[1, 2]]),
                "each of the 1 edges",
            ),
            (lambda: GraphDataset.from_edge_index([[[0], [1]]], num_nodes=[2], edge_weights=[[-1]]), "not negative"),
            (
                lambda: GraphDataset.from_edge_index([[[0], [1]]], num_nodes=[2], labels=[0, 1]),
                "1 graphs, but 2 labels",
            ),
            (lambda: GraphDataset.from_pyg([object()]), "not one of PyG's Data"),
            (lambda: GraphDataset.from_pyg([{"edge_index": [[0], [1]]}]), "neither x nor num_nodes"),
            (lambda: GraphDataset.from_dgl([object()]), "not one of DGL's graphs"),
            (lambda: GraphDataset.from_pandas({"a": [1]}), "no column 'source'; it has a"),
            (lambda: GraphDataset.from_pandas({**EDGES, "weight": ["x", 1, 2]}), "must hold numbers, but has 'x'"),
            (lambda: GraphDataset.from_pandas(EDGES, {**NODES, "node": list("aaaab")}), "twice"),
            (lambda: GraphDataset.from_pandas(EDGES, {**NODES, "node": list("zabcb")}), "not both nodes"),
            (lambda: GraphDataset.from_pandas(EDGES, NODES, {"graph": [7], "label": [1]}), "graph 9 is not in both"),
            (lambda: GraphDataset.from_networkx(networkx_graphs(), [0.5, "a"]), "mixed kinds"),
            (
                lambda: GraphDataset.from_pandas(EDGES, NODES, {"graph": [7, 9], "label": ["1.5", "high"]}),
                "'label' is of mixed kinds: it has the number 1.5 and the text 'high'",
            ),
            (lambda: NodeDataset.from_pyg(SimpleNamespace(edge_index=1)), "needs edge_index, x and y"),
            (lambda: GraphDataset.from_networkx(nx.path_graph(2)), "this is one Graph, but a list of networkx graphs"),
            (lambda: GraphDataset.from_networkx([3]), "a int is not one of networkx's graphs"),
            (
                lambda: GraphDataset.from_pandas({**EDGES, "source": ["a", "", "a"]}),
                "row 1 of the edges has no 'source'",
            ),
            (
                lambda: GraphDataset.from_pandas(EDGES, {**NODES, "label": list("CC") + [""] * 3}),
                "3 of 5 nodes have no",
            ),
            (
                lambda: NodeDataset.from_pandas(NODE_EDGES, {**NODE_TABLE, "split": ["train", "valid", ""]}),
                "the split of a node is 'valid'",
            ),
            (lambda: NodeDataset.from_edge_index([[0], [1]], np.eye(2), [0, 1, 2]), "y must have one class for each"),
        ],
    )
    def test_is_refused_in_a_sentence(self, make, words):
        with pytest.raises(DataFormatError, match=words):
            make()

    def test_files(self, tmp_path, monkeypatch):
        (tmp_path / "a.csv").write_text("source,target\n1,2\n")
        with pytest.raises(DataFormatError, match="is one table"):
            data.load(tmp_path / "a.csv")
        (tmp_path / "bad.npz").write_bytes(b"PK")
        with pytest.raises(DataFormatError, match="not a whole zip file"):
            data.load(tmp_path / "bad.npz")
        np.savez(tmp_path / "b.npz", x=np.eye(2))
        with pytest.raises(DataFormatError, match="no array 'y'"):
            data.load(tmp_path / "b.npz")
        np.savez(tmp_path / "c.npz", x=np.array([{}], object))
        with pytest.raises(DataFormatError, match="plain arrays"):
            data.load(tmp_path / "c.npz")
        with monkeypatch.context() as patch, pytest.raises(DataFormatError, match="zip bomb"):
            patch.setattr(archive, "MAX_BYTES", 100)
            data.load(tmp_path / "b.npz")
        np.savez(tmp_path / "many.npz", sizes=[1 << 40], edge_counts=[1], edges=[[0, 1]])
        with pytest.raises(DataFormatError, match=r"below 2\^31"):
            data.load(tmp_path / "many.npz")
        np.savez(tmp_path / "d.npz", sizes=[2], edge_counts=[3], edges=[[0, 1]])
        with pytest.raises(DataFormatError, match="add up to the edges"):
            data.load(tmp_path / "d.npz")
        for text, words in (
            ("", "is empty"),
            ("a,a\n1,2\n", "two columns"),
            ("a,b\n1\n", "1 in row 2"),
            ("a\n\xff", "CSV"),
        ):
            (tmp_path / "t.csv").write_bytes(text.encode("latin1"))
            with pytest.raises(DataFormatError, match=words):
                GraphDataset.from_pandas(tmp_path / "t.csv")


def test_graphs_without_a_target_are_unknown_and_no_class():
    items = pyg_graphs()
    items[0].y = Tensor([3])
    assert GraphDataset.from_pyg(items).y.tolist() == [0, -1] and GraphDataset.from_pyg(items).class_labels == [3]
    batch = SimpleNamespace(to_data_list=lambda: items)
    assert GraphDataset.from_pyg(batch).y.tolist() == GraphDataset.from_pyg([batch]).y.tolist() == [0, -1]


def test_columns_of_text():
    def targets(**columns):
        return GraphDataset.from_pandas(EDGES, NODES, {"graph": [7, 9], **columns})

    assert targets(label=["1", "nan"]).y.tolist() == [0, -1]
    assert targets(label=["1", None]).class_labels == [1], "as pandas has a column of text with a gap"
    np.testing.assert_array_equal(targets(label=["1.5", float("nan")]).y, [[1.5], [float("nan")]])
    assert targets(a=["-1", "1"], b=["0", ""]).target.kind == "multilabel"
    assert targets(label=["7", "x"], other=["a", "b"]).class_labels == ["7", "x"]
    for gap in ("NA", "?", "None"):
        for number in ("1", "1.5"):
            with pytest.raises(DataFormatError, match="leave the field empty"):
                targets(label=[number, gap])
    with pytest.raises(DataFormatError, match="'smiles' has the text 'CO'; call the column with the target 'label'"):
        targets(smiles=["C", "CO"][::-1], mass=["1.5", "2"])


def test_masks_of_zeros_and_ones():
    for mask in ([1, 0, 0], np.array([1, 0, 0], np.uint8)):
        assert NodeDataset([[0, 1]], np.eye(3), [0, 1, 1], train_mask=mask).nodes("train").tolist() == [0]
        ds = NodeDataset.from_csr([0, 0, 1, 1], [0], np.eye(3), np.array([0, 1, 1]), train=mask)
        assert ds.nodes("train").tolist() == [0]
    assert NodeDataset([[0, 1]], np.eye(3), [0, 1, 1], train_mask=[0, 1]).nodes("train").tolist() == [0, 1]
    assert NodeDataset([[0, 1]], np.eye(2), [0, 1], train_mask=[1, 0]).nodes("train").tolist() == [0, 1]


def test_repeated_edges_of_weight_one_are_added_up():
    repeated = nx.MultiGraph()
    repeated.add_weighted_edges_from([(0, 1, 1.0), (0, 1, 1.0)])
    np.testing.assert_array_equal(GraphDataset.from_networkx([repeated])[0].edge_weights, [2, 2])
    table = {"source": [0, 0], "target": [1, 1], "graph": [0, 0]}
    assert not GraphDataset.from_pandas(table).weighted
    np.testing.assert_array_equal(GraphDataset.from_pandas({**table, "weight": [1, 1]})[0].edge_weights, [2, 2])


def test_what_is_not_read_is_told(caplog, tmp_path):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, "C", "atom")
    nx.set_edge_attributes(graph, "single", "bond")
    GraphDataset.from_networkx([graph])
    assert "bond is left aside" in caplog.text and "neither 'label' nor 'x', but atom" in caplog.text
    caplog.clear()
    NodeDataset.from_networkx(nx.karate_club_graph(), y="club")
    GraphDataset.from_networkx([graph], node_label="atom", edge_weight=None)
    assert "neither" not in caplog.text
    np.savez(tmp_path / "nodes.npz", edges=[[0, 1]], x=np.eye(2), y=[0, 1], edge_weight=[2.0])
    np.savez(tmp_path / "graphs.npz", edges=[[0, 1]], sizes=[2], edge_counts=[1], y=[0], weight=[2.0])
    for name, array in (("nodes", "edge_weight"), ("graphs", "weight")):
        caplog.clear()
        data.load(tmp_path / f"{name}.npz")
        assert f"{name}.npz: {array} is not used" in caplog.text


def test_new_nodes_need_no_targets_for_their_splits():
    train = NodeDataset.from_pandas(NODE_EDGES, NODE_TABLE)
    new = NodeDataset.from_pandas(NODE_EDGES, {**NODE_TABLE, "y": [None] * 3}, like=train)
    assert new.y.tolist() == [-1] * 3 and new.num_classes == 2


def test_edge_attributes_are_left_aside_with_a_word(caplog):
    GraphDataset.from_pyg(pyg_graphs(edge_attr=Tensor([1])), LABELS)
    assert "edge_attr is left aside" in caplog.text
    caplog.clear()
    GraphDataset.from_pandas({**EDGES, "colour": [1, 2, 3]})
    assert "colour is left aside" in caplog.text


class TestNodeSplits:
    @pytest.fixture
    def ds(self):
        y = np.repeat([0, 1, -1], [60, 30, 10])
        return NodeDataset([[0, 1]], np.eye(100), y)

    def test_shares_and_numbers(self, ds):
        split = ds.random_split(0.5, 0.25, seed=1)
        sizes = [len(split.nodes(part)) for part in ("train", "val", "test")]
        assert sizes == [45, 22, 23] and len(ds.nodes("train")) == 0
        chosen = np.concatenate([split.nodes(part) for part in ("train", "val", "test")])
        assert len(set(chosen)) == 90 and (split.y[chosen] >= 0).all()
        assert [len(ds.random_split(20, 5, 7).nodes(part)) for part in ("train", "val", "test")] == [20, 5, 7]
        np.testing.assert_array_equal(ds.random_split(seed=3).train_mask, ds.random_split(seed=3).train_mask)
        assert not np.array_equal(ds.random_split(seed=3).train_mask, ds.random_split(seed=4).train_mask)

    def test_many_classes_as_group_after_group(self, ds):
        y = np.random.default_rng(1).integers(-1, 30, 500)
        ds = NodeDataset([[0, 1]], np.ones((500, 1)), y)
        made = ds.stratified_split(0.5, 0.2, seed=3)
        rng = np.random.default_rng(3)
        order, place = rng.permutation(np.flatnonzero(y >= 0)), np.empty(500)
        for group in range(30):
            members = order[y[order] == group]
            place[members] = (np.arange(len(members)) + rng.random()) / len(members)
        ranked = order[np.argsort(place[order], kind="stable")]
        assert made.nodes("train").tolist() == sorted(ranked[: round(0.5 * len(order))].tolist())

    def test_classes_in_like_shares(self, ds):
        split = ds.stratified_split(0.5, 0.2, seed=2)
        for part, count in (("train", 45), ("val", 18), ("test", 27)):
            counts = np.bincount(split.y[split.nodes(part)])
            np.testing.assert_allclose(counts, [count * 2 / 3, count / 3], atol=1.01)

    @pytest.mark.parametrize("parts", [(0.9, 0.2), (1.5, 0.1), (-1, 0.1), (80, 20)])
    def test_too_much(self, ds, parts):
        with pytest.raises(DataFormatError, match=r"train must be|only 90 have a target"):
            ds.random_split(*parts)


def test_sparse_features_stay_sparse():
    x = sp.random(50, 30, 0.1, format="coo", random_state=0)
    ds = NodeDataset([[0, 1]], x, np.zeros(50, int), normalize_features="row")
    assert sp.issparse(ds.x) and ds.x.dtype == np.float32 and ds.x.has_sorted_indices
    dense = NodeDataset([[0, 1]], x.toarray(), np.zeros(50, int), normalize_features="row").x
    np.testing.assert_allclose(ds.x.toarray(), dense, rtol=1e-6)
    assert ds.with_features("attributes+degree").x.shape == (50, 32)
    assert ds.nonzero_share == np.count_nonzero(dense) / 1500


def test_features_of_a_file_are_normalised_if_asked(tmp_path):
    x = sp.csr_array(np.array([[1.0, 3.0], [0.0, 0.0]]))
    parts = {f"x_{part}": getattr(x, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "mine.npz", edges=[[0, 1]], y=[0, 1], **parts)
    ds = data.load(tmp_path / "mine.npz", normalize_features="row")
    np.testing.assert_array_equal(ds.x.toarray(), [[0.25, 0.75], [0, 0]])
    np.savez(tmp_path / "bad.npz", edges=[[0, 1]], y=[0, 1], **{**parts, "x_indices": np.array([0, 99])})
    with pytest.raises(DataFormatError, match="no CSR matrix"):
        data.load(tmp_path / "bad.npz")


# The examples in the docstrings.

EXAMPLES = [Graph, GraphDataset, NodeDataset, NodeDataset.random_split]
EXAMPLES += [
    getattr(GraphDataset, f"from_{door}") for door in ("networkx", "edge_index", "pyg", "dgl", "pandas", "npz")
]
EXAMPLES += [getattr(NodeDataset, f"from_{door}") for door in ("networkx", "edge_index", "pyg", "dgl", "pandas", "npz")]


@pytest.mark.parametrize("item", EXAMPLES, ids=lambda item: item.__qualname__)
def test_the_example_in_the_docstring_runs(item, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(item), re.DOTALL)
    ndata = {"feat": Tensor(X[0]), "label": Tensor([1, 0, 1])}
    cora = DGLGraph(PAIRS[0], ndata, {})
    graphs = [(DGLGraph(PAIRS[0], {"attr": Tensor(X[0]), "feat": Tensor(X[0])}, {}), Tensor(0))]
    names = {
        "TUDataset": lambda *_: pyg_graphs(y=Tensor([1])),
        "Planetoid": lambda *_: [SimpleNamespace(edge_index=np.transpose(PAIRS[0]), x=np.eye(3), y=np.zeros(3, int))],
        "dgl": SimpleNamespace(
            data=SimpleNamespace(GINDataset=lambda *_, **__: graphs, CoraGraphDataset=lambda: [cora])
        ),
    }
    names |= {
        "np": np,
        "nx": nx,
        "data": data,
        "Graph": Graph,
        "GraphDataset": GraphDataset,
        "NodeDataset": NodeDataset,
    }
    exec(textwrap.dedent(code), names)
    assert any(isinstance(value, (Graph, GraphDataset, NodeDataset)) for value in names.values())
