"""Turns edges of any number into CSR files, in bounded memory: `python -m ganet_tf.data.convert SOURCE FOLDER`.

SOURCE is an edge list (two node numbers a line, also .gz; or an .npy file [E, 2] or [2, E]), or a folder as OGB has
them (`raw/edge.csv.gz`, `raw/node-feat.csv.gz`, `raw/node-label.csv.gz`, or `raw/data.npz` and `raw/node-label.npz`,
and `split/*/{train,valid,test}.csv.gz`). FOLDER gets the files of `NodeDataset.from_folder`.

Edges are sorted by counting, in pieces: a first pass counts how many end in each block of nodes, a second one puts them
into files of blocks that fit the memory, and each of these is then sorted by itself. Nothing as long as the graph is in
memory, neither edges nor nodes.
"""

import argparse
import contextlib
import errno
import functools
import gzip
import itertools
import json
import os
import shutil
import sys
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ganet_tf.data.neighbor_lists import open_array
from ganet_tf.errors import DataFormatError, DatasetNotFoundError, GANetError
from ganet_tf.files import UNFINISHED, draft, named, write_whole

MEMORY = 2**30  # bytes that a conversion may take, about
BLOCKS = 2**16  # that the nodes are counted in
TEXT = 2**24  # bytes of text that are read at a time, at most
ROWS = 2**21  # rows of an array that are read at a time, at most
LEAST_MEMORY = 2**24
MOST_NODES = 2**31  # numbers of 4 bytes
SPACES = bytes.maketrans(b",;\t", b"   ")
EDGES = f"{UNFINISHED}edge_index.npy"
BYTES_AN_EDGE = 40  # while a file of edges is sorted: the pairs, keys of 8 bytes, and what comes out
BYTES_A_ROW = 128  # while a piece of edges is dealt out to files
BYTES_A_LETTER = 16  # while text is read
OGB_NAMES = {"train": "train", "valid": "val", "test": "test"}


