import io
import logging

import numpy as np
import pytest

from ganet_tf.data import tu
from ganet_tf.data.tu import read_columns, read_numbers, read_tu, tu_zip
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


def test_graph_attributes_without_labels_are_for_regression(tu_folder):
    raw = read_tu(tu_folder(graph_labels=None, graph_attributes="0.5, 1\n1, 2\n2, 3\n"))
    np.testing.assert_array_equal(raw.y, [[0.5, 1], [1, 2], [2, 3]])
    assert raw.y.dtype == np.float32 and len(raw.class_labels) == 0


def test_new_graphs_need_no_labels(tu_folder):
    assert read_tu(tu_folder(graph_labels=None), labelled=False).y.tolist() == [-1, -1, -1]


def test_the_labels_themselves_are_kept(tu_folder):
    raw = read_tu(tu_folder(node_labels="5, 0\n9, 0\n5, 1\n7, 0\n7, 1\n9, 0\n"))
    assert raw.label_values == [[5, 7, 9], [0, 1]]


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


def test_a_slip_of_the_pen_is_named(tu_folder, caplog):
    folder = tu_folder(edge_labels=None, node_lables="1\n" * 6, readme="hello")
    read_tu(folder)
    assert len(caplog.records) == 1
    assert "TINY_node_lables.txt is not a file of the TU layout (did you mean 'TINY_node_labels.txt'?)" in caplog.text


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
        ({"graph_labels": "-1.5\n1\n2\n"}, "regression targets belong into TINY_graph_attributes.txt"),
        ({"graph_labels": "nan\n1\n2\n"}, "must hold integers"),
        ({"graph_labels": "inf\n1\n2\n"}, "integers below 2\\^53, but has inf"),
        ({"graph_labels": "1e300\n1\n2\n"}, "integers below 2\\^53"),
        ({"graph_labels": "9007199254740993\n1\n2\n"}, "integers below 2\\^53"),
        ({"node_labels": "5\n9\n5\n7\n7\n99999999999999999999\n"}, "out of range"),
        ({"node_labels": "5, 9\n5\n7\n7, 8, 9\n9, 1\n1, 1\n"}, "2 numbers in each line, but line 2 has 1"),
        ({"node_attributes": "1, 2\n3\n4, 5\n6, 7, 8\n9, 1\n1, 1\n"}, "but line 2 has 1"),
        ({"A": "1, 2\n2,\n2, 3\n3, 2\n3,\n1, 3\n", "edge_labels": None}, "2 numbers in each line, but line 2 has 1"),
        ({"graph_labels": None, "graph_attributes": "0.5\n1\n"}, "2 lines, but there are 3 graphs"),
        ({"graph_labels": None, "graph_attributes": "0.5\nnan\n1\n"}, "NaN"),
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


def read(text, dtype=np.int32, columns=None):
    return read_numbers(io.BytesIO(text), "file.txt", dtype, columns)


def test_separators():
    expected = [[1, 2], [3, -4]]
    for text in (b"1, 2\n3, -4\n", b"1,2\r\n3,-4", b"1\t2\n3\t-4\n\n", b" 1 2 \n 3 -4 \n"):
        np.testing.assert_array_equal(read(text), expected)
    np.testing.assert_allclose(read(b"1e-3,2.5\n-1,.5\n", np.float32), [[1e-3, 2.5], [-1, 0.5]])


def test_empty_files():
    assert read(b"").shape == (0, 1) and read(b"\n\n", columns=2).shape == (0, 2)


def test_many_pieces_are_put_together(monkeypatch):
    monkeypatch.setattr(tu, "CHUNK", 64)
    monkeypatch.setattr(tu, "READ", 16)
    numbers = np.arange(1000, dtype=np.int32).reshape(-1, 2)
    text = "".join(f"{a}, {b}\n" for a, b in numbers).encode()
    np.testing.assert_array_equal(read(text), numbers)
    np.testing.assert_array_equal(read(text[:-1]), numbers)
    columns = read_columns(io.BytesIO(text), "file.txt", np.int32, 2)
    np.testing.assert_array_equal(np.stack(columns, axis=1), numbers)
    with pytest.raises(DataFormatError, match="64 bytes with no end of a line"):
        read(b"1 " * 100)
    np.testing.assert_array_equal(read(text + b"\n \n" * 10), numbers)
    with pytest.raises(DataFormatError, match="but line 501 has 0"):
        read(text + b"\n" * 20 + b"1, 2\n")
    lines = text.splitlines(keepends=True)
    for cut in (0, 7, 250, 499):
        damaged = b"".join([*lines[:cut], lines[cut][:2] + b"\n", *lines[cut + 1 :]])
        with pytest.raises(DataFormatError, match=f"but line {cut + 1} has 1"):
            read(damaged, columns=2)


