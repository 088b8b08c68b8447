"""Objects of PyG, DGL and pandas themselves, where these are installed: look-alikes stand in for them elsewhere."""

import networkx as nx
import numpy as np
import pytest

from ganet_tf.data import GraphDataset, NodeDataset
from ganet_tf.errors import DataFormatError

INDEX = [[0, 1, 1, 2], [1, 0, 2, 1]]
WEIGHTS = [2.0, 2.0, 0.5, 0.5]
X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
NAN = float("nan")


def check_graph(graph):
    np.testing.assert_array_equal(graph.x, X)
    np.testing.assert_array_equal(graph.edges, [[1, 0], [0, 1], [2, 1], [1, 2]])
    np.testing.assert_array_equal(graph.edge_weights, WEIGHTS)


class TestPyG:
    @pytest.fixture
    def torch(self):
        pytest.importorskip("torch_geometric")
        return pytest.importorskip("torch")

    @pytest.fixture
    def make(self, torch):
        from torch_geometric.data import Data

        def make(**more):
            index, weights = torch.tensor(INDEX), torch.tensor(WEIGHTS)
            return Data(edge_index=index, x=torch.tensor(X, requires_grad=True), edge_weight=weights, **more)

        return make

    def test_list_batch_loader_and_data_set(self, torch, make):
        from torch_geometric.data import Batch, InMemoryDataset
        from torch_geometric.loader import DataLoader

        class Mine(InMemoryDataset):
            def __init__(self, items):
                super().__init__(None)
                self.data, self.slices = self.collate(items)

        items = [make(y=torch.tensor([number])) for number in (1, 0, 1)]
        batch = Batch.from_data_list(items)
        for given in (items, batch, DataLoader(items, 2), Mine(items), Mine(items)[:3]):
            ds = GraphDataset.from_pyg(given)
            assert ds.y.tolist() == [1, 0, 1] and ds.class_labels == [0, 1]
            check_graph(ds[2])
        assert GraphDataset.from_pyg(make(y=1)).y.tolist() == [0]
        assert ds.encode(items[:1]).y.tolist() == ds.encode(Batch.from_data_list(items[:1])).y.tolist() == [1]

    @pytest.mark.parametrize(
        ("y", "kind", "expected"),
        [
            ([[1], None, [0]], "classes", [1, -1, 0]),
            ([[[1.5]], [[NAN]], [[0.5]]], "regression", [[1.5], [NAN], [0.5]]),
            ([[[1.0, NAN]], [[0.0, 1.0]], None], "multilabel", [[1, NAN], [0, 1], [NAN, NAN]]),
            ([[[1.0, -1.0]], [[0.0, 1.0]], [[0.0, 0.0]]], "multilabel", [[1, NAN], [0, 1], [0, 0]]),
        ],
    )
    def test_targets(self, torch, make, y, kind, expected):
        ds = GraphDataset.from_pyg([make(y=None if part is None else torch.tensor(part)) for part in y])
        assert ds.target.kind == kind
        np.testing.assert_allclose(ds.y, expected)

    def test_nodes_with_one_and_with_several_splits(self, torch, make):
        mask = torch.tensor([True, False, False])
        ds = NodeDataset.from_pyg(make(y=torch.tensor([1, 0, -1]), train_mask=mask, val_mask=mask.roll(1)))
        assert ds.y.tolist() == [1, 0, -1] and ds.nodes("train").tolist() == [0] and ds.nodes("val").tolist() == [1]
        splits = [torch.stack([mask.roll(i), mask.roll(i + 1)], 1) for i in range(3)]
        names = ("train_mask", "val_mask", "test_mask")
        ds = NodeDataset.from_pyg(make(y=torch.tensor([1, 0, 0]), **dict(zip(names, splits, strict=True))))
        assert ds.num_splits == 2 and ds.published_split(2).nodes("test").tolist() == [0]

    def test_refusals(self, torch, make):
        from torch_geometric.data import Data, HeteroData

        index, hetero = torch.tensor(INDEX), HeteroData()
        hetero["a"].x = torch.ones(3, 2)
        with pytest.raises(DataFormatError, match="to_homogeneous"):
            GraphDataset.from_pyg([hetero])
        with pytest.raises(DataFormatError, match=r"cannot be read as an array.*to_dense"):
            GraphDataset.from_pyg([Data(edge_index=index, x=torch.eye(3).to_sparse())])
        with pytest.raises(DataFormatError, match="remove_edge_index=False"):
            GraphDataset.from_pyg([Data(adj_t=torch.eye(3), x=torch.eye(3))])

    def test_tensors_as_labels(self, torch):
        graphs = [nx.path_graph(3)] * 3
        assert GraphDataset.from_networkx(graphs, torch.tensor([5, 3, 5])).class_labels == [3, 5]
        assert GraphDataset.from_networkx(graphs, list(torch.tensor([5, 3, 5]))).class_labels == [3, 5]
        assert GraphDataset.from_networkx(graphs, torch.tensor([0.5, 1, 2])).target.kind == "regression"
        assert GraphDataset.from_networkx(graphs, torch.eye(3, dtype=int)).target.kind == "multilabel"