def convert(
    source: str | os.PathLike,
    folder: str | os.PathLike,
    directed: bool = False,
    num_nodes: int | None = None,
    memory: int = MEMORY,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Writes the CSR files of a graph.

    Args:
        source: See the module.
        folder: Where the files go; it is made. `graph.json` is written last.
        directed: Whether edges hold from the first node to the second alone; else in both directions.
        num_nodes: Number of nodes; by default as many as there are features, or the largest number and one.
        memory: Bytes of memory to keep to, about.
        say: Called with lines on the progress.

    Returns:
        The folder.

    Raises:
        DataFormatError: For a file that is not as expected: names it.
    """
    source, folder = Path(source), Path(folder)
    if not source.exists():
        raise DatasetNotFoundError(f"there is no file or folder {str(source)!r}")
    if num_nodes is not None and not 1 <= num_nodes <= MOST_NODES:
        raise DataFormatError(f"num_nodes must be a whole number from 1 to {MOST_NODES}, but is {num_nodes}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.json").unlink(missing_ok=True)
    remove_leavings(folder)
    found = {}
    if source.is_dir():
        found = convert_nodes(source, folder, memory)
        say(f"features and targets of {found['num_nodes']:,} nodes")
        num_nodes = num_nodes or found["num_nodes"]
    try:
        sizes = write_lists(edge_pieces(source, folder, memory), folder, directed, num_nodes, memory, say)
    finally:
        (folder / EDGES).unlink(missing_ok=True)
    content = {"format": "ganet_tf csr 1", "directed": directed, **sizes, **found}
    write_whole(folder / "graph.json", json.dumps(content, indent=1) + "\n")
    return folder


def remove_leavings(folder):
    """Removes what a conversion that was killed left in the folder: as much as all edges, at times."""
    for path in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def write_lists(
    pieces: Callable[[], Iterator[np.ndarray]],
    folder: Path,
    directed: bool,
    num_nodes: int | None,
    memory: int,
    say: Callable[[str], None],
) -> dict[str, int]:
    """Writes `indptr.npy` and `indices.npy` of edges that come in pieces [m, 2]; returns the numbers of both."""
    largest, counts, shift = count_targets(pieces(), directed, num_nodes)
    num_nodes = largest + 1 if num_nodes is None else num_nodes
    bounds = cut_blocks(counts, shift, num_nodes, memory // BYTES_AN_EDGE)
    say(f"{int(counts.sum()):,} edges of {num_nodes:,} nodes, in {len(bounds) - 1} parts")
    with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as scratch:
        parts = [Path(scratch) / str(number) for number in range(len(bounds) - 1)]
        scatter(pieces(), directed, bounds, parts)
        return {"num_nodes": num_nodes, "num_edges": sort_parts(parts, bounds, folder)}


def count_targets(pieces, directed, num_nodes):
    """(largest node number, edges that end in each block of nodes, bits of a block)."""
    counts, largest, shift = np.zeros(BLOCKS, np.int64), -1, 0
    for piece in pieces:
        if len(piece) == 0:
            continue
        low, high = int(piece.min()), int(piece.max())
        limit = MOST_NODES if num_nodes is None else num_nodes
        if low < 0 or high >= limit:
            raise DataFormatError(
                f"an edge names node {low if low < 0 else high}, but nodes are numbered from 0 to {limit - 1}"
            )
        largest = max(largest, high)
        while largest >> shift >= BLOCKS:  # blocks of twice the size
            counts = np.concatenate([counts.reshape(-1, 2).sum(axis=1), np.zeros(BLOCKS // 2, np.int64)])
            shift += 1
        for column in (1,) if directed else (0, 1):
            counts += np.bincount(piece[:, column] >> shift, minlength=BLOCKS)
    if largest < 0:
        raise DataFormatError("there is no edge")
    return largest, counts, shift


def cut_blocks(counts, shift, num_nodes, most):
    """Bounds of runs of nodes in which at most so many edges end, if their blocks allow it."""
    ends, bounds = np.cumsum(counts), [0]
    while bounds[-1] < num_nodes:
        block = bounds[-1] >> shift
        before = ends[block - 1] if block else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), block + 1)
        bounds.append(min(stop << shift, num_nodes) if stop < len(ends) else num_nodes)
    return np.array(bounds)


def scatter(pieces, directed, bounds, parts):
    """Appends each edge as (target, source), int32, to the file of its run of targets."""
    for path in parts:
        path.touch()
    for piece in pieces:
        piece = piece[piece[:, 0] != piece[:, 1]].astype(np.int32)
        pairs = piece[:, ::-1] if directed else np.concatenate([piece[:, ::-1], piece])
        run = np.searchsorted(bounds, pairs[:, 0], side="right") - 1
        order = np.argsort(run, kind="stable")
        cuts = np.searchsorted(run[order], np.arange(len(parts) + 1))
        pairs = np.ascontiguousarray(pairs[order])
        for path, (start, stop) in zip(parts, itertools.pairwise(cuts), strict=True):
            if start < stop:  # opened for each piece: a process may have few files open, and there may be many
                with named(path), open(path, "ab") as file:
                    file.write(pairs[start:stop])


def sort_parts(parts, bounds, folder):
    """Sorts each file by itself and appends it to `indices.npy`, its ends to `indptr.npy`; returns how many edges."""
    total = 0
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(draft(folder / name)) for name in ("indices.npy", "indptr.npy")]
        indices, indptr = (stack.enter_context(open(path, "wb")) for path in paths)
        write_header(indices, np.int32, (2**40,))  # the true number, of as many digits, in the end
        write_header(indptr, np.int64, (bounds[-1] + 1,))
        indptr.write(np.zeros(1, np.int64))
        for part, (first, last) in zip(parts, itertools.pairwise(bounds), strict=True):
            pairs = np.fromfile(part, np.int32).reshape(-1, 2)
            part.unlink()
            key = (pairs[:, 0].astype(np.int64) - first) << 32 | pairs[:, 1]
            del pairs
            key.sort()
            key = key[np.concatenate([[True], key[1:] != key[:-1]])] if len(key) else key
            with named(folder / "indices.npy"):
                indices.write((key & 0xFFFFFFFF).astype(np.int32))
            key >>= 32
            with named(folder / "indptr.npy"):
                write_ends(indptr, key, last - first, total)
            total += len(key)
        indices.seek(0)
        write_header(indices, np.int32, (total,))
    return total


def write_ends(file, targets, count, total):
    """Writes where the lists of `count` nodes end, from their edges' sorted targets; `total` edges came before."""
    for start in range(0, count, ROWS):
        nodes = np.arange(start, min(start + ROWS, count))
        file.write(total + np.searchsorted(targets, nodes, side="right"))


HEADER = 128  # bytes of an .npy header, for one or two dimensions


def write_header(file, dtype, shape):
    """Writes an .npy header of 128 bytes, whatever the shape: it can be written again when the length is known."""
    text = f"{{'descr': '{np.dtype(dtype).str}', 'fortran_order': False, 'shape': {tuple(map(int, shape))}, }}"
    body = text.ljust(HEADER - 11) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body.encode("ascii"))


