"""What is to be predicted: classes, numbers or several yes-or-no answers, and which of them are missing."""

import json
import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from ganet_tf.data.arrays import array_of
from ganet_tf.errors import DataFormatError

log = logging.getLogger(__name__)

KINDS = ("classes", "regression", "multilabel")
MISSING = -1  # the class number of what is not known; in float targets it is NaN


@dataclass(frozen=True)
class Target:
    """The kind of a data set's targets, and what their numbers mean.

    | kind | made of | `y` | missing |
    |---|---|---|---|
    | `classes` | labels of any hashable type but float | int32 [n], numbers of `labels` | None, NaN, ""; in `y` -1 |
    | `regression` | floats, one or several for each | float32 [n, T] | NaN |
    | `multilabel` | a matrix of 0 and 1 | float32 [n, T] | NaN |

    Among the classes 0, 1, ..., and in a matrix of 0 and 1, a -1 is missing, too. Classes -1 and 1 are two classes.

    Args:
        kind: One of the above.
        labels: For classes: the original labels, in the order of their numbers.
        width: Number of outputs that a model needs.
        names: Of the outputs, where the data have them, as the columns of a table do.
    """

    kind: str = "classes"
    labels: tuple[Hashable, ...] = ()
    width: int = 1
    names: tuple[str, ...] = ()

    def to_json(self) -> str:
        """JSON text; `Target.from_json` makes the same of it."""
        parts = {"kind": self.kind, "labels": [to_plain(label) for label in self.labels], "width": self.width}
        return json.dumps(parts | ({"names": list(self.names)} if self.names else {}))

    @classmethod
    def from_json(cls, text: str) -> "Target":
        try:
            parts = json.loads(text)
            labels = tuple(from_plain(label) for label in parts["labels"])
            target = cls(parts["kind"], labels, int(parts["width"]), tuple(map(str, parts.get("names", ()))))
        except (ValueError, KeyError, TypeError) as error:
            raise DataFormatError(f"this is not the JSON of a Target ({error!r})") from error
        if target.kind not in KINDS or target.width < 1 or len(target.names) not in (0, target.width):
            raise DataFormatError(f"this is not the JSON of a Target: kind {target.kind!r}, width {target.width}")
        return target


def read_targets(
    values: Any, count: int, like: Target | None = None, what: str = "graphs"
) -> tuple[np.ndarray, Target]:
    """Finds out what kind of targets there are.

    Args:
        values: One for each graph or node: labels, floats, or a matrix [count, T]; None where nothing is known.
        count: How many there are to be.
        like: The target of another data set: classes get its numbers, and other kinds are refused.
        what: What has the targets, for messages.

    Returns:
        (y, target).

    Raises:
        DataFormatError: For another number of targets, mixed kinds, or what `like` does not have.
    """
    if values is None:
        values = [0] * count if like is None else [None] * count
    if isinstance(values, (Mapping, Set)):
        raise DataFormatError(f"labels must be a list, one for each of the {what}, but is a {type(values).__name__}")
    values = listed(values)
    if len(values) != count:
        raise DataFormatError(f"there are {count} {what}, but {len(values)} labels")
    expected = None if like is None else like.kind
    if expected not in (None, "classes") and all(value is None for value in values):
        return np.full((count, like.width), np.nan, np.float32), like
    if any(_is_row(value) for value in values):
        y, target = _matrix(values, expected, what)
        values = y[:, 0] if target is None else values
    elif any(isinstance(value, (float, np.floating)) for value in values) or (
        expected == "regression" and all(value is None or _is_number(value) for value in values)
    ):
        y, target = _numbers(values, what)
    else:
        target = None
    if target is None:
        return _classes(values, like, what)
    if like is not None and (like.kind, like.width) != (target.kind, target.width):
        raise DataFormatError(
            f"these targets are {target.kind} ({target.width} each), but {like.kind} ({like.width} each) is expected"
        )
    return y, target if like is None else like


