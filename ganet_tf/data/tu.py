"""Reading text files of numbers: the TU collection's layout, and DGCNN's."""

import io
import logging
import os
import re
import warnings
import zipfile
from typing import BinaryIO

import numpy as np
from numpy.typing import DTypeLike

from ganet_tf.data.archive import Archive
from ganet_tf.data.arrays import RawGraphs, local_edges, offsets, sort_edges
from ganet_tf.data.graph import check_finite
from ganet_tf.data.targets import MISSING
from ganet_tf.errors import DataFormatError
from ganet_tf.spelling import nearest

log = logging.getLogger(__name__)

PARTS = ("A", "graph_indicator", "graph_labels", "graph_attributes")
PARTS += ("node_labels", "node_attributes", "edge_labels", "edge_attributes")


def read_tu(path: str | os.PathLike, quiet: bool = False, labelled: bool = True) -> RawGraphs:
    """Reads a zip file or folder in TU layout.

    | file | what | |
    |---|---|---|
    | `NAME_A.txt` | pairs of node numbers from 1, an edge from the first to the second | needed |
    | `NAME_graph_indicator.txt` | for each node its graph, from 1, ascending | needed |
    | `NAME_graph_labels.txt` | for each graph its class, an integer | needed, or the next one |
    | `NAME_graph_attributes.txt` | for each graph one or more numbers: targets for regression | without graph labels |
    | `NAME_node_labels.txt` | for each node one or more integers | |
    | `NAME_node_attributes.txt` | for each node one or more numbers | |
    | `NAME_edge_labels.txt`, `NAME_edge_attributes.txt` | checked, then left aside: no operator uses them | |

    Edges keep the direction that the file gives them; self-loops and repetitions are dropped.

    Args:
        path: The zip file or folder.
        quiet: Whether to say nothing about files that are left aside.
        labelled: Whether targets are needed.

    Returns:
        `RawGraphs`; its `y` is float32 [G, T] for regression, and -1 where targets are neither there nor needed.
    """
    with Archive(path) as archive:
        return _Reader(archive, quiet, labelled).read()


