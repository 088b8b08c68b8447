import socket

import pytest

from ganet_tf.data import download as module
from ganet_tf.data.download import download
from ganet_tf.errors import DownloadError

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
    monkeypatch.setattr(module, "TIMEOUT", (1, 0.2))
    monkeypatch.setattr(module, "TRIES", 1)
    server.put("file", BODY, how="stuck")
    with pytest.raises(DownloadError, match="broke off"):
        get()


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

    monkeypatch.setattr(module.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get()
    assert not list(tmp_path.iterdir())


def test_a_host_without_a_server_is_asked_once(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file"
    with pytest.raises(DownloadError, match="no connection"):
        download(url, tmp_path / "file")
    assert module._unreachable
    with pytest.raises(DownloadError, match="no connection"):
        download(url, tmp_path / "file")


def test_an_address_that_does_not_exist(tmp_path):
    with pytest.raises(DownloadError, match=r"address cannot be found|no connection"):
        download("http://nowhere.invalid/file", tmp_path / "file")


def test_certificates_are_verified(monkeypatch, tmp_path, server):
    seen = {}

    def get(url, **options):
        seen.update(options)
        raise module.requests.exceptions.SSLError("self-signed certificate")

    monkeypatch.setattr(module.requests, "get", get)
    with pytest.raises(DownloadError, match="TLS certificate"):
        download("https://127.0.0.1/file", tmp_path / "file")
    assert seen.get("verify", True) is True
