import tempfile

import platformdirs

from ganet_tf.data.cache_folder import cache_folder, writable_folder


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
