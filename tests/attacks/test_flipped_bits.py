"""A flipped bit in each byte of a run's files: the same result, a sentence, or a fold that is trained again.

`GANET_SOAK` flips every bit.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from experiments import config as settings
from experiments import lock as locking
from experiments.run_folder import History, RunFolder, claim
from ganet_tf import data
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
    for flipped, place in flips(path):
        try:
            found = finished.result(1)
        except RunError:
            noticed += 1
            continue
        if found is not None and found != whole:
            passed.append(bytes(flipped[max(0, place - 8) : place + 8]))
        noticed += found is None
    assert not passed, f"{len(passed)} flipped bits, the first in {passed[:3]}"
    assert noticed > 0.7 * len(right), "the others are blanks between the entries"


def flips(path):
    """Writes a file with one other bit, again and again: (its content, the place)."""
    right = path.read_bytes()
    for place in range(len(right)):
        for bit in range(8) if ALL else [place % 8]:
            flipped = bytearray(right)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            yield flipped, place


def test_no_flipped_bit_makes_a_lock_another_owners(tmp_path):
    """With one other letter the host of a process that was killed here would be a machine that is at work."""
    lock = locking.Lock(tmp_path / "lock")
    assert lock.acquire()
    owner = locking._read(lock.path)
    found = [locking._read(lock.path) for _ in flips(lock.path)]
    lock.path.unlink()
    lock.release()
    own = {key: value for key, value in owner.items() if key != "sha256"}
    assert found.count({}) > 0.8 * len(found)
    assert all(not each or {key: each[key] for key in own} == own for each in found)


def test_no_flipped_bit_stays_in_encoder_json(tmp_path):
    folder = RunFolder(tmp_path)
    graphs = [data.Graph(np.eye(2, dtype="float32"), np.array([[0, 1]]), y) for y in (0, 1)]
    dataset = data.GraphDataset.from_graphs(graphs)
    config = settings.load(Path(__file__).parents[2] / "configs/mutag_hganet.yaml")
    claim(folder, config, dataset)
    right, refused, flipped = folder.encoder.read_bytes(), 0, 0
    for _ in flips(folder.encoder):
        flipped += 1
        try:
            claim(folder, config, dataset)
        except RunError:
            refused += 1
            continue
        assert folder.encoder.read_bytes() == right
    assert 0 < refused < flipped
