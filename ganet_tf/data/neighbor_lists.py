"""The neighbour lists of one graph in compressed rows, in memory or in files that are mapped, and rows out of files."""

import mmap
import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.errors import DataFormatError, DatasetNotFoundError, OutOfMemoryError
from ganet_tf.memory import available_memory

PIECE = 2**22  # entries that a pass over a large file holds at a time
FITS = 0.75  # share of the free memory that a file may have and still be kept there by the system
READERS = 16  # a disk answers many requests at a time


class NeighborLists:
    """N(i) without i itself for every node i: the sources of the edges that point at it, ascending, each once.

    Files stay where they are: whatever is mapped is read only where it is looked at.

    Args:
        indptr: [N + 1] integers; the list of node i is `indices[indptr[i] : indptr[i + 1]]`.
        indices: [E] integers below N.
        edge_weights: [E] floats, or None.
    """

    def __init__(self, indptr: ArrayLike, indices: ArrayLike, edge_weights: ArrayLike | None = None):
        self.names = {"indptr": name_of(indptr, "indptr"), "indices": name_of(indices, "indices")}
        advise_random(indices)
        self.indptr, self.indices = np.asarray(indptr), np.asarray(indices)
        self.edge_weights = None if edge_weights is None else np.asarray(edge_weights)
        self._check_ends()
        self._free = []

    @classmethod
    def from_edges(cls, edges: np.ndarray, num_nodes: int, edge_weights: np.ndarray | None = None) -> "NeighborLists":
        """The lists of edges [E, 2] that are sorted by (target, source), unique and without self-loops."""
        degrees = np.bincount(edges[:, 1], minlength=num_nodes)
        indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        return cls(indptr, np.ascontiguousarray(edges[:, 0]), edge_weights)

    def _check_ends(self):
        """What can be seen without a pass over the lists."""
        for name, array in (("indptr", self.indptr), ("indices", self.indices)):
            if array.ndim != 1 or array.dtype.kind not in "iu":
                raise DataFormatError(
                    f"{self.names[name]} must hold integers in one dimension, but is {array.dtype} {array.shape}"
                )
        if len(self.indptr) == 0 or self.indptr[0] != 0 or self.indptr[-1] != len(self.indices):
            ends = f"{self.indptr[0]} to {self.indptr[-1]}" if len(self.indptr) else "nothing"
            raise DataFormatError(
                f"{self.names['indptr']} must go from 0 to the {len(self.indices)} entries of {self.names['indices']}, "
                f"but goes from {ends}: the files do not belong together, or one of them is truncated"
            )
        if self.edge_weights is not None and self.edge_weights.shape != self.indices.shape:
            raise DataFormatError(
                f"edge_weights must have one number for each of the {len(self.indices)} edges, "
                f"but has {self.edge_weights.shape}"
            )

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        return len(self.indices)

    def check(self) -> None:
        """Looks at every list, in pieces: raises DataFormatError unless all are as the class says."""
        self.check_indptr()
        for start, stop in self.pieces():
            self._check_piece(start, stop)

    def check_indptr(self) -> None:
        """Looks at the ends of all lists, in pieces: raises DataFormatError unless they ascend."""
        for start in range(0, self.num_nodes, PIECE):
            ends = self.indptr[start : start + PIECE + 1]
            if (falls := ends[1:] < ends[:-1]).any():
                raise DataFormatError(f"{self.names['indptr']} descends after node {start + int(falls.argmax())}")

    def check_runs(self, starts: np.ndarray, ends: np.ndarray) -> None:
        """Raises unless lists out of `indptr` are parts of `indices`."""
        wrong = (starts < 0) | (ends < starts) | (ends > self.num_edges)
        if wrong.any():
            start, end = starts[wrong][0], ends[wrong][0]
            raise DataFormatError(
                f"{self.names['indptr']} has a list from {start} to {end}, but {self.names['indices']} has "
                f"{self.num_edges} entries: the file is damaged, or belongs to another graph"
            )

    def check_drawn(self, edges: np.ndarray) -> None:
        """Raises unless sorted edges [E, 2] out of the lists are between two nodes each, and each is there once."""
        sources, targets = edges.T
        loops, twice = sources == targets, (sources[1:] == sources[:-1]) & (targets[1:] == targets[:-1])
        if loops.any() or twice.any():
            what = "a node itself" if loops.any() else "a node twice"
            raise DataFormatError(
                f"{self.names['indices']}: a list has {what} in it; python -m ganet_tf.data.convert sorts edges"
            )

    def _check_piece(self, start, stop):
        sources, targets = self.indices[self.indptr[start] : self.indptr[stop]], self.targets(start, stop)
        self.check_sources(sources)
        same = targets[1:] == targets[:-1]
        wrong = np.flatnonzero(same & (sources[1:] <= sources[:-1]))
        loops = np.flatnonzero(sources == targets)
        if len(wrong) or len(loops):
            what = "is not ascending, each node once" if len(wrong) else "has the node itself in it"
            node = targets[wrong[0] if len(wrong) else loops[0]]
            raise DataFormatError(
                f"{self.names['indices']}: the list of node {node} {what}; python -m ganet_tf.data.convert sorts edges"
            )

    def check_sources(self, sources: np.ndarray) -> None:
        """Raises unless node numbers out of `indices` are numbers of nodes."""
        if len(sources) and (sources.min() < 0 or sources.max() >= self.num_nodes):
            wrong = sources.min() if sources.min() < 0 else sources.max()
            raise DataFormatError(
                f"{self.names['indices']} names node {wrong}, but the graph has {self.num_nodes} nodes, numbered from "
                f"0 to {self.num_nodes - 1}: the file is damaged, or belongs to another graph"
            )

    def pieces(self, entries: int = PIECE) -> list[tuple[int, int]]:
        """Runs (start, stop) of nodes whose lists have about so many entries together."""
        cuts = np.arange(0, self.num_edges + entries, entries)
        bounds = np.unique(np.concatenate([[0], np.searchsorted(self.indptr, cuts), [self.num_nodes]]))
        bounds = bounds[bounds <= self.num_nodes]
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def targets(self, start: int, stop: int) -> np.ndarray:
        """The node, int32, that each entry of the lists of some nodes belongs to."""
        return np.repeat(np.arange(start, stop, dtype=np.int32), np.diff(self.indptr[start : stop + 1]))

    def edges(self) -> np.ndarray:
        """All edges, int32 [E, 2], sorted by (target, source): 8 bytes each, in memory."""
        needed, free = 8 * self.num_edges, available_memory()
        if needed > free:
            raise OutOfMemoryError(
                f"The {self.num_edges:,} edges of {self.names['indices']} take {needed / 1e9:.1f} GB as pairs, but "
                f"only {free / 1e9:.1f} GB are free: train on sampled_batches, predict with predict_layerwise."
            )
        edges = np.empty((self.num_edges, 2), np.int32)
        for start, stop in self.pieces():
            part = slice(self.indptr[start], self.indptr[stop])
            edges[part, 0], edges[part, 1] = self.indices[part], self.targets(start, stop)
        return edges

    def borrow_marks(self) -> np.ndarray:
        """An array of -1 for every node, for whoever works on a sample; `give_back_marks` when it is so again.

        Kept from sample to sample, one for each that is drawn at the same time: a new one would cost time in
        proportion to the graph.
        """
        try:
            return self._free.pop()
        except IndexError:
            return np.full(self.num_nodes, -1, np.int32)

    def give_back_marks(self, marks: np.ndarray) -> None:
        """Takes marks that are all -1 again."""
        self._free.append(marks)


