"""The data of one fold or one run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Member:
    """What `Trainer` needs to train and evaluate one fold (graph task) or run (node task).

    Args:
        batches: `batches(e)` gives the training data of epoch e, from 0: (inputs, y) each.
        steps: batches in an epoch.
        held_out: batches that are evaluated after every epoch.
        parts: {name: slice of the held-out samples}.
        final: batches that are evaluated once, with the chosen weights; None if there are none.
        sizes: {"train": samples, ...}, for the record.
    """

    batches: Callable[..., Any]
    steps: int
    held_out: Any
    parts: dict[str, slice]
    final: Any
    sizes: dict[str, int]