class _Reader:
    """Reads and checks one file after the other; `stem` is NAME."""

    def __init__(self, archive, quiet, labelled):
        self.archive = archive
        self.quiet = quiet
        self.labelled = labelled
        self.stem = find_stem(archive)

    def read(self):
        self.name_strangers()
        node_offsets = self.node_offsets()
        num_nodes = int(node_offsets[-1])
        y, class_labels = self.classes(len(node_offsets) - 1)
        node_labels, counts, values = self.node_labels(num_nodes)
        attributes = self.node_attributes(num_nodes)
        sources, degrees = sort_edges(self.edge_columns(num_nodes), num_nodes)
        edges, edge_offsets = local_edges(sources, degrees, node_offsets, self.name("A"))
        return RawGraphs(
            edges, degrees, node_offsets, edge_offsets, y, class_labels, node_labels, counts, values, attributes
        )

    def name_strangers(self):
        """Says which files have the data set's name, but not that of a part: it may be a slip of the pen."""
        known = [self.name(part) for part in PARTS]
        for name in self.archive.names():
            stranger = name.startswith(f"{self.stem}_") and name.endswith(".txt") and name not in known
            if stranger and "readme" not in name.lower() and not self.quiet:
                log.warning("%s is not a file of the TU layout%s and is not read", name, nearest(name, known))

    def name(self, part):
        return f"{self.stem}_{part}.txt"

    def has(self, part):
        return self.name(part) in self.archive

    def file(self, part, dtype, columns=None):
        """The numbers of one file, [lines, columns]."""
        name = self.name(part)
        if name not in self.archive:
            raise DataFormatError(f"{self.archive.path} has no file {name}, which the TU layout needs")
        with self.archive.open(name) as stream:
            return read_numbers(stream, name, dtype, columns)

    def rows(self, part, dtype, count, what, columns=None):
        """As `file`, for files with one line for each of `count` things."""
        values = self.file(part, dtype, columns)
        if len(values) != count:
            raise DataFormatError(f"{self.name(part)} has {len(values):,} lines, but there are {count:,} {what}")
        return values

    def node_offsets(self):
        """Where each graph's nodes begin; every graph has some, and they stand graph after graph."""
        graph_of = self.file("graph_indicator", np.int32, columns=1)[:, 0]
        name = self.name("graph_indicator")
        if len(graph_of) == 0:
            raise DataFormatError(f"{name} is empty: the data set has no nodes")
        steps = np.diff(graph_of, prepend=np.int32(0))
        if (steps < 0).any():
            line = int((steps < 0).argmax())
            raise DataFormatError(
                f"{name} must ascend: line {line + 1} has graph {graph_of[line]} after graph {graph_of[line - 1]}"
            )
        if (steps > 1).any() or steps[0] != 1:
            line = int((steps > 1).argmax())
            raise DataFormatError(
                f"{name}: a graph has no nodes: line {line + 1} has graph {graph_of[line]}, "
                f"but graph {graph_of[line] - steps[line] + 1} was to come; graphs count from 1"
            )
        return offsets(np.bincount(graph_of)[1:])

    def classes(self, num_graphs):
        """Class numbers from 0 and the labels that stand in the file; or targets for regression, and no labels."""
        if not self.has("graph_labels") and self.has("graph_attributes"):
            values = self.per_graph("graph_attributes", num_graphs, None)
            check_finite(values, self.name("graph_attributes"))
            return values.astype(np.float32), np.zeros(0, np.int64)
        if not self.has("graph_labels") and not self.labelled:
            return np.full(num_graphs, MISSING, np.int32), np.zeros(0, np.int64)
        values = self.per_graph("graph_labels", num_graphs, 1)[:, 0]
        name = self.name("graph_labels")
        if not np.array_equal(values, np.round(values)):
            raise DataFormatError(
                f"{name} must hold integers; regression targets belong into {self.name('graph_attributes')}, without it"
            )
        if not (np.abs(values) < 2**53).all():
            raise DataFormatError(f"{name} must hold integers below 2^53, but has {values[np.abs(values).argmax()]:g}")
        labels, y = np.unique(values.astype(np.int64), return_inverse=True)
        return y.astype(np.int32).reshape(-1), labels

    def per_graph(self, part, num_graphs, columns):
        values = self.file(part, np.float64, columns)
        name = self.name(part)
        if len(values) > num_graphs:
            raise DataFormatError(
                f"{name} has {len(values):,} lines, but only {num_graphs:,} graphs have nodes: "
                "leave graphs without nodes out"
            )
        if len(values) < num_graphs:
            raise DataFormatError(f"{name} has {len(values):,} lines, but there are {num_graphs:,} graphs")
        return values

    def node_labels(self, num_nodes):
        """Label codes [N, L], the number of labels in each column, and the labels."""
        if not self.has("node_labels"):
            return np.zeros((num_nodes, 0), np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)
        values = self.rows("node_labels", np.int64, num_nodes, "nodes")
        codes = np.empty(values.shape, np.int32)
        labels = []
        for column in range(values.shape[1]):
            known, code = np.unique(values[:, column], return_inverse=True)
            codes[:, column] = code.reshape(-1)
            labels.append(known)
        return codes, np.array([len(known) for known in labels], np.int64), np.concatenate(labels)

    def node_attributes(self, num_nodes):
        if not self.has("node_attributes"):
            return np.zeros((num_nodes, 0), np.float32)
        values = self.rows("node_attributes", np.float32, num_nodes, "nodes")
        check_finite(values, self.name("node_attributes"))
        return values

    def edge_columns(self, num_nodes):
        """Sources and targets from 0, in a list of their own so that `sort_edges` can free them."""
        name = self.name("A")
        with self.archive.open(name) as stream:
            columns = read_columns(stream, name, np.int32, 2)
        self.leave_aside("edge_labels", len(columns[0]))
        self.leave_aside("edge_attributes", len(columns[0]))
        for column in columns:
            if len(column) and (column.min() < 1 or column.max() > num_nodes):
                wrong = column.min() if column.min() < 1 else column.max()
                raise DataFormatError(f"{name} names node {wrong}, but nodes go from 1 to {num_nodes:,}")
            column -= 1
        return columns

    def leave_aside(self, part, num_edges):
        """Edge features must fit the edges, and are not used."""
        if self.has(part):
            self.rows(part, np.float64, num_edges, f"edges in {self.name('A')}")
            if not self.quiet:
                log.warning("%s is left aside: the operators use no edge features", self.name(part))