def listed(values: Any) -> list[Any]:
    """Targets as a list: those of tensors and frames as Python has them, and None for every kind of missing ones."""
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):  # a pandas frame, whose own list is of its columns
        values = values.to_numpy()
        values = values[:, 0] if values.shape[1] == 1 else values
    values = array_of(values) if hasattr(values, "numpy") else values
    if isinstance(values, np.ndarray) and (values.dtype.kind in "iub" or values.ndim > 1):
        return list(values)
    return [None if is_missing(value) else value for value in map(_as_python, values)]


def _as_python(value):
    """A target of a tensor: two tensors of one number would be two classes."""
    value = array_of(value) if hasattr(value, "numpy") else value
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN, what pandas has in their place, or empty text."""
    if value is None or (isinstance(value, str) and not value):
        return True
    if isinstance(value, (str, int, tuple)) or not isinstance(value, Hashable):
        return False
    try:
        return not bool(value == value)
    except (TypeError, ValueError):  # pandas' NA is neither equal nor not
        return True


def _is_row(value):
    return np.ndim(value) == 1 and not isinstance(value, tuple)


def _numbers(values, what):
    """Floats, with whole numbers among them; None and NaN are missing."""
    strangers = [value for value in values if not _is_number(value) and value is not None]
    if strangers:
        raise DataFormatError(
            f"the targets of the {what} are of mixed kinds: there are floats, and {strangers[0]!r}; floats are for "
            "regression, anything else for classes"
        )
    y = np.array([np.nan if value is None else value for value in values], np.float32)[:, None]
    return _finite(y, what), Target("regression")


def _is_number(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def _matrix(values, expected, what):
    """Several answers for each: 0 and 1 only is multi-label, floats are regression.

    A column of classes, as OGB has them, comes without a target.
    """
    if not all(value is None or _is_row(value) for value in values):
        raise DataFormatError(f"the targets of the {what} must be rows of numbers, all of one length")
    rows = [value if value is None or _is_array(value) else listed(value) for value in values]
    try:
        (width,) = {len(row) for row in rows if row is not None}
        y = np.array([[None] * width if row is None else row for row in rows], np.float64)
    except (ValueError, TypeError):
        raise DataFormatError(f"the targets of the {what} must be rows of numbers, all of one length") from None
    whole = all(_is_whole(row) for row in rows if row is not None)
    known = set(np.unique(y[~np.isnan(y)]).tolist())
    if expected != "regression" and _are_labels(known, whole) and not (expected == "classes" and whole and width == 1):
        return np.where(y == MISSING, np.nan, y).astype(np.float32), Target("multilabel", width=width)
    if expected == "regression" or not whole:
        return _finite(y.astype(np.float32), what), Target("regression", width=width)
    if width == 1:
        return np.array([[None if row is None or row[0] is None else int(row[0])] for row in rows], object), None
    if known == {MISSING, 1}:
        raise DataFormatError(
            f"the targets of the {what} are a matrix of -1 and 1: in multi-label targets 0 is no, 1 is yes, and -1 or "
            "NaN is unknown; write 0 where -1 means no"
        )
    raise DataFormatError(
        f"the targets of the {what} are a matrix of whole numbers that are not 0 and 1 alone; multi-label targets "
        "are 0 and 1, regression targets are floats"
    )


def _are_labels(known, whole):
    """Whether some numbers are 0 and 1, with -1 for what is missing; floats of -1 and 0 alone may be numbers, too."""
    return known <= {0, 1} or known == {MISSING, 0, 1} or (whole and known in ({MISSING}, {MISSING, 0}))


def _is_array(row):
    return isinstance(row, np.ndarray) and row.dtype.kind in "fiub"


def _is_whole(row):
    if _is_array(row):
        return row.dtype.kind in "iub"
    return all(value is None or isinstance(value, (int, np.integer, np.bool_)) for value in row)


def _finite(y, what):
    if np.isinf(y).any():
        raise DataFormatError(f"the targets of the {what} are infinite in row {np.isinf(y).any(axis=1).argmax()}")
    return y


def _classes(values, like, what):
    """Numbers of labels; None is missing, and so is -1 beside the classes 0, 1, ... (but not beside 1 alone)."""
    try:
        found = set(values) - {None}
    except TypeError:
        strange = next(value for value in values if not isinstance(value, Hashable))
        raise DataFormatError(f"the label {strange!r} of one of the {what} cannot be a class") from None
    if MISSING in found and _numbered(found - {MISSING} if like is None else like.labels):
        log.warning(
            "-1 is taken for an unknown class of some %s, because the others are numbered from 0; if it is a class, "
            "give classes names, and if it is a number, write it as -1.0",
            what,
        )
        found.remove(MISSING)
        values = [None if value == MISSING else value for value in values]
    if found and all(isinstance(value, tuple) and set(value) <= {0, 1} for value in found):
        log.warning("tuples such as %s are classes; for several labels of each give lists, or an array", min(found))
    labels = in_order(found)
    if like is not None:
        if like.kind != "classes":
            raise DataFormatError(f"these targets are classes, but {like.kind} is expected")
        unknown = in_order(found - set(like.labels))
        if unknown:
            raise DataFormatError(f"the class {unknown[0]!r} is not one of {list(like.labels)}")
        labels = like.labels
    known = {label: number for number, label in enumerate(labels)}
    y = np.array([MISSING if value is None else known[value] for value in values], np.int32)
    return y, Target("classes", tuple(_plain_number(label) for label in labels), max(len(labels), 1))


def _numbered(labels):
    """Whether classes are numbers from 0, two at least."""
    whole = all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in labels)
    return whole and len(labels) > 1 and set(labels) == set(range(len(labels)))


def _plain_number(value):
    """A label as Python has it: NumPy's numbers would print as np.int64(3)."""
    return value.item() if isinstance(value, np.generic) else value


