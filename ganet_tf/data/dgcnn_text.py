"""The text format of DGCNN's repository, which is the only place of the paper's PTC."""

import io
import zipfile

import numpy as np

from ganet_tf.errors import DataFormatError


def tu_zip(text, stem):
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
