"""Node features of a whole data set: dense columns, and one-hot columns kept as codes."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data.arrays import aligned_empty
from ganet_tf.data.graph import as_features
from ganet_tf.errors import DataFormatError
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

    @classmethod
    def dense(cls, x: ArrayLike) -> "NodeFeatures":
        return cls([Dense(as_features(x))])

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


def build_features(
    kind: str,
    degrees: np.ndarray,
    sizes: np.ndarray,
    labels: np.ndarray,
    label_counts: Sequence[int],
    attributes: np.ndarray,
    max_degree: int = MAX_DEGREE,
) -> NodeFeatures:
    """Makes the features that were asked for by name.

    | name | channels |
    |---|---|
    | `labels` | one-hot node label, one channel for each label that occurs |
    | `attributes` | the node attributes as they stand |
    | `degree` | one-hot degree; degrees of `max_degree` and more share the last channel |
    | `normalized_degree` | degree / (n - 1), one channel |
    | `constant` | 1 |
    | `a+b` | the channels of both, in this order |
    | `auto` | labels where there are any, else attributes, else `normalized_degree` |

    `auto` is the paper's setting as far as it is known: it takes over DGCNN's. DGCNN uses one-hot labels, and where
    a data set has none (IMDB-M, COLLAB) the Torch code behind its published figures uses the normalised degree. Its
    later PyTorch port has a constant there, and the authors' own later code the one-hot degree, which did
    much better than a constant on IMDB-M in our pilot: ask for it with `features="degree"`.

    Args:
        kind: One of the names above.
        degrees: Number of neighbours of every node, [N].
        sizes: Number of nodes of every graph, [G].
        labels: Codes from 0 of the node labels, a column for each kind of label, [N, L].
        label_counts: How many different labels each column has, [L].
        attributes: Node attributes [N, A].
        max_degree: Where one-hot degrees are cut off.

    Returns:
        `NodeFeatures`.

    Raises:
        DataFormatError: For an unknown name, or labels or attributes that the data set does not have.
    """
    has = {"labels": labels.shape[1] > 0, "attributes": attributes.shape[1] > 0}
    if kind == "auto":
        kind = "labels" if has["labels"] else "attributes" if has["attributes"] else "normalized_degree"
    make = {
        "labels": lambda: [OneHot(codes, n) for codes, n in zip(labels.T, label_counts, strict=True)],
        "attributes": lambda: [Dense(attributes)],
        "degree": lambda: [one_hot_degree(degrees, max_degree)],
        "normalized_degree": lambda: [Dense(normalized_degree(degrees, sizes))],
        "constant": lambda: [Dense(np.ones((len(degrees), 1), np.float32))],
    }
    blocks = []
    for part in str(kind).split("+"):
        if part not in make:
            raise DataFormatError(
                f"features={kind!r}: there is no feature {part!r}{nearest(part, make)}; "
                f"there are auto, {', '.join(make)} and sums of them such as 'labels+degree'"
            )
        if not has.get(part, True):
            raise DataFormatError(f"features={kind!r}: the data set has no node {part}; use 'auto' or 'degree'")
        blocks += make[part]()
    return NodeFeatures(blocks, kind)


def one_hot_degree(degrees: np.ndarray, max_degree: int = MAX_DEGREE) -> OneHot:
    """One-hot degree; the width is the largest degree + 1, at most `max_degree` + 1."""
    if max_degree < 1:
        raise DataFormatError(f"max_degree must be at least 1, but is {max_degree}")
    codes = np.minimum(degrees, max_degree).astype(np.int32)
    return OneHot(codes, int(codes.max(initial=0)) + 1)


def normalized_degree(degrees: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """degree / (n - 1) as one column; 0 for a graph of one node."""
    possible = np.repeat(np.maximum(sizes - 1, 1), sizes)
    return (degrees / possible).astype(np.float32)[:, None]