def in_order(values: Iterable[Hashable]) -> list[Hashable]:
    """Sorted values; of mixed types, which do not compare, by their text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def strata(y: np.ndarray, target: Target, parts: int) -> np.ndarray:
    """Numbers from 0 by which a data set is cut into like parts: classes, or ranges of the first number.

    Multi-label targets have no such order: they are cut at random.
    """
    if target.kind == "classes":
        return y - y.min()
    if target.kind == "multilabel":
        return np.zeros(len(y), np.int64)
    order = np.argsort(np.argsort(np.nan_to_num(y[:, 0]), kind="stable"), kind="stable")
    ranges = max(min(5, len(y) // max(parts, 1)), 1)
    return order * ranges // max(len(y), 1)


def to_plain(value: Hashable) -> Any:
    """A label as JSON has it; tuples, which it does not have, as {"tuple": [...]}."""
    value = _plain_number(value)
    if isinstance(value, tuple):
        return {"tuple": [to_plain(part) for part in value]}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise DataFormatError(
        f"the label {value!r} cannot be saved: labels of str, int, float, bool and tuples of them can"
    )


def from_plain(value: Any) -> Hashable:
    """The label that `to_plain` was given."""
    return tuple(from_plain(part) for part in value["tuple"]) if isinstance(value, dict) else value


def label_columns(columns: Sequence[Sequence[Hashable]], count: int) -> tuple[np.ndarray, list[int], list[Hashable]]:
    """Codes [n, L] of some columns of labels, how many labels each column has, and the labels, column after column."""
    codes, counts, values = [], [], []
    for column in columns:
        known = {value: code for code, value in enumerate(in_order(set(column)))}
        codes.append([known[value] for value in column])
        counts.append(len(known))
        values += [_plain_number(value) for value in known]
    return np.array(codes, np.int32).reshape(len(columns), count).T, counts, values