def find_stem(archive):
    """NAME of a data set: what stands before `_A.txt`."""
    stems = sorted(name[: -len("_A.txt")] for name in archive.names() if name.endswith("_A.txt"))
    if len(stems) != 1:
        found = f"there are {len(stems)}" if stems else f"it has {', '.join(archive.names()[:8]) or 'no files'}"
        raise DataFormatError(f"{archive.path} must have one file NAME_A.txt with the edges, but {found}")
    return stems[0]


CHUNK = 8 << 20
READ = 64 << 10
_BLANKS = bytes.maketrans(b",;\t\r\n\v\f", b"       ")
_IN_NUMBERS = b"0123456789+-.eE \t\r"
_LONELY_SIGN = re.compile(rb"[+-](?![0-9])")  # which NumPy reads as 0


def read_numbers(stream: BinaryIO, name: str, dtype: DTypeLike, columns: int | None = None) -> np.ndarray:
    """Reads lines of numbers, separated by commas or blanks.

    The file goes through in pieces of 8 MB, so that the text, which is about twice as large as the numbers, is never
    in memory as a whole. `np.fromstring` is the fastest reader NumPy has; only its binary mode is deprecated.

    Args:
        stream: Binary stream.
        name: Name of the file, for messages.
        dtype: Type of the result. Integers that do not fit are an error.
        columns: Numbers in each line; None takes it from the first line.

    Returns:
        Array [lines, columns].
    """
    pieces = read_pieces(stream, name, dtype, columns)
    if not pieces:
        return np.zeros((0, columns or 1), dtype)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def read_columns(stream: BinaryIO, name: str, dtype: DTypeLike, columns: int) -> list[np.ndarray]:
    """As `read_numbers`, but returns a list of one array [lines] for each column; never holds the numbers thrice."""
    pieces = read_pieces(stream, name, dtype, columns)
    out = [np.empty(sum(map(len, pieces)), dtype) for _ in range(columns)]
    start = 0
    for index, piece in enumerate(pieces):
        for column in range(columns):
            out[column][start : start + len(piece)] = piece[:, column]
        start += len(piece)
        pieces[index] = None
    return out


def read_pieces(stream, name, dtype, columns):
    """Returns a list of arrays [some lines, columns]."""
    pieces, line = [], 1
    for text in whole_lines(stream, name):
        if columns is None:
            columns = max(len(text.split(b"\n", 1)[0].translate(_BLANKS).split()), 1)
        pieces.append(parse(text, name, dtype, columns, line))
        line += len(pieces[-1])
    return pieces


def whole_lines(stream, name):
    """Yields the stream in pieces of about 8 MB; each ends with the end of a line, and none with a blank line."""
    # Small reads: zipfile unpacks as many packed bytes as are asked for plain ones, 0.3 GB for 8 MB of LZMA.
    parts, size = [], 0
    while piece := stream.read(READ):
        parts.append(piece)
        size += len(piece)
        if size >= CHUNK:
            text = b"".join(parts)
            cut = text.rstrip().rfind(b"\n") + 1
            if cut == 0:
                raise DataFormatError(
                    f"{name} has {CHUNK:,} bytes with no end of a line: this is not a file of numbers"
                )
            yield text[:cut]
            parts, size = [text[cut:]], len(text) - cut
    rest = b"".join(parts).rstrip()
    if rest:
        yield rest + b"\n"


