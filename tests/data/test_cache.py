import logging
import os
import tempfile

import numpy as np
import platformdirs
import pytest

from ganet_tf.data import cache
from ganet_tf.data.cache import cache_folder, cache_path, load_arrays, save_arrays, writable_folder
from ganet_tf.files import write_whole

ARRAYS = {
    "edges": np.arange(10, dtype=np.int32).reshape(5, 2),
    "none": np.zeros((4, 0), np.float32),
    "x": np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "deep" / "file.bin"
    save_arrays(path, ARRAYS)
    return path


def test_round_trip(path):
    loaded = load_arrays(path)
    assert list(loaded) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].dtype == array.dtype
        assert loaded[name].ctypes.data % 64 == 0 or not array.size
    assert not loaded["x"].flags.writeable
    assert [file.name for file in path.parent.iterdir()] == ["file.bin"]


def test_no_arrays_and_no_file(tmp_path):
    save_arrays(tmp_path / "empty.bin", {})
    assert load_arrays(tmp_path / "empty.bin") == {}
    assert load_arrays(tmp_path / "missing.bin") is None


@pytest.mark.parametrize("place", [0, 12, 40, -3, -70])
def test_any_damage_is_noticed(path, place, caplog):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        loaded = load_arrays(path)
    if loaded is not None:  # a bit of padding, or of the name of an array
        assert set(loaded) != set(ARRAYS) or all(np.array_equal(loaded[n], a) for n, a in ARRAYS.items())
    else:
        assert "damaged" in caplog.text


@pytest.mark.parametrize("length", [0, 5, 30, 200])
def test_truncation_is_noticed(path, length):
    path.write_bytes(path.read_bytes()[:length])
    assert load_arrays(path) is None


def test_every_byte_of_the_data_counts(path):
    whole = path.read_bytes()
    start = whole.index(ARRAYS["x"].tobytes())
    for place in range(start, start + ARRAYS["x"].nbytes):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert load_arrays(path) is None


def test_an_interrupted_write_leaves_the_old_file(path):
    before = path.read_bytes()

    def write(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, write)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path, caplog):
    (tmp_path / "file").write_text("a file where a folder should be")
    with caplog.at_level(logging.WARNING):
        save_arrays(tmp_path / "file" / "x.bin", ARRAYS)
    assert len(caplog.records) == 1 and "cannot be written" in caplog.text


def test_a_full_disk_is_one_line(tmp_path, caplog, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(cache, "_write", full)
    with caplog.at_level(logging.WARNING):
        save_arrays(tmp_path / "x.bin", ARRAYS)
    assert len(caplog.records) == 1 and not list(tmp_path.iterdir())


def test_the_name_has_the_content_and_the_version(tmp_path):
    one, other = (cache_path(tmp_path, "DD", key * 64).name for key in "ab")
    assert one != other and one.endswith(f"-v{cache.VERSION}.bin")


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