@pytest.mark.parametrize("text", [b"1, 2\n3, 4\n", b"1 2\n3 4\n", b"1;2\r\n3;4", b"1\t2\n3,4\n"])
def test_a_line_more_or_less_is_noticed_in_every_spelling(text):
    np.testing.assert_array_equal(read(text, columns=2), [[1, 2], [3, 4]])
    with pytest.raises(DataFormatError, match=r"2 numbers in each line"):
        read(text.replace(b"3", b""), columns=2)


@pytest.mark.parametrize(
    ("text", "dtype", "columns", "words"),
    [
        (b"1\ntwo\n3\n", np.int32, 1, "not a number: 'two'"),
        (b"1.5\n", np.int32, 1, "not a number: '1.5'"),
        (b"<html>\n", np.float32, 1, "not a number: '<html>'"),
        (b"\x89PNG\n", np.float32, 1, "not a number"),
        (b"1 2\n3\n", np.int32, 2, "2 numbers in each line"),
        (b"3000000000\n", np.int32, 1, "out of range"),
        (b"1\n99999999999999999999999\n", np.int64, 1, "out of range"),
        (b"1\n-99999999999999999999999\n", np.int64, 1, "out of range"),
        (b"1, 2\n3,\n4, 5\n6, 7\n8,\n", np.int32, 2, "2 numbers in each line, but line 2 has 1"),
        (b"1, 2, 3\n4\n", np.int32, 2, "2 numbers in each line, but line 1 has 3"),
        (b"1 2 3\n4\n5 6\n", np.int32, 2, "2 numbers in each line, but line 1 has 3"),
        (b"1, 2\n3 4, 5\n6,\n", np.int32, 2, "2 numbers in each line, but line 2 has 3"),
        (b"1, 2\n\n3, 4\n", np.int32, 2, "2 numbers in each line, but line 2 has 0"),
        (b"1\n\n3\n", np.int32, 1, "1 number in each line, but line 2 has 0"),
        (b"1, 2\n3,, 4\n5\n", np.int32, 2, "2 numbers in each line, but line 3 has 1"),
        (b"1, 2, \n3, 4, 5\n", np.float32, 3, "3 numbers in each line, but line 1 has 2"),
        (b"1, 2, 3\n4, , 6\n", np.int32, 3, "3 numbers in each line, but line 2 has 2"),
        (b" \n1\n", np.int32, 1, "1 number in each line, but line 1 has 0"),
        (b"0,5; 1\n0,7; 2\n", np.float32, None, "both ',' and ';'"),
        (b"1, 2\n3, x\n", np.int32, 2, "not a number: 'x' in line 2"),
        (b"1\n-\n", np.int32, 1, "not a number: '-' in line 2"),
        (b"- 1\n", np.int32, 1, "1 number in each line, but line 1 has 2"),
        (b"1\x002\n", np.int32, 1, "not a number"),
    ],
)
def test_bad_text(text, dtype, columns, words):
    with pytest.raises(DataFormatError, match=f"file.txt.*{words}"):
        read(text, dtype, columns)


DGCNN = b"""2
3 1
0 2 1 2
4 2 0 2
0 2 0 1
2 0
1 1 1
1 1 0
"""


def test_it_becomes_tu(tmp_path):
    (tmp_path / "T.zip").write_bytes(tu_zip(DGCNN, "T"))
    raw = read_tu(tmp_path / "T.zip")
    np.testing.assert_array_equal(raw.node_offsets, [0, 3, 5])
    np.testing.assert_array_equal(raw.degrees, [2, 2, 2, 1, 1])
    np.testing.assert_array_equal(raw.node_labels[:, 0], [0, 2, 0, 1, 1])
    np.testing.assert_array_equal(raw.y, [1, 0])
    np.testing.assert_array_equal(raw.edges[-2:], [[1, 0], [0, 1]])
    assert tu_zip(DGCNN, "T") == tu_zip(DGCNN, "T")


@pytest.mark.parametrize("text", [b"", b"<html>", DGCNN[:30], DGCNN[:-3], DGCNN + b"7\n", b"1\n1 0\n0 -1\n"])
def test_bad_text_of_dgcnn(text):
    with pytest.raises(DataFormatError, match="DGCNN's format, or cut off"):
        tu_zip(text, "T")