class TestDGL:
    @pytest.fixture
    def torch(self):
        pytest.importorskip("dgl", exc_type=ImportError)
        return pytest.importorskip("torch")

    def graph(self, torch, name="feat"):
        import dgl

        graph = dgl.graph(tuple(map(torch.tensor, INDEX)))
        graph.ndata[name], graph.edata["weight"] = torch.tensor(X), torch.tensor(WEIGHTS)
        return graph

    def test_graphs(self, torch, caplog):
        graph = self.graph(torch)
        for given, labels in (([graph] * 2, torch.tensor([4, 2])), ([(graph, torch.tensor(i)) for i in (4, 2)], None)):
            ds = GraphDataset.from_dgl(given, labels)
            assert ds.class_labels == [2, 4] and ds.y.tolist() == [1, 0]
            check_graph(ds[1])
        assert ds.encode([graph], [2]).y.tolist() == [0] and caplog.text == ""

    def test_nodes(self, torch):
        graph = self.graph(torch)
        graph.ndata["label"] = torch.tensor([1, 0, -1])
        graph.ndata["train_mask"] = torch.tensor([1, 0, 0], dtype=torch.uint8)
        ds = NodeDataset.from_dgl(graph)
        check_graph(ds)
        assert ds.y.tolist() == [1, 0, -1] and ds.nodes("train").tolist() == [0]

    def test_what_is_not_used_is_told_and_what_cannot_be_is_refused(self, torch, caplog):
        import dgl

        graph = self.graph(torch, "attr")
        graph.edata["bond"] = torch.ones(4, 2)
        assert GraphDataset.from_dgl([graph], [0]).features == "normalized_degree"
        assert "bond is left aside" in caplog.text and "ndata has no 'feat', but attr" in caplog.text
        for given in (graph, dgl.batch([graph, graph])):
            with pytest.raises(DataFormatError, match="this is one DGLGraph"):
                GraphDataset.from_dgl(given, [0])
        with pytest.raises(DataFormatError, match="several types"):
            GraphDataset.from_dgl([dgl.heterograph({("a", "to", "b"): ([0], [0])})], [0])


class TestPandas:
    @pytest.fixture
    def pd(self):
        return pytest.importorskip("pandas")

    @pytest.fixture
    def tables(self, pd):
        edges = {"graph": [7, 7, 9], "source": list("aba"), "target": list("bcb"), "weight": [2.0, 0.5, 1.0]}
        nodes = {"graph": [7, 9, 7, 7, 9], "node": list("aabcb"), "label": list("CCNON"), "q": [1, 4, 2, 3, 5]}
        return pd.DataFrame(edges, index=[5, 5, 1]), pd.DataFrame(nodes).iloc[::-1]

    def test_types_of_columns(self, pd, tables):
        labels = {
            "text": (["x", None], [0, -1], ("x",)),
            "category": (pd.Categorical(["x", "y"]), [0, 1], ("x", "y")),
            "Int64": (pd.array([3, None], dtype="Int64"), [0, -1], (3,)),
            "bool": ([True, False], [1, 0], (False, True)),
        }
        for values, y, classes in labels.values():
            for convert in (lambda frame: frame, lambda frame: frame.convert_dtypes()):
                graphs = convert(pd.DataFrame({"graph": [7, 9], "label": values}, index=[3, 3]))
                ds = GraphDataset.from_pandas(*map(convert, tables), graphs)
                # The table of nodes begins with graph 9.
                assert ds.target.labels == classes and ds.y.tolist() == y[::-1]
                assert ds.encoder.labels == (("C", "N", "O"),) and ds.sizes.tolist() == [2, 3]
                np.testing.assert_array_equal(ds[0].x, [[0, 1, 0, 5], [1, 0, 0, 4]])

    def test_numbers(self, pd, tables, caplog):
        def targets(**columns):
            return GraphDataset.from_pandas(*tables, pd.DataFrame({"graph": [9, 7], **columns}))

        np.testing.assert_array_equal(targets(label=[1.5, None]).y, [[1.5], [NAN]])
        several = targets(mass=[1.5, None], rings=[3, 4])
        np.testing.assert_array_equal(several.y, [[1.5, 3], [NAN, 4]])
        assert several.target.names == ("mass", "rings")
        answers = targets(a=pd.array([1, None], dtype="Int64"), b=[0, -1])
        assert answers.target.kind == "multilabel"
        np.testing.assert_array_equal(answers.y, [[1, 0], [NAN, NAN]])
        assert caplog.text == ""
        assert targets(label=[1, None]).target.kind == "regression"
        assert "for classes make the column 'Int64'" in caplog.text

    def test_nodes(self, pd):
        edges = pd.DataFrame({"source": [1, 2], "target": [2, 3]})
        nodes = pd.DataFrame({"node": [1, 2, 3], "y": ["b", "a", None], "split": ["train", "val", None], "q": 1.0})
        ds = NodeDataset.from_pandas(edges, nodes)
        assert ds.y.tolist() == [1, 0, -1] and ds.nodes("val").tolist() == [1]

    def test_refusals(self, pd, tables):
        edges, nodes = tables
        twice = pd.concat([nodes, nodes[["q"]]], axis=1)
        with pytest.raises(DataFormatError, match="two columns of the name 'q'"):
            GraphDataset.from_pandas(edges, twice)
        with pytest.raises(DataFormatError, match="2 of 5 nodes have no label"):
            GraphDataset.from_pandas(edges, nodes.assign(label=[6, None, 7, None, 8]))
        with pytest.raises(DataFormatError, match="row 1 of the edges has no 'graph'"):
            GraphDataset.from_pandas(edges.assign(graph=[7, None, 9]))
        frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
        assert GraphDataset.from_networkx([nx.path_graph(2)] * 2, frame).y.tolist() == [[0, 1], [1, 0]]
        assert GraphDataset.from_networkx([nx.path_graph(2)] * 2, frame["a"]).y.tolist() == [0, 1]
