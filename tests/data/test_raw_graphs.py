from ganet_tf.data.raw_graphs import RawGraphs
from ganet_tf.data.tu import read_tu


def test_the_digest_is_that_of_the_content(tu_folder):
    digest = read_tu(tu_folder(), quiet=True).digest()
    same = (
        {"node_labels": "0\n2\n0\n1\n1\n2\n"},  # other numbers for the same labels
        {"graph_labels": "0\n1\n0\n"},
        {"node_attributes": None},
        {"A": "5, 4\n4, 5\n2, 1\n1, 2\n3, 2\n2, 3\n1, 3\n3, 1\n", "edge_labels": None},  # another order
    )
    other = (
        {"node_labels": "5\n5\n9\n7\n7\n9\n"},
        {"graph_labels": "1\n-1\n-1\n"},
        {"A": "1, 2\n2, 1\n", "edge_labels": None},
        {"graph_indicator": "1\n1\n1\n2\n2\n2\n", "graph_labels": "-1\n1\n"},
    )
    assert all(read_tu(tu_folder(**change), quiet=True).digest() == digest for change in same)
    assert all(read_tu(tu_folder(**change), quiet=True).digest() != digest for change in other)


def test_arrays_by_name(tu_folder):
    raw = read_tu(tu_folder(), quiet=True)
    assert set(raw.arrays()) == RawGraphs.names()
    assert RawGraphs(**raw.arrays()).digest() == raw.digest()
