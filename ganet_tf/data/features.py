"""Node features of a whole data set: how they are made, and how they are kept."""

import json
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ganet_tf.data.arrays import RawGraphs, aligned_empty
from ganet_tf.data.targets import Target, from_plain, to_plain
from ganet_tf.errors import DataFormatError
from ganet_tf.files import write_whole
from ganet_tf.spelling import nearest

# One-hot degrees above it share the last channel. COLLAB, the widest of the paper's data sets, stays below.
MAX_DEGREE = 500


class OneHot:
    """One-hot columns, kept as one integer a node: COLLAB's degrees would be 0.7 GB written out.

    Args:
        codes: Which column is 1, [N].
        width: Number of columns.
    """

    def __init__(self, codes: np.ndarray, width: int):
        self.codes = codes
        self.width = int(width)
        # Copying rows of the identity is the fastest way, as long as that matrix is small.
        self._rows = np.eye(self.width, dtype=np.float32) if self.width <= 1024 else None

    def write(self, nodes, out):
        codes = self.codes[nodes]
        if self._rows is not None:
            np.take(self._rows, codes, axis=0, out=out, mode="clip")
        else:
            out[:] = 0
            out[np.arange(len(nodes)), codes] = 1


class Dense:
    """Columns that stand as they are, [N, width]."""

    def __init__(self, values: np.ndarray):
        self.values = values
        self.width = values.shape[1]

    def write(self, nodes, out):
        np.take(self.values, nodes, axis=0, out=out, mode="clip")


class NodeFeatures:
    """The features of all nodes of a data set, written out only for the nodes that are asked for.

    Args:
        blocks: `OneHot` and `Dense` blocks, side by side in this order.
        kind: What they are, for messages: "labels", "labels+degree", ...
    """

    def __init__(self, blocks: Iterable[OneHot | Dense], kind: str = "given"):
        self.blocks = tuple(blocks)
        self.kind = kind
        self.width = sum(block.width for block in self.blocks)

    def take(self, nodes: np.ndarray) -> np.ndarray:
        """Returns the features of some nodes, float32 [len(nodes), width]."""
        out = aligned_empty((len(nodes), self.width), np.float32)
        if len(self.blocks) == 1:
            self.blocks[0].write(nodes, out)
            return out
        start = 0
        for block in self.blocks:
            part = np.empty((len(nodes), block.width), np.float32)
            block.write(nodes, part)
            out[:, start : start + block.width] = part
            start += block.width
        return out


PARTS = ("labels", "attributes", "degree", "normalized_degree", "constant")
UNKNOWN = ("error", "other")


