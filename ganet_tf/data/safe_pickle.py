"""Unpickling that can make arrays and nothing else."""

import os
import pickle
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ganet_tf.errors import DataFormatError, UnsafeFileError


class _Matrix:
    """Takes the state of a pickled scipy CSR matrix, whose own class has moved since 2016."""

    def build(self):
        state = self.__dict__
        shape = state["_shape"] if "_shape" in state else state["shape"]
        return csr_matrix((state["data"], state["indices"], state["indptr"]), shape=shape)


def _to_bytes(text, encoding):
    """How Python 3 writes bytes in the pickle formats of Python 2."""
    if encoding != "latin1":
        raise UnsafeFileError(f"asks for the encoding {encoding!r}")
    return text.encode("latin1")


_ALLOWED = {
    ("_codecs", "encode"): _to_bytes,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.zeros(0).__reduce__()[0],
    ("numpy._core.multiarray", "_reconstruct"): np.zeros(0).__reduce__()[0],
    ("numpy.core.multiarray", "scalar"): np.float64(0).__reduce__()[0],
    ("numpy._core.multiarray", "scalar"): np.float64(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): _Matrix,
    ("scipy.sparse._csr", "csr_matrix"): _Matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,  # Python 2
    ("builtins", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise UnsafeFileError(f"asks for {module}.{name}") from None

    def persistent_load(self, _):
        raise UnsafeFileError("asks for an object outside the file")


def load_pickle(path: str | os.PathLike) -> Any:
    """Reads a pickle of numpy arrays, scipy CSR matrices and plain containers.

    A pickle is a program. This one may call what rebuilds an array, and is refused if it names anything else.

    Args:
        path: The file, of Python 2 or 3.

    Returns:
        What it holds.

    Raises:
        UnsafeFileError: If it asks for anything else.
        DataFormatError: If it is no pickle, or damaged.
    """
    with open(path, "rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about the form of types in old pickles
        try:
            value = _Unpickler(file, encoding="latin1").load()
            return value.build() if isinstance(value, _Matrix) else value
        except UnsafeFileError as error:
            raise UnsafeFileError(f"{path} is refused: it {error}, and only arrays are loaded from it") from None
        except Exception as error:  # a damaged pickle can raise anything
            raise DataFormatError(f"{path} is not a readable pickle of arrays ({error}); get it again") from error
