"""Reading pickles of arrays without running them.

A pickle is a program for a machine with some sixty instructions, of which Python's makes any object and calls any
function. The one here knows the instructions that an array, a CSR matrix and plain containers need; what they build
are our own small objects, and NumPy's arrays are made of those at the end, when everything was checked.
"""

import io
import math
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ganet_tf.errors import DataFormatError, UnsafeFileError

MAX_BYTES = 1 << 30  # Pubmed, the largest, has 11 MB
MAX_CELLS = 1 << 31  # of a sparse matrix, which may be written out
MAX_DEPTH = 4
_IN_WORK = object()

_INSTRUCTIONS = """
PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT
STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8
TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_TUPLE EMPTY_LIST EMPTY_DICT LIST DICT APPEND APPENDS SETITEM SETITEMS
GLOBAL STACK_GLOBAL REDUCE BUILD NEWOBJ PUT BINPUT LONG_BINPUT GET BINGET LONG_BINGET MEMOIZE
"""


class _DType:
    """A plain number type; its state says the byte order."""

    def __init__(self, name, *_):
        try:
            self.dtype = np.dtype(str(name))
        except TypeError:
            raise UnsafeFileError(f"asks for the type {str(name)[:40]!r}") from None
        if self.dtype.kind not in "biuf":
            raise UnsafeFileError(f"asks for an array of the type {self.dtype}")

    def __setstate__(self, state):
        _, order, *rest = state
        if order not in ("<", ">", "=", "|") or any(part is not None for part in rest[:3]):
            raise UnsafeFileError("asks for a type with parts")
        self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """Takes the state of a pickled array."""

    value = None

    def __setstate__(self, state):
        _, shape, dtype, fortran, content = state
        if not isinstance(dtype, _DType) or not isinstance(content, (bytes, str)):
            raise UnsafeFileError("asks for an array of objects")
        content = content.encode("latin1") if isinstance(content, str) else content  # Python 2
        if any(not isinstance(size, int) or size < 0 for size in shape):
            raise DataFormatError(f"an array has the shape {shape}")
        if math.prod(shape) * dtype.dtype.itemsize != len(content):
            raise DataFormatError(f"an array of shape {shape} has {len(content)} bytes")
        flat = np.frombuffer(content, dtype.dtype).astype(dtype.dtype.newbyteorder("="))
        self.value = flat.reshape(shape, order="F" if fortran else "C")


class _Matrix:
    """Takes the state of a pickled scipy CSR matrix, whose own class has moved since 2016."""

    value = None

    def __setstate__(self, state):
        shape = state["_shape"] if "_shape" in state else state["shape"]
        parts = [state[name].value for name in ("data", "indices", "indptr")]
        if any(part is None or part.ndim != 1 for part in parts) or any(
            part.dtype.kind not in "iu" for part in parts[1:]
        ):
            raise DataFormatError("a sparse matrix has parts that are no lists of numbers")
        shape = tuple(int(size) for size in shape)
        if len(shape) != 2 or min(shape) < 0 or math.prod(shape) > MAX_CELLS:
            raise UnsafeFileError(f"asks for a matrix of shape {shape}")
        self.value = csr_matrix(tuple(parts), shape=shape)
        self.value.check_format(full_check=True)


class _Function:
    """What a pickle may call. It is no class and no function, so that no instruction can change it."""

    __slots__ = ("_call",)

    def __init__(self, call):
        self._call = call

    def __call__(self, *arguments):
        return self._call(*arguments)

    def __setstate__(self, _):
        raise UnsafeFileError("asks for a change to a function")


def _to_bytes(text, encoding):
    """How Python 3 writes bytes in the pickle formats of Python 2."""
    if encoding != "latin1":
        raise UnsafeFileError(f"asks for the encoding {encoding!r}")
    return text.encode("latin1")


def _reconstruct(kind, *_):
    if kind is not _NDARRAY:
        raise UnsafeFileError("asks for an array of another kind")
    return _Array()


def _scalar(dtype, content):
    array = _Array()
    array.__setstate__((1, (), dtype, False, content))
    return array.value.item()


def _no_call(*_):
    raise UnsafeFileError("asks for a call of a type")