class Rows:
    """Rows of a feature matrix [N, F], as float32.

    A mapped file that the free memory can hold is read through the map, and the system keeps it. Of a larger one each
    page would be read by a fault of its own, one after the other: there threads read the rows that are wanted.

    Args:
        x: Array or memory map.
        direct: Whether to read with threads; None decides by the size of the file and the free memory.
    """

    def __init__(self, x: np.ndarray, direct: bool | None = None):
        self.x, self.shape = np.asarray(x), x.shape
        mapped = isinstance(x, np.memmap) and isinstance(x.base, mmap.mmap) and x.flags.c_contiguous
        if direct is None:
            direct = mapped and x.nbytes > FITS * available_memory()
        self.direct = bool(direct and mapped and hasattr(os, "preadv"))
        if self.direct:
            self._first, self._name = x.offset, str(x.filename)
            self._handle = os.open(x.filename, os.O_RDONLY)
            weakref.finalize(self, os.close, self._handle)
            os.posix_fadvise(self._handle, 0, 0, os.POSIX_FADV_RANDOM)
            self._pool = ThreadPoolExecutor(READERS)

    def take(self, nodes: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Puts the rows of `nodes` into `out` [n, F] float32, which it returns."""
        if not self.direct:
            if self.x.dtype == out.dtype:
                return np.take(self.x, nodes, axis=0, out=out, mode="clip")
            out[:] = self.x[nodes]
            return out
        raw = out if self.x.dtype == out.dtype else np.empty(out.shape, self.x.dtype)
        cuts = np.linspace(0, len(nodes), READERS + 1).astype(int)
        list(self._pool.map(lambda a, b: self._read(nodes[a:b], raw[a:b]), cuts[:-1], cuts[1:]))
        if raw is not out:
            out[:] = raw
        return out

    def _read(self, nodes, out):
        size = out.shape[1] * out.dtype.itemsize
        for place, row in zip((nodes.astype(np.int64) * size + self._first).tolist(), out, strict=True):
            if os.preadv(self._handle, [row], place) != size:
                raise DataFormatError(f"{self._name} ends before the row at byte {place}: it is truncated")


def open_array(path: str | os.PathLike) -> np.memmap:
    """Maps an .npy file.

    Raises:
        DatasetNotFoundError: If it is not there.
        DataFormatError: If it is no such file, or shorter than its header says.
    """
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise DatasetNotFoundError(f"{path} is not there, which a graph in CSR files needs") from None
    except (ValueError, EOFError, OSError, SyntaxError) as error:
        try:
            size = f"{Path(path).stat().st_size:,} bytes"
        except OSError:
            size = "an unknown number of bytes"
        raise DataFormatError(
            f"{path} ({size}) is truncated, or no .npy file of numbers: {error}; make or copy it again"
        ) from error


def as_array(value: ArrayLike | str | os.PathLike) -> np.ndarray:
    """An array as it is; the file of a path, mapped."""
    return open_array(value) if isinstance(value, (str, os.PathLike)) else np.asanyarray(value)


def name_of(array: ArrayLike, name: str) -> str:
    """What to call an array in a message: its file, or its name."""
    return str(getattr(array, "filename", None) or name)


def advise_random(array: ArrayLike) -> None:
    """Tells the system, for a mapped file larger than the memory, not to read ahead."""
    mapped = getattr(array, "base", None)
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_RANDOM") and array.nbytes > FITS * available_memory():
        mapped.madvise(mmap.MADV_RANDOM)
