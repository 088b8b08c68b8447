import logging

import numpy as np
import pytest

from ganet_tf.data.tu import read_tu
from ganet_tf.errors import DataFormatError


def test_folder_and_zip_give_the_same(tu_folder, tu_zip):
    from_folder, from_zip = read_tu(tu_folder()), read_tu(tu_zip())
    for name, array in from_folder.arrays().items():
        np.testing.assert_array_equal(array, from_zip.arrays()[name], err_msg=name)
    assert from_folder.digest() == from_zip.digest()


def test_what_is_read(tu_folder):
    raw = read_tu(tu_folder())
    np.testing.assert_array_equal(raw.edges, [[1, 0], [2, 0], [0, 1], [2, 1], [0, 2], [1, 2], [1, 0], [0, 1]])
    np.testing.assert_array_equal(raw.degrees, [2, 2, 2, 1, 1, 0])
    np.testing.assert_array_equal(raw.node_offsets, [0, 3, 5, 6])
    np.testing.assert_array_equal(raw.edge_offsets, [0, 6, 8, 8])
    np.testing.assert_array_equal(raw.y, [0, 1, 0])
    np.testing.assert_array_equal(raw.class_labels, [-1, 1])
    np.testing.assert_array_equal(raw.node_labels[:, 0], [0, 2, 0, 1, 1, 2])
    assert raw.node_label_counts.tolist() == [3]
    np.testing.assert_array_equal(raw.node_attributes[:, 0], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])


def test_only_the_needed_files(tu_folder):
    raw = read_tu(tu_folder(node_labels=None, node_attributes=None, edge_labels=None))
    assert raw.node_labels.shape == (6, 0) and raw.node_attributes.shape == (6, 0)


def test_no_edges_at_all(tu_folder):
    raw = read_tu(tu_folder(A="", edge_labels=None))
    assert raw.edges.shape == (0, 2) and raw.edge_offsets.tolist() == [0, 0, 0, 0]


def test_directions_are_kept(tu_folder):
    raw = read_tu(tu_folder(A="1, 2\n3, 2\n", edge_labels=None))
    np.testing.assert_array_equal(raw.edges, [[0, 1], [2, 1]])


def test_two_columns_of_node_labels(tu_folder):
    raw = read_tu(tu_folder(node_labels="5, 0\n9, 0\n5, 1\n7, 0\n7, 1\n9, 0\n"))
    assert raw.node_label_counts.tolist() == [3, 2]


def test_edge_features_are_left_aside_with_a_word(tu_folder, caplog):
    with caplog.at_level(logging.WARNING):
        read_tu(tu_folder())
        assert "TINY_edge_labels.txt is left aside" in caplog.text
        caplog.clear()
        read_tu(tu_folder(), quiet=True)
        assert not caplog.records


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"A": None}, "must have one file NAME_A.txt"),
        ({"graph_indicator": None}, "no file TINY_graph_indicator.txt"),
        ({"graph_labels": None}, "no file TINY_graph_labels.txt"),
        ({"A": "1, 7\n", "edge_labels": None}, "names node 7, but nodes go from 1 to 6"),
        ({"A": "0, 1\n", "edge_labels": None}, "names node 0"),
        ({"A": "1, -2\n", "edge_labels": None}, "names node -2"),
        ({"A": "1, 4\n", "edge_labels": None}, "different graphs"),
        ({"A": "1, 2\n3\n", "edge_labels": None}, "2 numbers in each line"),
        ({"A": "1, x\n", "edge_labels": None}, "TINY_A.txt has something that is not a number: 'x'"),
        ({"graph_indicator": "1\n1\n2\n1\n2\n3\n"}, "must ascend: line 4 has graph 1 after graph 2"),
        ({"graph_indicator": "1\n1\n1\n2\n2\n4\n"}, "a graph has no nodes: line 6 has graph 4, but graph 3"),
        ({"graph_indicator": "2\n2\n2\n3\n3\n4\n"}, "a graph has no nodes: line 1 has graph 2, but graph 1"),
        ({"graph_indicator": "0\n1\n1\n2\n2\n3\n"}, "graphs count from 1"),
        ({"graph_indicator": ""}, "no nodes"),
        ({"graph_labels": "-1\n1\n"}, "2 lines, but there are 3 graphs"),
        ({"graph_labels": "-1\n1\n1\n1\n"}, "4 lines, but only 3 graphs have nodes"),
        ({"graph_labels": "-1.5\n1\n2\n"}, "regression targets are not supported"),
        ({"graph_labels": "nan\n1\n2\n"}, "must hold integers"),
        ({"graph_labels": None, "graph_attributes": "0.5\n1\n2\n"}, "regression data set"),
        ({"node_labels": "5\n9\n"}, "TINY_node_labels.txt has 2 lines, but there are 6 nodes"),
        ({"node_attributes": "1\n" * 7}, "TINY_node_attributes.txt has 7 lines, but there are 6 nodes"),
        ({"node_attributes": "1\n1\nnan\n1\n1\n1\n"}, "NaN or infinite.*row 2"),
        ({"node_attributes": "1\n1\ninf\n1\n1\n1\n"}, "NaN or infinite"),
        ({"edge_labels": "0\n" * 9}, "TINY_edge_labels.txt has 9 lines, but there are 10 edges"),
        ({"edge_attributes": "0\n" * 11}, "TINY_edge_attributes.txt has 11 lines"),
    ],
)
def test_bad_files(tu_folder, changes, words):
    folder = tu_folder(**changes)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(DataFormatError, match=words):
        read_tu(folder)
    assert before == {file.name: file.read_bytes() for file in folder.iterdir()}


def test_two_data_sets_in_one_folder(tu_folder):
    folder = tu_folder()
    (folder / "OTHER_A.txt").write_text("1, 2\n")
    with pytest.raises(DataFormatError, match="there are 2"):
        read_tu(folder)
