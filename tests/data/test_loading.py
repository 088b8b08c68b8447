import logging
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import ganet_tf
from ganet_tf import data
from ganet_tf.data import loading, registry
from ganet_tf.data.cache import load_arrays, save_arrays
from ganet_tf.data.sources import file_sha256
from ganet_tf.data.tu import read_tu
from ganet_tf.errors import DataFormatError, DatasetNotFoundError


def test_a_users_folder_or_zip_file(tu_folder, tu_zip):
    for path in (tu_folder(), str(tu_folder()), tu_zip(), str(tu_zip())):
        ds = data.load(path)
        assert ds.name == "TINY" and len(ds) == 3 and ds.num_features == 3 and ds.class_labels == [-1, 1]
        np.testing.assert_array_equal(ds[1].edges, [[1, 0], [0, 1]])


def test_features_of_a_users_folder(tu_folder):
    folder = tu_folder()
    for features, width in (
        ("attributes", 2),
        ("degree", 3),
        ("constant", 1),
        ("labels+attributes+degree", 8),
    ):
        assert data.load(folder, features=features).num_features == width
    assert data.load(folder, features="degree", max_degree=1).num_features == 2
    with pytest.raises(DataFormatError, match="no feature"):
        data.load(folder, features="colour")


def test_a_relative_path_and_a_bare_folder_name(tu_folder, monkeypatch):
    monkeypatch.chdir(tu_folder("MINE").parent)
    assert len(data.load("./MINE")) == len(data.load("MINE")) == 3


def test_a_known_name_wins_over_a_folder_of_that_name(tu_folder, monkeypatch):
    monkeypatch.chdir(tu_folder("Karate").parent)
    assert isinstance(data.load("Karate"), data.NodeDataset)
    assert len(data.load("./Karate")) == 3


@pytest.mark.parametrize("path", ["no/such/folder", "./nothing", "file.zip"])
def test_paths_that_are_not_there(path):
    with pytest.raises(DatasetNotFoundError, match="there is no folder or zip file"):
        data.load(path)


def test_an_empty_name_is_no_folder(tu_folder, monkeypatch):
    monkeypatch.chdir(tu_folder())
    with pytest.raises(DatasetNotFoundError, match="name of the data set is empty"):
        data.load("")


def test_devices_and_pipes_are_not_read(tu_folder):
    with pytest.raises(DataFormatError, match="devices and pipes"):
        data.load("/dev/zero")
    folder = tu_folder(node_labels=None)
    os.mkfifo(folder / "TINY_node_labels.txt")
    assert data.load(folder).features == "attributes"
    (folder / "TINY_A.txt").unlink()
    (folder / "TINY_A.txt").symlink_to("/dev/zero")
    with pytest.raises(DataFormatError, match=r"must have one file NAME_A\.txt"):
        data.load(folder)


def test_the_second_load_does_not_parse(tu_folder, monkeypatch):
    folder = tu_folder()
    first = data.load(folder, features="labels+attributes")
    monkeypatch.setattr(loading, "read_tu", None)
    second = data.load(folder, features="labels+attributes")
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, second.arrays()[name])
    assert second.class_labels == [-1, 1]


def test_a_changed_file_is_parsed_again(tu_folder):
    assert data.load(tu_folder()).y.tolist() == [0, 1, 0]
    assert data.load(tu_folder(graph_labels="1\n-1\n-1\n")).y.tolist() == [1, 0, 0]


def test_a_damaged_cache_is_made_again(tu_folder, own_cache, caplog):
    folder = tu_folder()
    data.load(folder)
    (cached,) = (own_cache / "arrays").iterdir()
    whole = (cached / "y.npy").read_bytes()
    (cached / "y.npy").write_bytes(whole[:-4] + b"\7\0\0\0")
    with caplog.at_level(logging.WARNING):
        assert len(data.load(folder)) == 3
    assert "will be made again" in caplog.text and (cached / "y.npy").read_bytes() == whole


def test_a_cache_without_one_of_the_arrays_is_made_again(tu_folder, own_cache, caplog):
    folder = tu_folder()
    data.load(folder)
    (cached,) = (own_cache / "arrays").iterdir()
    arrays, _ = load_arrays(cached)
    shutil.rmtree(cached)
    save_arrays(cached, {name: np.array(array) for name, array in arrays.items() if name != "degrees"})
    assert len(data.load(folder)) == 3 and "does not hold the arrays" in caplog.text
    assert "degrees" in load_arrays(cached)[0]


