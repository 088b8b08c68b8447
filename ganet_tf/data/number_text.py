"""Fast reading of text files that hold nothing but numbers."""

import warnings

import numpy as np

from ganet_tf.errors import DataFormatError

CHUNK = 8 << 20
READ = 64 << 10
_BLANKS = bytes.maketrans(b",;\t\r\n", b"     ")


def read_numbers(stream, name, dtype, columns=None):
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


def read_columns(stream, name, dtype, columns):
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
    pieces = []
    for text in whole_lines(stream):
        if columns is None:
            columns = max(len(text.split(b"\n", 1)[0].translate(_BLANKS).split()), 1)
        pieces.append(parse(text, name, dtype, columns))
    return pieces


def whole_lines(stream):
    """Yields the stream in pieces of about 8 MB that end at the end of a line; the last one may not."""
    # Small reads: zipfile unpacks as many packed bytes as are asked for plain ones, 0.3 GB for 8 MB of LZMA.
    parts, size = [], 0
    while piece := stream.read(READ):
        parts.append(piece)
        size += len(piece)
        if size >= CHUNK:
            text = b"".join(parts)
            cut = text.rfind(b"\n") + 1
            if cut == 0:
                raise DataFormatError(f"a line is longer than {CHUNK:,} bytes: this is not a file of numbers")
            yield text[:cut]
            parts, size = [text[cut:]], len(text) - cut
    rest = b"".join(parts)
    if rest.strip():
        yield rest


def parse(text, name, dtype, columns):
    """Turns a piece of text into an array [lines, columns]."""
    wide = np.int64 if np.dtype(dtype).kind == "i" else np.float64
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what text that is no number gives
        try:
            values = np.fromstring(text.translate(_BLANKS), dtype=wide, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            raise DataFormatError(f"{name} has something that is not a number{_where(text, wide)}") from error
    if len(values) % columns:
        raise DataFormatError(f"{name} must have {columns} numbers in each line, but {len(values)} in all came")
    if wide is np.int64 and len(values):
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise DataFormatError(f"{name} has a number out of range: they go from {values.min()} to {values.max()}")
    with np.errstate(over="ignore"):
        return values.astype(dtype).reshape(-1, columns)


def _where(text, kind):
    """Names the first word that is not a number."""
    convert = int if kind is np.int64 else float
    for word in text.translate(_BLANKS).split():
        try:
            convert(word)
        except ValueError:
            return f": {word[:40].decode('utf-8', 'replace')!r}"
    return ""
