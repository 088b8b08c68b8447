import json
import logging
import os
import shutil
import tempfile

import numpy as np
import platformdirs
import pytest

from ganet_tf.data import cache
from ganet_tf.data.cache import cache_folder, cache_path, load_arrays, save_arrays, writable_folder

ARRAYS = {
    "edges": np.arange(10, dtype=np.int32).reshape(5, 2),
    "none": np.zeros((4, 0), np.float32),
    "x": np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "deep" / "folder"
    save_arrays(path, ARRAYS)
    return path


def test_round_trip(path):
    loaded, digests = load_arrays(path)
    assert list(loaded) == list(digests) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype
        assert loaded[name].ctypes.data % 64 == 0 or not array.size
    assert not loaded["x"].flags.writeable
    assert [file.name for file in path.parent.iterdir()] == ["folder"]


def test_the_arrays_are_mapped_and_not_read(path):
    loaded, _ = load_arrays(path)
    assert isinstance(loaded["x"].base, np.memmap)


def test_no_arrays_and_no_folder(tmp_path):
    save_arrays(tmp_path / "empty", {})
    assert load_arrays(tmp_path / "empty") == ({}, {})
    assert load_arrays(tmp_path / "missing") is None


def test_every_byte_counts(path, caplog):
    """Any damage is noticed, or changes nothing: a bit of padding in a header."""
    for file in sorted(path.iterdir()):
        whole = file.read_bytes()
        for place in range(len(whole)):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            loaded = load_arrays(path)
            if loaded is None:
                continue
            known = {name: array for name, array in loaded[0].items() if name in ARRAYS}
            assert set(loaded[0]) != set(ARRAYS) or all(np.array_equal(known[n], a) for n, a in ARRAYS.items())
            assert not file.name.endswith(".npy") or place < 128
        file.write_bytes(whole)
    assert load_arrays(path) is not None and "damaged" in caplog.text


@pytest.mark.parametrize("name", ["x.npy", "sums.json"])
@pytest.mark.parametrize("length", [0, 5, 30, 100])
def test_truncation_is_noticed(path, name, length):
    (path / name).write_bytes((path / name).read_bytes()[:length])
    assert load_arrays(path) is None


@pytest.mark.parametrize(
    "sums", ["[]", "3", "null", '{"x": null}', '{"x": {}}', '{"x": [1]}', '{"../x": "0"}', '{"": ""}', "{"]
)
def test_headers_by_hand(path, sums, caplog):
    (path / cache.SUMS).write_text(sums)
    assert load_arrays(path) is None


def test_an_object_array_is_not_unpickled(path, tmp_path):
    evil = np.empty(1, object)
    np.save(path / "x.npy", evil, allow_pickle=True)
    assert load_arrays(path) is None


def test_a_damaged_folder_is_replaced_and_a_whole_one_stays(path):
    (path / "x.npy").write_bytes(b"broken")
    save_arrays(path, ARRAYS)
    assert load_arrays(path) is not None
    before = (path / "x.npy").stat().st_ino
    save_arrays(path, ARRAYS)
    assert (path / "x.npy").stat().st_ino == before
    shutil.rmtree(path)
    path.write_text("a file where a folder should be")
    save_arrays(path, ARRAYS)
    assert load_arrays(path) is not None and len(list(path.parent.iterdir())) == 1


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache.os, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_arrays(tmp_path / "folder", ARRAYS)
    assert not list(tmp_path.iterdir())


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, caplog):
    (tmp_path / "file").write_text("a file where a folder should be")
    with caplog.at_level(logging.WARNING):
        save_arrays(tmp_path / "file" / "x", ARRAYS)
    assert len(caplog.records) == 1 and "cannot be written" in caplog.text


def test_a_full_disk_is_one_line(tmp_path, caplog, monkeypatch):
    def full(*_, **__):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(cache.np, "save", full)
    with caplog.at_level(logging.WARNING):
        save_arrays(tmp_path / "x", ARRAYS)
    assert len(caplog.records) == 1 and not list(tmp_path.iterdir())


def test_the_name_has_the_content_and_the_version(tmp_path):
    one, other = (cache_path(tmp_path, "DD", key * 64).name for key in "ab")
    assert one != other and one.endswith(f"-v{cache.VERSION}")


def test_the_sums_are_plain_json(path):
    sums = json.loads((path / cache.SUMS).read_text())
    assert list(sums) == list(ARRAYS) and all(len(digest) == 64 for digest in sums.values())


def test_the_environment_decides(own_cache):
    assert cache_folder() == own_cache
    assert writable_folder("a", "b") == own_cache / "a" / "b" and (own_cache / "a" / "b").is_dir()
    assert not list((own_cache / "a" / "b").iterdir())


def test_a_folder_of_the_users_otherwise(monkeypatch):
    monkeypatch.delenv("GANET_CACHE")
    assert str(cache_folder()).startswith(platformdirs.user_cache_dir())
    assert cache_folder().name == "ganet_tf"


def test_a_temporary_folder_if_it_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("GANET_CACHE", str(tmp_path / "file"))
    folder = writable_folder("files")
    assert folder.is_dir() and str(folder).startswith(tempfile.gettempdir())
    assert writable_folder("files") == folder