@pytest.mark.parametrize("name", ["y", "edges", "degrees", "node_labels", "node_offsets"])
def test_a_forged_cache_does_not_pass_for_a_known_data_set(tu_zip, own_cache, caplog, monkeypatch, name):
    """Its checksums are right, but not those of the registry."""
    path = tu_zip()
    entry = registry.Entry("TINY", "graphs", "TINY", (("TINY.zip", "0" * 64),), read_tu(path, quiet=True).digest())
    monkeypatch.setitem(registry._BY_NAME, "tiny", entry)
    right = data.load("TINY", data_dir=path.parent).arrays()
    (cached,) = (own_cache / "arrays").iterdir()
    arrays = {key: np.array(array) for key, array in load_arrays(cached)[0].items()}
    arrays[name] = arrays[name] + 1
    shutil.rmtree(cached)
    save_arrays(cached, arrays)
    again = data.load("TINY", data_dir=path.parent)
    assert "does not hold the arrays" in caplog.text and again.y.tolist() == [0, 1, 0]
    for key, array in again.arrays().items():
        np.testing.assert_array_equal(array, right[key])


def test_unknown_arguments_are_named():
    with pytest.raises(TypeError, match="sed"):
        data.load("BA2Motifs", sed=1)
    with pytest.raises(TypeError, match=r"load\('MUTAG'\) got unexpected arguments: seed"):
        data.load("MUTAG", seed=1)


def run_twice(code, *arguments):
    """Runs a piece of Python in two processes at once; returns what they wrote, (out, err) each.

    `ganet_tf` is there as an empty package, so that only its data part is imported: it needs no TensorFlow.
    """
    root = str(Path(ganet_tf.__file__).parent)
    head = f"""
    import sys, types
    sys.modules["ganet_tf"] = types.ModuleType("ganet_tf")
    sys.modules["ganet_tf"].__path__ = [{root!r}]
    """
    command = [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(code), *map(str, arguments)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"]
    results = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], results
    assert not any("damaged" in errors or "cannot be written" in errors for _, errors in results)
    return results


@pytest.mark.real_data
def test_two_processes_at_once(data_dir, tmp_path, monkeypatch):
    """Both parse, both write the cache, both succeed; what stays is one whole file."""
    monkeypatch.setenv("GANET_CACHE", str(tmp_path))
    code = """
    from ganet_tf import data
    print(data.load("DD", data_dir=sys.argv[1]).arrays()["edges"].sum())
    assert "tensorflow" not in sys.modules
    """
    (first, _), (second, _) = run_twice(code, data_dir)
    assert first == second
    assert len(list((tmp_path / "arrays").iterdir())) == 1


@pytest.mark.usefixtures("loopback")
def test_two_processes_download_at_once(tu_zip, server, own_cache):
    path = tu_zip()
    server.put("TINY.zip", path.read_bytes(), how="slow")
    code = """
    from ganet_tf import data
    from ganet_tf.data import registry
    url, digest = sys.argv[1:]
    entry = registry.Entry("TINY", "graphs", "TINY", (("TINY.zip", digest),), urls=(url,))
    registry._BY_NAME["tiny"] = entry
    print(len(data.load("TINY")))
    """
    results = run_twice(code, server.url, file_sha256(path))
    assert [out for out, _ in results] == ["3\n", "3\n"]
    assert [file.name for file in (own_cache / "files").iterdir()] == ["TINY.zip"]


def test_two_processes_write_one_cache(tu_zip, own_cache):
    """A race made certain: each writes while the other reads."""
    code = """
    from pathlib import Path
    from ganet_tf.data.cache import load_arrays, save_arrays
    from ganet_tf.data.tu import read_tu
    raw, path = read_tu(sys.argv[1], quiet=True), Path(sys.argv[2])
    for _ in range(200):
        save_arrays(path, raw.arrays())
        assert load_arrays(path) is not None
    """
    run_twice(code, tu_zip(), own_cache / "one")
    assert [path.name for path in own_cache.iterdir()] == ["one"]
