import numpy as np
import pytest

from ganet_tf.data.dgcnn_text import tu_zip
from ganet_tf.data.tu import read_tu
from ganet_tf.errors import DataFormatError

TEXT = b"""2
3 1
0 2 1 2
4 2 0 2
0 2 0 1
2 0
1 1 1
1 1 0
"""


def test_it_becomes_tu(tmp_path):
    (tmp_path / "T.zip").write_bytes(tu_zip(TEXT, "T"))
    raw = read_tu(tmp_path / "T.zip")
    np.testing.assert_array_equal(raw.node_offsets, [0, 3, 5])
    np.testing.assert_array_equal(raw.degrees, [2, 2, 2, 1, 1])
    np.testing.assert_array_equal(raw.node_labels[:, 0], [0, 2, 0, 1, 1])
    np.testing.assert_array_equal(raw.y, [1, 0])
    np.testing.assert_array_equal(raw.edges[-2:], [[1, 0], [0, 1]])
    assert tu_zip(TEXT, "T") == tu_zip(TEXT, "T")


@pytest.mark.parametrize("text", [b"", b"<html>", TEXT[:30], TEXT[:-3], TEXT + b"7\n", b"1\n1 0\n0 -1\n"])
def test_bad_text(text):
    with pytest.raises(DataFormatError, match="DGCNN's format, or cut off"):
        tu_zip(text, "T")
