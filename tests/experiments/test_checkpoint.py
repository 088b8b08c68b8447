"""Checkpoints: two in turn, and no byte may be wrong."""

import hashlib
import io

import keras
import numpy as np
import pytest

from experiments import checkpoint as states
from experiments.checkpoint import NAMES, Checkpoint
from ganet_tf.errors import RunError

ARRAYS = {"model": [np.arange(3.0), np.array([1, 2], np.uint32)], "best": []}


@pytest.fixture
def notes():
    return []


@pytest.fixture
def two(tmp_path, notes):
    checkpoint = Checkpoint(tmp_path, notes.append)
    for epoch in (1, 2):
        checkpoint.save({"epoch": epoch}, ARRAYS)
    return tmp_path


def test_encode_and_decode():
    record, arrays = states.decode(states.encode({"epoch": 1, "rows": [0.1]}, ARRAYS))
    assert record == {"epoch": 1, "rows": [0.1]} and arrays["best"] == []
    for old, new in zip(ARRAYS["model"], arrays["model"], strict=True):
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)


def test_the_newest_is_loaded_and_the_oldest_overwritten(two, notes):
    checkpoint = Checkpoint(two, notes.append)
    assert checkpoint.load()[0]["epoch"] == 2
    checkpoint.save({"epoch": 3}, ARRAYS)
    epochs = {states.decode((two / name).read_bytes())[0]["epoch"] for name in NAMES}
    assert epochs == {2, 3}


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_corrupt_newest_falls_back(two, notes, damage):
    data = bytearray((two / NAMES[1]).read_bytes())
    data[-200] ^= 1
    (two / NAMES[1]).write_bytes({"cut": data[:100], "flip": data, "empty": b""}[damage])
    assert Checkpoint(two, notes.append).load()[0]["epoch"] == 1
    assert "checkpoint-b.bin is corrupt (its checksum does not match)" in notes[0]
    assert "continuing after epoch 1" in notes[1]


def with_checksum(body):
    return states.MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def record(text):
    return np.frombuffer(text.encode(), np.uint8)


STRANGERS = {
    "no archive": b"x" * 100,
    "nothing": npz(),
    "objects": npz(record=np.array([{}], object)),
    "no json": npz(record=record("{")),
    "no epoch": npz(record=record('{"record": {}, "counts": {}}')),
    "a text": npz(record=record('{"record": {"epoch": "2"}, "counts": {}}')),
    "no record": npz(record=record("[]")),
    "no arrays": npz(record=record('{"record": {"epoch": 2}, "counts": {"model": 1}}')),
    "counts": npz(record=record('{"record": {"epoch": 2}, "counts": 3}')),
}


@pytest.mark.parametrize("body", STRANGERS.values(), ids=list(STRANGERS))
def test_a_right_checksum_over_something_else_falls_back(two, notes, body):
    (two / NAMES[1]).write_bytes(with_checksum(body))
    assert Checkpoint(two, notes.append).load()[0]["epoch"] == 1
    assert "checkpoint-b.bin is corrupt (it holds no checkpoint" in notes[0]


def test_both_corrupt_means_nothing_to_resume_from(two, notes):
    for name in NAMES:
        (two / name).write_bytes(b"rubbish")
    assert Checkpoint(two, notes.append).load() is None and len(notes) == 2


def test_nothing_there(tmp_path, notes):
    assert Checkpoint(tmp_path, notes.append).load() is None and notes == []


def test_delete(two):
    Checkpoint(two).delete()
    assert list(two.iterdir()) == []


def test_checkpoints_keep_to_their_share_of_time(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(states.time, "monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path)
    assert checkpoint.due()

    def slow(*_):
        now[0] += 1.0

    monkeypatch.setattr(states, "write_whole", slow)
    checkpoint.save({"epoch": 1}, ARRAYS)
    now[0] += 19
    assert not checkpoint.due()
    now[0] += 2
    assert checkpoint.due()


def test_assign_checks_shapes():
    variables = [keras.Variable(np.zeros(3, "float32"))]
    states.assign(variables, [np.ones(3, "float32")])
    np.testing.assert_array_equal(states.values(variables)[0], np.ones(3))
    for arrays in ([np.ones(4, "float32")], [], [np.array(["a", "b", "c"])]):
        with pytest.raises(RunError, match="another model"):
            states.assign(variables, arrays)
    np.testing.assert_array_equal(states.values(variables)[0], np.ones(3))


def test_seeds_of_dropout_are_among_a_models_variables():
    model = keras.Sequential([keras.layers.Dropout(0.5), keras.layers.Dense(1)])
    model.build((None, 4))
    before = states.values(model.variables)
    first = model(np.ones((8, 4)), training=True)
    states.assign(model.variables, before)
    np.testing.assert_array_equal(first, model(np.ones((8, 4)), training=True))