def parse(text, name, dtype, columns, first_line=1):
    """Turns whole lines into an array [lines, columns].

    What is left of a line of n numbers without everything that a number is made of is n - 1 commas. If that holds for
    all lines, and there are as many words as places, they are read as they stand (NumPy makes numbers of blank
    places, too). Other files are looked at number by number, which takes longer.

    Args:
        text: Bytes that end with a line's end.
        name: Name of the file, for messages.
        dtype: Type of the result.
        columns: Numbers in each line.
        first_line: Number of the first line, for messages.
    """
    wide = np.int64 if np.dtype(dtype).kind == "i" else np.float64
    row = b"," * (columns - 1) + b"\n"
    separators = text.translate(None, _IN_NUMBERS)
    if separators == row * (len(separators) // columns) and _count_words(text) == len(separators):
        values = _numbers(text.replace(b"\n", b","), ",", wide)
    else:
        _check_lines(text, name, columns, first_line)
        values = _numbers(text.translate(_BLANKS), " ", wide)
    if values is None or (wide is np.int64 and _has_lonely_sign(text)):
        raise DataFormatError(_not_a_number(text, name, wide, columns, first_line))
    return _in_range(values, name, dtype).reshape(-1, columns)


def _count_words(text):
    """How many words there are between commas and blanks, where a plus sign is a blank, too."""
    inside = np.frombuffer(text, np.uint8) > ord(",")
    return int(inside[0]) + np.count_nonzero(inside[1:] > inside[:-1])


def _numbers(text, separator, dtype):
    """The numbers in a text, or None if there is anything else in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what text that is no number gives
        try:
            return np.fromstring(text, dtype=dtype, sep=separator)
        except (DeprecationWarning, ValueError):
            return None


def _has_lonely_sign(text):
    return (b"-" in text or b"+" in text) and _LONELY_SIGN.search(text) is not None


def _check_lines(text, name, columns, first_line):
    """Raises an error that names the first line with more or fewer numbers than `columns`."""
    if b";" in text and b"," in text:
        raise DataFormatError(f"{name} has both ',' and ';': numbers are separated by commas, and decimals have points")
    inside = np.frombuffer(text.translate(_BLANKS), np.uint8) != ord(" ")
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    counts = np.diff(np.searchsorted(np.flatnonzero(begins), ends), prepend=0)
    wrong = np.flatnonzero(counts != columns)
    if len(wrong):
        raise DataFormatError(
            f"{name} must have {columns} {'number' if columns == 1 else 'numbers'} in each line, "
            f"but line {first_line + wrong[0]:,} has {counts[wrong[0]]}"
        )


def _in_range(values, name, dtype):
    """Numbers as `dtype`; integers must fit. int64 ends where the reader stops counting, so its ends are refused."""
    if values.dtype == np.int64 and len(values):
        limits = np.iinfo(dtype)
        low, high = (limits.min + 1, limits.max - 1) if dtype == np.int64 else (limits.min, limits.max)
        if values.min() < low or values.max() > high:
            raise DataFormatError(f"{name} has a number out of range: they go from {values.min()} to {values.max()}")
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _not_a_number(text, name, kind, columns, first_line):
    """A message that names the first word that is not a number; lines with too few of them come first."""
    _check_lines(text, name, columns, first_line)
    convert = int if kind is np.int64 else float
    for line, row in enumerate(text.split(b"\n"), first_line):
        for word in row.translate(_BLANKS).split():
            try:
                convert(word)
            except ValueError:
                shown = word[:40].decode("utf-8", "replace")
                return f"{name} has something that is not a number: {shown!r} in line {line:,}"
    return f"{name} has something that is not a number"


def tu_zip(text: bytes, stem: str) -> bytes:
    """Turns a file in DGCNN's format into a zip file in TU layout.

    The format: the number of graphs; for each graph a line `n label`, then for each of its n nodes a line
    `tag m neighbour_1 ... neighbour_m`, neighbours counted from 0 within the graph.

    Args:
        text: Bytes of the file.
        stem: NAME in the names of the members.

    Returns:
        Bytes of the zip file.
    """
    try:
        parts = _parse([int(word) for word in text.split()])
    except (ValueError, IndexError) as error:
        raise DataFormatError(f"{stem}.txt is not in DGCNN's format, or cut off ({error})") from error
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, rows in parts.items():
            lines = "".join(", ".join(map(str, row)) + "\n" for row in rows)
            # A fixed date, so that the same text gives the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{stem}/{stem}_{part}.txt", (2016, 1, 1, 0, 0, 0)), lines)
    return buffer.getvalue()


def _parse(words):
    """Rows of each file of the TU layout, from all numbers of a DGCNN file."""
    parts = {"A": [], "graph_indicator": [], "graph_labels": [], "node_labels": []}
    place, first = 1, 1
    for graph in range(1, words[0] + 1):
        size, label = words[place], words[place + 1]
        place += 2
        parts["graph_labels"].append((label,))
        for node in range(first, first + size):
            tag, degree = words[place], words[place + 1]
            neighbours = words[place + 2 : place + 2 + degree]
            if degree < 0 or len(neighbours) != degree:
                raise ValueError("a node has fewer neighbours than it says")
            place += 2 + degree
            parts["graph_indicator"].append((graph,))
            parts["node_labels"].append((tag,))
            parts["A"] += [(node, first + int(neighbour)) for neighbour in neighbours]
        first += size
    if place != len(words):
        raise ValueError(f"{len(words) - place} numbers are left over")
    return {part: np.array(rows).tolist() for part, rows in parts.items()}
