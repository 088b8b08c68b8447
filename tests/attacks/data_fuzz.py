"""Damages data files at random and looks at what loading them does: run as a script, in a process of its own.

    python tests/attacks/data_fuzz.py KIND SEED CASES        # KIND: text, zip, pickle, cache

It prints a JSON object: how many cases loaded the same ("same"), were refused in a sentence ("sentence"), loaded other
data than the file holds ("wrong") or raised anything else ("crash"), with the first few of the last two. `ganet_tf` is
then there as an empty package, so that only its data part is imported: no TensorFlow, a start within a second.
"""

import json
import logging
import os
import pickle
import re
import resource
import shutil
import sys
import tempfile
import types
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.modules["ganet_tf"] = types.ModuleType("ganet_tf")
    sys.modules["ganet_tf"].__path__ = [str(ROOT / "ganet_tf")]

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

from ganet_tf import data  # noqa: E402
from ganet_tf.data.safe_pickle import load_pickle  # noqa: E402
from ganet_tf.data.tu import read_tu  # noqa: E402
from ganet_tf.errors import GANetError  # noqa: E402

MEMORY = 4 << 30  # a case that wants more is a crash


def tu_texts(rng):
    """A data set of a few graphs in TU layout: text by part."""
    sizes = rng.integers(2, 7, 5)
    first = np.cumsum(sizes) - sizes
    pairs = [
        tuple(rng.integers(0, n, 2) + start + 1) for start, n in zip(first, sizes, strict=True) for _ in range(2 * n)
    ]
    rows = {
        "A": pairs,
        "graph_indicator": [(graph + 1,) for graph, n in enumerate(sizes) for _ in range(n)],
        "graph_labels": [(int(label),) for label in rng.choice([-1, 1, 10], 5)],
        "node_labels": [tuple(rng.integers(-3, 12, 2)) for _ in range(sizes.sum())],
        "node_attributes": [tuple(np.round(rng.normal(size=3), 3)) for _ in range(sizes.sum())],
    }
    return {part: "".join(", ".join(map(str, row)) + "\n" for row in many) for part, many in rows.items()}


