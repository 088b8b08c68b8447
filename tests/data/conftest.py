"""Fixtures for the data tests: a cache of their own, no network, small files to break."""

import http.server
import os
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ganet_tf.data import cache, folds, sources
from ganet_tf.errors import DownloadError

REAL = os.environ.get("GANET_DATA")
DOWNLOAD = sources.download

# Three graphs: a triangle, a path of two nodes (listed with a loop and twice), a single node.
TINY = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n3, 1\n1, 3\n4, 5\n5, 4\n5, 4\n4, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "-1\n1\n-1\n",
    "node_labels": "5\n9\n5\n7\n7\n9\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n5.5, 6\n",
    "edge_labels": "0\n" * 10,
}


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(request, monkeypatch, tmp_path, session_cache):
    """No test sees the user's cache or data; those on real data share one, so that COLLAB is parsed once."""
    real = "real_data" in request.keywords
    monkeypatch.setenv("GANET_CACHE", str(session_cache if real else tmp_path / "cache"))
    monkeypatch.delenv("GANET_DATA", raising=False)
    monkeypatch.setattr(sources, "PAUSE", 0.01)
    sources._unreachable.clear()
    folds._announced.clear()
    cache._announced.clear()
    for folder in cache._temporary:
        folder.cleanup()
    cache._temporary.clear()
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing leaves the machine; tests of the net take this back for the loopback."""

    def refuse(*_):
        raise DownloadError("no network in tests")

    monkeypatch.setattr(sources, "download", refuse)
    monkeypatch.setattr(folds, "download", refuse)
    monkeypatch.setattr(sources, "wheel_files", refuse)


@pytest.fixture
def data_dir():
    return Path(REAL).resolve()


@pytest.fixture
def tu_folder(tmp_path):
    """Writes a folder in TU layout; keywords replace files, None leaves one out."""

    def write(name="TINY", **changes):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for part, text in {**TINY, **changes}.items():
            (folder / f"{name}_{part}.txt").unlink(missing_ok=True)
            if text is not None:
                (folder / f"{name}_{part}.txt").write_text(text)
        return folder

    return write


@pytest.fixture
def tu_zip(tu_folder, tmp_path):
    """As `tu_folder`, but a zip file."""

    def write(name="TINY", **changes):
        folder = tu_folder(name, **changes)
        path = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.iterdir()):
                archive.write(file, f"{name}/{file.name}")
        return path

    return write


@pytest.fixture
def random_graphs():
    """Makes a list of random graphs, some without edges."""
    from ganet_tf.data import Graph

    def make(count, seed=0, channels=3):
        rng = np.random.default_rng(seed)
        graphs = []
        for index in range(count):
            nodes = int(rng.integers(1, 9))
            edges = rng.integers(0, nodes, (int(rng.integers(0, 20)), 2))
            graphs.append(Graph(rng.normal(size=(nodes, channels)), edges, index % 3))
        return graphs

    return make


class _Handler(http.server.BaseHTTPRequestHandler):
    """Serves what the test put into `server.answers`: path -> (status, body, how)."""

    def do_GET(self):
        self.server.asked.append(self.path)
        answers = self.server.answers.get(self.path, [(404, b"not here", "plain")])
        status, body, how = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        if how == "packed":
            self.send_header("Content-Encoding", "gzip")
        if how != "endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for _ in range(50 if how == "endless" else 0):  # more than any test takes
            self.wfile.write(body)
        if how == "drip":
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.server.release.wait(0.02):
                    return
        if how == "cut":
            body = body[: len(body) // 2]
        pieces = [body[i : i + 1 + len(body) // 8] for i in range(0, len(body), 1 + len(body) // 8)]
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            if how == "slow":
                time.sleep(0.03)
            if how == "stuck":
                self.server.release.wait(10)
        self.close_connection = True

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that hangs up is part of the tests."""


@pytest.fixture
def server():
    """A small HTTP server on loopback: `server.put(path, body, status, how)`, `server.url`, `server.asked`."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.answers, server.asked, server.release = {}, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_address[1]}/"

    def put(path, body=b"", status=200, how="plain"):
        server.answers.setdefault("/" + path, []).append((status, body, how))

    server.put = put
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def loopback(monkeypatch):
    """Takes `offline` back, for downloads only; nothing but the loopback is named in these tests."""
    monkeypatch.setattr(sources, "download", DOWNLOAD)
    monkeypatch.setattr(folds, "download", DOWNLOAD)
