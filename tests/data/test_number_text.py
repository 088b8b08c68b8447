import io

import numpy as np
import pytest

from ganet_tf.data import number_text
from ganet_tf.data.number_text import read_columns, read_numbers
from ganet_tf.errors import DataFormatError


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
    monkeypatch.setattr(number_text, "CHUNK", 64)
    monkeypatch.setattr(number_text, "READ", 16)
    numbers = np.arange(1000, dtype=np.int32).reshape(-1, 2)
    text = "".join(f"{a}, {b}\n" for a, b in numbers).encode()
    np.testing.assert_array_equal(read(text), numbers)
    np.testing.assert_array_equal(read(text[:-1]), numbers)
    columns = read_columns(io.BytesIO(text), "file.txt", np.int32, 2)
    np.testing.assert_array_equal(np.stack(columns, axis=1), numbers)
    with pytest.raises(DataFormatError, match="longer than 64 bytes"):
        read(b"1 " * 100)


@pytest.mark.parametrize(
    ("text", "dtype", "columns", "words"),
    [
        (b"1\ntwo\n3\n", np.int32, 1, "not a number: 'two'"),
        (b"1.5\n", np.int32, 1, "not a number: '1.5'"),
        (b"<html>\n", np.float32, 1, "not a number: '<html>'"),
        (b"\x89PNG\n", np.float32, 1, "not a number"),
        (b"1 2\n3\n", np.int32, 2, "2 numbers in each line"),
        (b"3000000000\n", np.int32, 1, "out of range"),
    ],
)
def test_bad_text(text, dtype, columns, words):
    with pytest.raises(DataFormatError, match=f"file.txt.*{words}"):
        read(text, dtype, columns)
