"""A flipped bit in each byte of a finished fold's files: the same result, a sentence, or a fold that is trained again.

`GANET_SOAK` flips every bit.
"""

import os

import pytest

from experiments.run_folder import History, RunFolder
from ganet_tf.errors import RunError

ALL = "GANET_SOAK" in os.environ
RESULT = {"fold": 1, "epochs": 2, "rules": {"last_epoch": {"epoch": 2, "accuracy": 0.75}}, "seconds": 1.5}


@pytest.fixture
def finished(tmp_path):
    """A run with fold 1 finished."""
    folder = RunFolder(tmp_path)
    folder.fold(1).mkdir()
    history = History(folder.fold(1) / "history.csv")
    for epoch in (1, 2):
        history.add({"epoch": epoch, "test_accuracy": 0.75})
    (folder.fold(1) / "model.keras").write_bytes(b"PK" * 20)
    folder.write_result(1, RESULT)
    return folder


@pytest.mark.parametrize("name", ["result.json", "history.csv", "model.keras"])
def test_no_flipped_bit_passes(finished, name):
    path = finished.fold(1) / name
    right, whole = path.read_bytes(), finished.result(1)
    noticed, passed = 0, []
    flips = [(place, bit) for place in range(len(right)) for bit in (range(8) if ALL else [place % 8])]
    for place, bit in flips:
        flipped = bytearray(right)
        flipped[place] ^= 1 << bit
        path.write_bytes(flipped)
        try:
            found = finished.result(1)
        except RunError:
            noticed += 1
            continue
        if found is not None and found != whole:
            passed.append(bytes(flipped[max(0, place - 8) : place + 8]))
        noticed += found is None
    assert not passed, f"{len(passed)} flipped bits, the first in {passed[:3]}"
    assert noticed > 0.7 * len(flips), "the others are blanks between the entries"