@dataclass(frozen=True)
class Encoder:
    """What turns labels, degrees and attributes of nodes into features: fitted on one data set, applied to others.

    | part of `kind` | channels |
    |---|---|
    | `labels` | one-hot node label, one channel for each label that occurred |
    | `attributes` | the node attributes as they stand |
    | `degree` | one-hot degree; degrees of `max_degree` and more share the last channel |
    | `normalized_degree` | degree / (n - 1), one channel |
    | `constant` | 1 |
    | `a+b` | the channels of both, in this order |

    A label, or a degree, that did not occur has no channel. Where it turns up later, that is an error, or with
    `unknown="other"` one more channel; it never takes the place of another label.

    Args:
        kind: Names from the table, joined by "+"; or "given", for features that came as they are.
        labels: For each column of labels those that occurred, in the order of the channels.
        num_attributes: Number of attributes.
        num_degrees: Number of channels of one-hot degrees.
        max_degree: Where one-hot degrees are cut off.
        unknown: "error" or "other".

    Example:
    ```python
    encoder = train.encoder                       # kept with the data set
    Path("encoder.json").write_text(encoder.to_json())
    new = data.GraphDataset.from_networkx(new_graphs, like=Encoder.from_json(Path("encoder.json").read_text()))
    ```
    """

    kind: str
    labels: tuple[tuple[Hashable, ...], ...] = ()
    num_attributes: int = 0
    num_degrees: int = 0
    max_degree: int = 500
    unknown: str = "error"

    @classmethod
    def fit(
        cls, raw: RawGraphs, features: str = "auto", max_degree: int = MAX_DEGREE, unknown: str = "error"
    ) -> "Encoder":
        """Fits an encoder on the graphs of a data set.

        `features="auto"` is the paper's setting as far as it is known: it takes over DGCNN's. DGCNN uses one-hot
        labels; where a data set has none, attributes; and where it has neither (IMDB-M, COLLAB) the Torch code behind
        its published figures uses the normalised degree. Its later PyTorch port has a constant there, and the
        authors' own later code the one-hot degree, which did much better than a constant on IMDB-M in our pilot: ask
        for it with `features="degree"`.

        Raises:
            DataFormatError: For an unknown name, or labels or attributes that the data set does not have.
        """
        if unknown not in UNKNOWN:
            raise DataFormatError(f"unknown must be 'error' or 'other', but is {unknown!r}")
        if max_degree < 1:
            raise DataFormatError(f"max_degree must be at least 1, but is {max_degree}")
        has = {"labels": raw.node_labels.shape[1] > 0, "attributes": raw.node_attributes.shape[1] > 0}
        if features == "auto":
            features = "labels" if has["labels"] else "attributes" if has["attributes"] else "normalized_degree"
        parts = str(features).split("+")
        for part in parts:
            if part not in PARTS:
                raise DataFormatError(
                    f"features={features!r}: there is no feature {part!r}{nearest(part, PARTS)}; "
                    f"there are auto, {', '.join(PARTS)} and sums of them such as 'labels+degree'"
                )
            if not has.get(part, True):
                raise DataFormatError(f"features={features!r}: the data set has no node {part}; use 'auto' or 'degree'")
        degrees = int(min(raw.degrees.max(initial=0), max_degree)) + 1
        return cls(
            kind=features,
            labels=tuple(tuple(column) for column in raw.label_values) if "labels" in parts else (),
            num_attributes=raw.node_attributes.shape[1] if "attributes" in parts else 0,
            num_degrees=degrees if "degree" in parts else 0,
            max_degree=int(max_degree),
            unknown=unknown,
        )

    @property
    def width(self) -> int:
        """Number of features."""
        other = self.unknown == "other"
        widths = {
            "labels": sum(len(column) + other for column in self.labels),
            "attributes": self.num_attributes,
            "given": self.num_attributes,
            "degree": self.num_degrees + (other and self.num_degrees <= self.max_degree),
            "normalized_degree": 1,
            "constant": 1,
        }
        return sum(widths[part] for part in self.kind.split("+"))

    def apply(self, raw: RawGraphs) -> NodeFeatures:
        """Makes the features of some graphs.

        Raises:
            DataFormatError: If they have no labels or attributes, or not as many as were fitted; or a label or degree
                that did not occur, under `unknown="error"`.
        """
        make = {
            "labels": lambda: self._label_blocks(raw),
            "attributes": lambda: [Dense(self._attributes(raw))],
            "given": lambda: [Dense(self._attributes(raw))],
            "degree": lambda: [self._degree_block(raw.degrees)],
            "normalized_degree": lambda: [Dense(normalized_degree(raw.degrees, raw.sizes))],
            "constant": lambda: [Dense(np.ones((len(raw.degrees), 1), np.float32))],
        }
        return NodeFeatures([block for part in self.kind.split("+") for block in make[part]()], self.kind)

    def _label_blocks(self, raw):
        columns = raw.label_values
        if len(columns) != len(self.labels):
            raise DataFormatError(
                f"the features are one-hot labels of {len(self.labels)} kinds, but the nodes have {len(columns)}"
            )
        codes = [self._renumbered(raw.node_labels[:, i], columns[i], self.labels[i]) for i in range(len(columns))]
        other = self.unknown == "other"
        return [OneHot(code, len(known) + other) for code, known in zip(codes, self.labels, strict=True)]

    def _renumbered(self, codes, values, known):
        """Codes of labels that are numbered as in `values`, with the numbers that `known` gives them."""
        if tuple(values) == known:
            return codes
        place = {value: number for number, value in enumerate(known)}
        strange = [value for value in values if value not in place]
        if strange and self.unknown == "error":
            raise DataFormatError(
                f"the node label {strange[0]!r} did not occur in the data set that the features were fitted on "
                f"(it had {_shortened(known)}); fit with unknown='other' to give such labels a channel of their own"
            )
        numbers = np.array([place.get(value, len(known)) for value in values], np.int32)
        return numbers[codes]

    def _attributes(self, raw):
        if raw.node_attributes.shape[1] != self.num_attributes:
            raise DataFormatError(
                f"the features are {self.num_attributes} attributes of each node, but these nodes have "
                f"{raw.node_attributes.shape[1]}"
            )
        return raw.node_attributes

    def _degree_block(self, degrees):
        last = self.num_degrees - 1
        if last == self.max_degree:
            return OneHot(np.minimum(degrees, last).astype(np.int32), self.num_degrees)
        if degrees.max(initial=0) > last and self.unknown == "error":
            raise DataFormatError(
                f"a node has {degrees.max()} neighbours, but the data set that the features were fitted on had at most "
                f"{last}; fit with max_degree={last}, so that {last} and more share a channel, or with unknown='other'"
            )
        other = self.unknown == "other"
        return OneHot(np.minimum(degrees, last + other).astype(np.int32), self.num_degrees + other)

    def after(self, before: "Encoder") -> "Encoder":
        """The encoder that does what `before` does and then this one, whose attributes are the features of `before`."""
        if before.kind == "given" or "attributes" not in self.kind.split("+"):
            return self
        parts = [before.kind if part == "attributes" else part for part in self.kind.split("+")]
        degrees = self.num_degrees or before.num_degrees
        return replace(before, kind="+".join(parts), num_degrees=degrees, max_degree=self.max_degree)

    def to_json(self) -> str:
        """JSON text; `Encoder.from_json` makes the same of it."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return json.dumps(
            {**parts, "labels": [[to_plain(label) for label in column] for column in self.labels]}, indent=1
        )

    @classmethod
    def from_json(cls, text: str) -> "Encoder":
        """Makes the encoder that `to_json` was called on."""
        try:
            parts = json.loads(text)
            labels = tuple(tuple(from_plain(label) for label in column) for column in parts.pop("labels"))
            encoder = cls(labels=labels, **parts)
            right = set(encoder.kind.split("+")) <= {*PARTS, "given"} and encoder.unknown in UNKNOWN
            right = right and all(isinstance(n, int) for n in (encoder.num_attributes, encoder.num_degrees))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataFormatError(f"this is not the JSON of an Encoder ({error!r})") from error
        if not right:
            raise DataFormatError(f"this is not the JSON of an Encoder: {text[:80]!r}")
        return encoder


def _shortened(values, most=12):
    return ", ".join(map(repr, values[:most])) + (", ..." if len(values) > most else "")


def normalized_degree(degrees: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """degree / (n - 1) as one column; 0 for a graph of one node."""
    possible = np.repeat(np.maximum(sizes - 1, 1), sizes)
    return (degrees / possible).astype(np.float32)[:, None]


def parts_of(like: Any) -> tuple[Encoder | None, Target | None]:
    """Encoder and target of a data set, or of the path of a file that has them; an `Encoder` alone has no target."""
    if isinstance(like, (str, os.PathLike)):
        return read_encoding(like)
    if like is None or isinstance(like, Encoder):
        return like, None
    if not isinstance(getattr(like, "encoder", None), Encoder):
        raise DataFormatError(
            f"like must be a data set, an Encoder or the path of an encoder.json, but is a {type(like).__name__}"
        )
    return like.encoder, like.target


def encoding(dataset: Any) -> dict[str, Any]:
    """What must be known to read other data like these, for JSON: encoder, target, whether edges have weights."""
    encoder, target = (json.loads(part.to_json()) for part in (dataset.encoder, dataset.target))
    return {"encoder": encoder, "target": target, "edge_weights": dataset.weighted}


def save_encoding(path: str | os.PathLike, dataset: Any) -> None:
    """Writes `encoding` and the data set's name; `read_encoding` and `like=` take the file, and that of a run."""
    write_whole(path, json.dumps({"dataset": dataset.name, **encoding(dataset)}, indent=1, ensure_ascii=False) + "\n")


def read_encoding(path: str | os.PathLike) -> tuple[Encoder, Target]:
    """Encoder and target of a file that `save_encoding` or train.py wrote."""
    try:
        parts = json.loads(Path(path).read_text(encoding="utf-8"))
        encoder, target = (json.dumps(parts[name]) for name in ("encoder", "target"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataFormatError(
            f"{path} is no file of an encoder ({error!r}); save_encoder of a data set makes one, and a run has its own"
        ) from error
    return Encoder.from_json(encoder), Target.from_json(target)