# What goes in


def edge_pieces(source: Path, folder: Path, memory: int = MEMORY) -> Callable[[], Iterator[np.ndarray]]:
    """A function that gives the edges from the beginning, in pieces [m, 2] of integers."""
    if source.is_dir():
        raw = raw_folder(source)
        if (raw / "data.npz").is_file():
            extract(raw / "data.npz", "edge_index", folder / EDGES)
            return lambda: array_pieces(open_array(folder / EDGES), raw / "data.npz", memory)
        source = first_of(raw, "edge.csv.gz", "edge.csv")
    if source.suffix == ".npy":
        return lambda: array_pieces(open_array(source), source, memory)
    return lambda: whole_numbers(text_pieces(source, 2, memory), source)


def raw_folder(source):
    """Where an OGB-style folder has its files."""
    return source / "raw" if (source / "raw").is_dir() else source


def first_of(folder, *names):
    """The first of some files that is there."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DatasetNotFoundError(f"{folder} has no {names[0]}: it is no folder as OGB has them")


def array_pieces(array, path, memory=MEMORY):
    """Pieces of an array [E, 2] or [2, E]."""
    if array.ndim != 2 or array.dtype.kind not in "iu" or 2 not in array.shape:
        raise DataFormatError(f"{path} must hold integers [edges, 2] or [2, edges], but is {array.dtype} {array.shape}")
    return row_pieces(array if array.shape[1] == 2 else array.T, memory)


def row_pieces(array, memory=MEMORY):
    """Pieces of the rows of any array."""
    rows = min(ROWS, max(memory // BYTES_A_ROW, 1))
    return (np.asarray(array[start : start + rows]) for start in range(0, len(array), rows))


def text_pieces(path: Path, width: int | None = None, memory: int = MEMORY) -> Iterator[np.ndarray]:
    """Pieces [m, width] of a text file of numbers, separated by commas or spaces; lines with # are left out."""
    rest = b""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            while block := file.read(min(TEXT, max(memory // BYTES_A_LETTER, 1))):
                head, _, rest = (rest + block).rpartition(b"\n")
                if head:
                    width = width or columns(head)
                    yield parse_numbers(head, width, path)
        if rest.strip():
            yield parse_numbers(rest, width or columns(rest), path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataFormatError(f"{path} is truncated or damaged: {error}") from error


def columns(text):
    """How many numbers the first line has that is no comment."""
    line = next((line for line in text.splitlines() if line.strip() and b"#" not in line), b"")
    return max(len(line.replace(b",", b" ").split()), 1)


def parse_numbers(text, width, path):
    """The numbers of whole lines, float64 [m, width]."""
    if b"#" in text:
        text = b"\n".join(line for line in text.splitlines() if b"#" not in line)
    lines = sum(1 for line in text.splitlines() if line.strip()) if width > 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what NumPy says to text that is no number
        try:
            numbers = np.fromstring(text.translate(SPACES), sep=" ") if text.strip() else np.zeros(0)
        except (ValueError, DeprecationWarning) as error:
            raise DataFormatError(f"{path} must hold numbers, {width} in a line, but has others: {error}") from error
    if len(numbers) % width or (lines is not None and len(numbers) != lines * width):
        raise DataFormatError(f"{path} must hold {width} numbers in every line, but has a line with another number")
    return numbers.reshape(-1, width)


def whole_numbers(pieces, path):
    """The same as int64."""
    for piece in pieces:
        if not (np.isfinite(piece).all() and (piece == np.floor(piece)).all()):
            raise DataFormatError(f"{path} must hold whole numbers, but has others")
        yield piece.astype(np.int64)


def convert_nodes(source: Path, folder: Path, memory: int = MEMORY) -> dict[str, int]:
    """Writes `x.npy`, `y.npy` and the splits of an OGB-style folder; returns what graph.json says of them."""
    raw = raw_folder(source)
    with tempfile.TemporaryDirectory(dir=folder, prefix=UNFINISHED) as scratch:
        if (raw / "data.npz").is_file():
            extract(raw / "data.npz", "node_feat", folder / "x.npy")
            num_nodes = len(open_array(folder / "x.npy"))
            path = Path(scratch) / "y.npy"
            extract(first_of(raw, "node-label.npz"), "node_label", path)
            targets = functools.partial(row_pieces, open_array(path), memory)
        else:
            features = first_of(raw, "node-feat.csv.gz", "node-feat.csv")
            num_nodes = write_rows(text_pieces(features, memory=memory), folder / "x.npy")
            path = first_of(raw, "node-label.csv.gz", "node-label.csv")
            targets = functools.partial(text_pieces, path, memory=memory)
        count, found = write_targets(targets, folder / "y.npy")
    if count != num_nodes:
        raise DataFormatError(f"{raw} has features of {num_nodes} nodes, but targets of {count}")
    for split in sorted(source.glob("split/*/*.csv*")):
        if (name := OGB_NAMES.get(split.name.split(".")[0])) is not None:
            nodes = np.concatenate([np.zeros((0, 1), np.int64), *whole_numbers(text_pieces(split, 1), split)])[:, 0]
            write_whole(folder / f"{name}.npy", functools.partial(np.save, arr=nodes.astype(np.int32)))
    return {"num_nodes": num_nodes, **found}


def write_targets(pieces: Callable[[], Iterator[np.ndarray]], path: Path) -> tuple[int, dict[str, int]]:
    """Writes targets: one whole number each is a class, NaN an unknown one; anything else stays a row of numbers.

    Returns:
        How many there are, and what graph.json says of them.
    """
    classes, largest = True, -1
    for piece in pieces():
        known = piece[~np.isnan(piece)] if piece.dtype.kind == "f" else piece
        classes = classes and piece.size == len(piece) and bool((known == np.floor(known)).all())
        largest = max(largest, known.max(initial=-1))
    if not classes:
        return write_rows(pieces(), path), {}
    dtype = np.int16 if largest < 2**15 else np.int32
    count = write_rows((np.nan_to_num(piece, nan=-1).reshape(-1) for piece in pieces()), path, dtype)
    return count, {"num_classes": max(int(largest) + 1, 1)}


def write_rows(pieces, path, dtype=np.float32):
    """Writes pieces of rows, or of a vector, as one .npy file; returns how many there are."""
    total, shape = 0, ()
    with draft(path) as temporary, open(temporary, "wb") as file:
        write_header(file, dtype, (0, 0))
        for piece in pieces:
            shape = piece.shape[1:]
            file.write(np.ascontiguousarray(piece, dtype))
            total += len(piece)
        file.seek(0)
        write_header(file, dtype, (total, *shape))
    return total


def extract(archive: Path, name: str, path: Path) -> None:
    """Takes one array out of an .npz file into an .npy file, piece by piece."""
    try:
        with contextlib.ExitStack() as stack:
            member = stack.enter_context(stack.enter_context(zipfile.ZipFile(archive)).open(f"{name}.npy"))
            target = stack.enter_context(open(stack.enter_context(draft(path)), "wb"))
            shutil.copyfileobj(member, target, TEXT)
    except KeyError:
        raise DataFormatError(f"{archive} has no array {name!r}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataFormatError(f"{archive} is truncated or damaged: {error}") from error


# The command


def parse_memory(text: str) -> int:
    """'2G' as bytes."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    number, unit = (text[:-1], units.get(text[-1:].upper())) if text[-1:].isalpha() else (text, 1)
    if unit is None or not number.isdecimal() or int(number) * unit < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"must look like 500M or 2G, from 16M on, but is {text!r}")
    return int(number) * unit


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit code: 0 done, 2 an error."""
    parser = argparse.ArgumentParser(prog="python -m ganet_tf.data.convert", description=__doc__.split("\n\n")[0])
    parser.add_argument("source", help="an edge list (.txt, .csv, .gz, .npy), or a folder as OGB has them")
    parser.add_argument("folder", help="where the CSR files go")
    parser.add_argument("--directed", action="store_true", help="edges hold from the first node to the second alone")
    parser.add_argument("--num-nodes", type=int, help="number of nodes, where some have no edges")
    parser.add_argument("--memory", type=parse_memory, default=MEMORY, help="memory to keep to, about (1G)")
    arguments = parser.parse_args(argv)
    try:
        say = functools.partial(print, file=sys.stderr)
        convert(arguments.source, arguments.folder, arguments.directed, arguments.num_nodes, arguments.memory, say)
    except (GANetError, OSError, MemoryError) as error:
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        what = f"{error.filename} cannot be written: the disk is full" if full else " ".join(str(error).split())
        print(f"convert: {what}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