def damaged(content, rng):
    """Bytes with one to three small accidents."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        place = int(rng.integers(0, max(len(content), 1)))
        length = int(rng.integers(1, 6))
        kind = rng.choice(["flip", "set", "delete", "insert", "cut", "double", "zero", "line"])
        if kind == "flip" and content:
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == "set" and content:
            content[place] = int(rng.choice(list(b"0123456789,;. -+eE\t\r\n\x0b\x00nx")))
        elif kind == "delete":
            del content[place : place + length]
        elif kind == "insert":
            content[place:place] = bytes(rng.choice(list(b"0123456789,;. -\n\x0c_"), length).astype(np.uint8))
        elif kind == "cut":
            del content[place:]
        elif kind == "double":
            content[place:place] = content[place : place + 10 * length]
        elif kind == "zero":
            content[place : place + length] = bytes(len(content[place : place + length]))
        elif kind == "line":
            end = content.find(b"\n", place)
            del content[place : end if end >= 0 else len(content)]
    return bytes(content)


# What a text file of numbers says, in the plainest way: each line on its own.

INTEGER = re.compile(rb"[+-]?[0-9]+\Z")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z|[+-]?(inf|infinity|nan)\Z", re.IGNORECASE)


def plain_rows(content, columns, whole):
    """Rows of numbers, or None if a line does not have `columns` of them (None: as many as the first)."""
    if b"," in content and b";" in content:
        return None
    rows = []
    for line in content.rstrip().split(b"\n") if content.strip() else []:
        words = re.split(rb"[,; \t\r\v\f]+", line.strip(b",; \t\r\v\f"))
        words = [] if words == [b""] else words
        columns = max(len(words), 1) if columns is None else columns
        if len(words) != columns or not all((INTEGER if whole else NUMBER).match(word) for word in words):
            return None
        rows.append([int(word) if whole else float(word) for word in words])
    return rows


def plain_reading(texts):
    """Edges, labels and classes by the letter of the layout, or None if any file breaks it."""
    kinds = {"A": (2, True), "graph_indicator": (1, True), "graph_labels": (1, False)}
    kinds |= {"node_labels": (None, True), "node_attributes": (None, False)}
    rows = {part: plain_rows(texts[part], *kind) for part, kind in kinds.items()}
    if any(value is None for value in rows.values()) or not rows["graph_indicator"]:
        return None
    graph_of = [row[0] for row in rows["graph_indicator"]]
    steps = [b - a for a, b in zip([0, *graph_of], graph_of, strict=False)]
    labels = [row[0] for row in rows["graph_labels"]]
    nodes = len(graph_of)
    right = steps[0] == 1 and set(steps) <= {0, 1} and len(labels) == graph_of[-1]
    right = right and all(label == label and abs(label) < 2**53 and label == int(label) for label in labels)
    right = right and len(rows["node_labels"]) == len(rows["node_attributes"]) == nodes
    right = right and all(abs(value) < 2**63 - 1 for row in rows["node_labels"] for value in row)
    right = right and all(np.isfinite(np.float32(value)) for row in rows["node_attributes"] for value in row)
    right = right and all(1 <= node <= nodes for row in rows["A"] for node in row)
    right = right and all(graph_of[a - 1] == graph_of[b - 1] for a, b in rows["A"])
    if not right:
        return None
    edges = sorted({(b, a) for a, b in rows["A"] if a != b})
    return edges, graph_of, labels, rows["node_labels"], np.float32(rows["node_attributes"]).tolist()


def as_plain(raw):
    """The same of what was loaded."""
    first = np.repeat(raw.node_offsets[:-1], np.diff(raw.edge_offsets))[:, None]
    edges = (raw.edges + first + 1)[:, ::-1].tolist()
    graph_of = np.repeat(np.arange(1, len(raw.y) + 1), raw.sizes).tolist()
    return (
        list(map(tuple, edges)),
        graph_of,
        raw.class_labels[raw.y].tolist(),
        raw.node_labels,
        raw.node_attributes.tolist(),
    )


def codes(rows):
    """Labels by their rank in each column, as the reader has them."""
    if not rows:
        return []
    columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in zip(*rows, strict=True)]
    return np.stack(columns, axis=1).tolist()


def text_case(rng, folder):
    """One damaged text file: it must load as the plain reading says, or be refused."""
    texts = {part: text.encode() for part, text in tu_texts(rng).items()}
    part = str(rng.choice(list(texts)))
    texts[part] = damaged(texts[part], rng)
    for name, text in texts.items():
        (folder / f"T_{name}.txt").write_bytes(text)
    with np.errstate(over="ignore"):
        expected = plain_reading(texts)
    raw = read_tu(folder, quiet=True)
    if expected is None:
        return "wrong"
    edges, graph_of, labels, node_labels, attributes = expected
    got = as_plain(raw)
    same = got[:3] == (edges, graph_of, labels) and got[3].tolist() == codes(node_labels) and got[4] == attributes
    return "same" if same else "wrong"


def zip_case(rng, folder):
    """One damaged zip file: what loads is what was packed."""
    path = folder / "T.zip"
    method = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    with zipfile.ZipFile(path, "w", method) as archive:
        for part, text in tu_texts(rng).items():
            archive.writestr(f"T/T_{part}.txt", text)
    right = read_tu(path, quiet=True).arrays()
    path.write_bytes(damaged(path.read_bytes(), rng))
    loaded = read_tu(path, quiet=True).arrays()
    return "same" if all(np.array_equal(loaded[name], right[name]) for name in right) else "wrong"


def pickle_case(rng, folder):
    """One damaged pickle: whatever it makes can be used without harm."""
    values = [
        rng.normal(size=(3, 4)),
        np.asfortranarray(rng.integers(0, 9, (3, 2))),
        sp.csr_matrix(sp.random(5, 6, 0.4, random_state=int(rng.integers(1 << 30)))),
        {0: [1, 2], 1: [0], 2: [0, 1]},
        np.float64(3.5),
    ]
    value = values[int(rng.integers(len(values)))]
    path = folder / "file"
    path.write_bytes(damaged(pickle.dumps(value, int(rng.integers(0, 5))), rng))
    loaded = load_pickle(path)
    dense = loaded.toarray() if sp.issparse(loaded) else loaded
    repr(dense), pickle.dumps(dense), np.sum(dense) if isinstance(dense, np.ndarray) else None
    return "same"  # a pickle has no checksum of its own; `load` compares SHA-256 before


def cache_case(rng, folder):
    """One damaged file of the cache: the data set is the same, and the cache is whole again."""
    for part, text in tu_texts(rng).items():
        (folder / f"T_{part}.txt").write_text(text)
    cache = Path(os.environ["GANET_CACHE"])
    shutil.rmtree(cache, ignore_errors=True)
    right = data.load(folder, features="labels+attributes").arrays()
    (cached,) = (cache / "arrays").iterdir()
    file = cached / str(rng.choice(sorted(path.name for path in cached.iterdir())))
    if rng.random() < 0.1:
        file.unlink()
    else:
        file.write_bytes(damaged(file.read_bytes(), rng))
    for _ in range(2):
        loaded = data.load(folder, features="labels+attributes").arrays()
        if not all(np.array_equal(loaded[name], right[name]) for name in right):
            return "wrong"
    return "same"


CASES = {"text": text_case, "zip": zip_case, "pickle": pickle_case, "cache": cache_case}


def run(kind, seed, cases):
    """Counts of outcomes, and the first few that are not right."""
    counts, bad = dict.fromkeys(("same", "sentence", "wrong", "crash"), 0), []
    for case in range(cases):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["GANET_CACHE"] = str(Path(folder) / "cache")
            try:
                outcome = CASES[kind](np.random.default_rng([seed, case]), Path(folder))
            except GANetError as error:
                outcome = "sentence" if len(str(error)) > 20 else "crash"
            except Exception as error:
                outcome = "crash"
                bad.append([case, repr(error)[:300]])
        counts[outcome] += 1
        if outcome == "wrong":
            bad.append([case, "loaded other data"])
    return {**counts, "bad": bad[:5]}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
