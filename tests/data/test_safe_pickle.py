import os
import pickle
from collections import OrderedDict, defaultdict
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from ganet_tf.data.safe_pickle import load_pickle
from ganet_tf.errors import DataFormatError, UnsafeFileError


class Evil:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def dump(tmp_path, value, protocol=2):
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_arrays_matrices_and_neighbour_lists(tmp_path, protocol):
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(load_pickle(dump(tmp_path, array, protocol)), array)
    graph = defaultdict(list, {0: [1, 2], 1: [0]})
    assert load_pickle(dump(tmp_path, graph, protocol)) == graph


def test_matrix(tmp_path):
    matrix = sp.random(5, 4, 0.5, format="csr", random_state=0)
    loaded = load_pickle(dump(tmp_path, sp.csr_matrix(matrix)))
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    "value",
    [
        Evil(os.system, "touch {marker}"),
        Evil(eval, "open('{marker}', 'w')"),
        Evil(partial, print),
        Evil(np.load, "{marker}"),
        {"deep": [Evil(os.mkdir, "{marker}")]},
        OrderedDict(a=1),
        np.array([Evil(os.getcwd)], dtype=object),
    ],
    ids=["system", "eval", "partial", "numpy-function", "nested", "other-class", "object-array"],
)
def test_anything_else_is_refused_and_not_run(tmp_path, value, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = dump(tmp_path, value)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UnsafeFileError, match="is refused: it asks for"):
        load_pickle(path)
    assert sorted(tmp_path.iterdir()) == before


def test_references_to_outside_are_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"Pdatabase\n.")
    with pytest.raises(UnsafeFileError, match="outside"):
        load_pickle(tmp_path / "file")


@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x02]q\x00(", b"\x80\x02cnumpy\nndarray\n."])
def test_damaged_files(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(DataFormatError, match="not a readable pickle"):
        load_pickle(path)


class Rebuilt:
    """Pickles as a call and a state."""

    def __init__(self, function, arguments, state):
        self.parts = function, arguments, state

    def __reduce__(self):
        return self.parts


def matrix(**changes):
    """A CSR matrix of 3 x 4 with some parts replaced behind SciPy's back."""
    value = sp.csr_matrix(np.eye(3, 4))
    for name, part in changes.items():
        setattr(value, name, np.asarray(part) if name != "_shape" else part)
    return value


def array_call():
    return np.zeros(0).__reduce__()[0]


HOSTILE = {
    "ndarray called": Evil(np.ndarray, (4,), "O", b"A" * 32),
    "ndarray of numbers called": Evil(np.ndarray, (4,), "f8", b"A" * 32),
    "object type": Evil(np.dtype, "O8", False, True),
    "object type with forged flags": Rebuilt(np.dtype, ("O8", False, True), (3, "|", None, None, None, -1, -1, 0)),
    "type with fields": Rebuilt(np.dtype, ("V8", False, True), (3, "|", None, ("a",), {}, 8, 1, 0)),
    "number type that becomes objects": Rebuilt(np.dtype, ("f8", False, True), (3, "|", None, ("a",), {}, 8, 1, 63)),
    "scalar of objects": Evil(np.float64(0).__reduce__()[0], np.dtype("O"), b"A" * 8),
    "scalar with too few bytes": Evil(np.float64(0).__reduce__()[0], np.dtype("f8"), b"A" * 3),
    "array with too few bytes": Rebuilt(
        array_call(), (np.ndarray, (0,), b"b"), (1, (1000,), np.dtype("f8"), False, b"A" * 8)
    ),
    "array of negative shape": Rebuilt(array_call(), (np.ndarray, (0,), b"b"), (1, (-1,), np.dtype("f8"), False, b"")),
    "array of objects as a list": Rebuilt(
        array_call(), (np.ndarray, (0,), b"b"), (1, (2,), np.dtype("f8"), False, [1, 2])
    ),
    "indices beyond the columns": matrix(indices=np.array([0, 1, 99], np.int32)),
    "negative indices": matrix(indices=np.array([0, 1, -99], np.int32)),
    "indptr beyond the end": matrix(indptr=np.array([0, 1, 2, 99], np.int32)),
    "indptr that falls": matrix(indptr=np.array([0, 3, -5, 3], np.int32)),
    "indptr of another length": matrix(indptr=np.array([0, 3], np.int32)),
    "indices of another length": matrix(indices=np.array([0], np.int32)),
    "indices that are no integers": matrix(indices=np.array([0.0, 1.0, 2.0])),
    "a matrix too large to write out": matrix(_shape=(3, 1 << 40)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_that_would_read_foreign_memory(tmp_path, name, protocol):
    """Each of them ended the process, or could: types of objects made of bytes, indices out of bounds."""
    with pytest.raises(DataFormatError):
        load_pickle(dump(tmp_path, HOSTILE[name], protocol))


@pytest.mark.parametrize(
    "name", ["scipy.sparse.csr\ncsr_matrix", "numpy\nndarray", "numpy\ndtype", "collections\ndefaultdict"]
)
@pytest.mark.parametrize("state", [b"}U\x0c__setstate__K\x01s", b"N}U\x0c__setstate__K\x01s\x86", b"}U\x05valueK\x01s"])
def test_what_is_called_cannot_be_changed(tmp_path, name, state):
    (tmp_path / "file").write_bytes(b"\x80\x02c" + name.encode() + b"\n" + state + b"b.")
    with pytest.raises(DataFormatError):
        load_pickle(tmp_path / "file")
    value = sp.csr_matrix(np.eye(2))
    np.testing.assert_array_equal(load_pickle(dump(tmp_path, value)).toarray(), np.eye(2))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x80\x02)" + b"\x85" * 100_000 + b"q\x00}h\x00K\x01s.", "without end"),
        (b"\x80\x02]q\x00h\x00a.", "no array"),
        (b"\x80\x02" + b"]" * 50 + b"a" * 49 + b".", "no array"),
        (b"\x80\x04\x96" + (1 << 60).to_bytes(8, "little") + b".", "instruction"),
        (b"\x80\x02]r\xff\xff\xff\xff.", None),
        (b"\x80\x02\x8a\xff" + b"\xff" * 255 + b".", None),
        (b"(i__main__\nX\n.", "instruction"),
        (b"\x80\x02\x82\x01.", "instruction"),
    ],
    ids=["deep tuple as a key", "list in itself", "deep list", "huge buffer", "huge memo", "long", "inst", "extension"],
)
def test_what_makes_a_machine_stumble(tmp_path, data, words):
    (tmp_path / "file").write_bytes(data)
    if words is None:
        load_pickle(tmp_path / "file")
    else:
        with pytest.raises(DataFormatError, match=words):
            load_pickle(tmp_path / "file")


def test_shared_parts_are_looked_at_once(tmp_path):
    """A list of a thousand times one list of a thousand times one list ...: 10^9 parts, but four lists."""
    value = [1] * 1000
    for _ in range(2):
        value = [value] * 1000
    loaded = load_pickle(dump(tmp_path, value))
    assert loaded[0] is loaded[999] and loaded[0][0][0] == 1


def test_no_devices(tmp_path):
    with pytest.raises(DataFormatError, match="not a file"):
        load_pickle("/dev/zero")


def test_cut_off_anywhere(tmp_path):
    whole = pickle.dumps(np.arange(20), 2)
    for length in range(len(whole)):
        (tmp_path / "file").write_bytes(whole[:length])
        with pytest.raises(DataFormatError):
            load_pickle(tmp_path / "file")