_NDARRAY, _LIST = _Function(_no_call), _Function(_no_call)
_ALLOWED = {
    ("_codecs", "encode"): _Function(_to_bytes),
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): _Function(_DType),
    ("numpy.core.multiarray", "_reconstruct"): _Function(_reconstruct),
    ("numpy._core.multiarray", "_reconstruct"): _Function(_reconstruct),
    ("numpy.core.multiarray", "scalar"): _Function(_scalar),
    ("numpy._core.multiarray", "scalar"): _Function(_scalar),
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("scipy.sparse._csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): _Function(lambda *_: {}),
    ("__builtin__", "list"): _LIST,  # Python 2; what a defaultdict is made of
    ("builtins", "list"): _LIST,
}


class _Unpickler(pickle._Unpickler):
    """Python's own machine, in the form that is written in Python, with the instructions that are listed above."""

    def __init__(self, content):
        super().__init__(content, encoding="latin1")
        self._depths = {}

    def find_class(self, module, name):
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise UnsafeFileError(f"asks for {module}.{name}") from None

    def persistent_load(self, *_):
        raise UnsafeFileError("asks for an object outside the file")

    def _refuse(self):
        raise UnsafeFileError("asks for an instruction that arrays do not need")

    def _tuple(self, load):
        """Builds a tuple, unless tuples are nested too deep: hashing a very deep one would end the process."""
        load(self)
        value = self.stack[-1]
        depth = 1 + max((self._depths[id(part)][0] for part in value if isinstance(part, tuple) and part), default=0)
        if depth > MAX_DEPTH:
            raise UnsafeFileError("asks for tuples within tuples without end")
        self._depths[id(value)] = depth, value


def _dispatch():
    """What the machine does for each instruction: what Python's does, or refuse."""
    every = pickle._Unpickler.dispatch
    known = {code: every[code] for code in (getattr(pickle, name)[0] for name in _INSTRUCTIONS.split())}
    for name in ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
        code = getattr(pickle, name)[0]
        known[code] = lambda machine, load=known[code]: machine._tuple(load)
    outside = {getattr(pickle, name)[0]: _Unpickler.persistent_load for name in ("PERSID", "BINPERSID")}
    return {**dict.fromkeys(every, _Unpickler._refuse), **outside, **known}


_Unpickler.dispatch = _dispatch()


def load_pickle(path: str | os.PathLike) -> Any:
    """Reads a pickle of numpy arrays, scipy CSR matrices and plain containers.

    Args:
        path: The file, of Python 2 or 3.

    Returns:
        What it holds.

    Raises:
        UnsafeFileError: If it asks for anything else.
        DataFormatError: If it is no pickle, or damaged.
    """
    if not Path(path).is_file() or Path(path).stat().st_size > MAX_BYTES:
        raise DataFormatError(f"{path} is not a file of at most {MAX_BYTES:,} bytes")
    content = io.BytesIO(Path(path).read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about the form of types in old pickles
        try:
            return _finished(_Unpickler(content).load(), {})
        except UnsafeFileError as error:
            raise UnsafeFileError(f"{path} is refused: it {error}, and only arrays are loaded from it") from None
        except Exception as error:  # a damaged pickle can raise anything
            raise DataFormatError(f"{path} is not a readable pickle of arrays ({error}); get it again") from error


def _finished(value, seen, depth=0):
    """What the machine built, with NumPy's and SciPy's objects in place of ours; each container is looked at once."""
    if isinstance(value, (_Array, _Matrix)):
        if value.value is None:
            raise DataFormatError("an array has no content")
        return value.value
    if isinstance(value, (dict, list, tuple)) and depth < MAX_DEPTH:
        if id(value) not in seen:
            seen[id(value)] = _IN_WORK
            parts = value.values() if isinstance(value, dict) else value
            parts = [_finished(part, seen, depth + 1) for part in parts]
            seen[id(value)] = dict(zip(value, parts, strict=True)) if isinstance(value, dict) else type(value)(parts)
        value = seen[id(value)]
        if value is not _IN_WORK:
            return value
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    raise DataFormatError(f"it holds a {type(value).__name__}, which is no array")
