"""examples/serve.py over HTTP on loopback: the answers are the model's, and what is wrong is refused and explained."""

import http.client
import json
import re
import threading

import numpy as np
import pytest

from examples import serve
from ganet_tf import models

X = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
EDGES = [[0, 1], [1, 0], [1, 2], [2, 1]]
GOOD = {"x": X.tolist(), "edges": EDGES}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A model, and the port that its export is served at."""
    folder = tmp_path_factory.mktemp("exported")
    model = models.GraphClassifier(2, k=2, num_modules=1, units=4, module_units=4, sort_pooling_k=10, num_features=3)
    model.export(folder, verbose=False)
    with serve.make_server(str(folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield model, server.server_port
        server.shutdown()


def ask(port, body, path="/predict", method="POST", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    status, content = response.status, json.loads(response.read())
    connection.close()
    return status, content


def test_the_models_own_answer(served):
    model, port = served
    status, answer = ask(port, GOOD)
    inputs = {"x": X, "edges": np.array(EDGES, "int32"), "graph_ids": np.zeros(5, "int32")}
    assert status == 200
    np.testing.assert_allclose(answer["logits"], model(inputs), atol=1e-5)
    np.testing.assert_allclose(np.sum(answer["probabilities"], axis=1), 1, atol=1e-5)


def test_a_graph_without_edges_and_the_health(served):
    port = served[1]
    assert ask(port, {"x": X.tolist()})[0] == 200
    assert ask(port, None, "/health", "GET") == (200, {"features": 3, "max_nodes": 20000, "max_edges": 400000})


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "must be JSON"),
        (b"[]", 400, "must be JSON"),
        (b"[" * 100_000, 400, "must be JSON"),
        (b'{"x": [[NaN, 1, 2]]}', 422, "finite"),
        ({"edges": EDGES}, 400, "must be JSON"),
        ({**GOOD, "edges": [[0, 1, 2]]}, 400, "must be JSON"),
        ({"x": [[1, 2]], "edges": []}, 422, r"\[nodes, 3\]"),
        ({"x": [], "edges": []}, 422, "at least one node"),
        ({**GOOD, "edges": [[0, 5]]}, 422, "from 0 to 4"),
        ({**GOOD, "edges": [[0, -1]]}, 422, "from 0 to 4"),
        ({**GOOD, "edges": [[0, 0.5]]}, 422, "from 0 to 4"),
        ({**GOOD, "edges": [[0, 1e30]]}, 422, "from 0 to 4"),
    ],
)
def test_what_is_wrong_is_explained_and_the_service_goes_on(served, body, status, words):
    port = served[1]
    got, answer = ask(port, body)
    assert got == status
    assert re.search(words, answer["error"])
    assert ask(port, GOOD)[0] == 200


def test_limits(served, monkeypatch):
    port = served[1]
    monkeypatch.setattr(serve, "MAX_NODES", 4)
    assert ask(port, GOOD)[0] == 413
    monkeypatch.setattr(serve, "MAX_BYTES", 10)
    assert ask(port, GOOD) == (413, {"error": f"at most 10 bytes, not {len(json.dumps(GOOD))}"})


def test_other_places_and_methods(served):
    port = served[1]
    assert ask(port, GOOD, "/elsewhere")[0] == 404
    assert ask(port, None, "/predict", "GET")[0] == 405
    assert ask(port, None, "/elsewhere", "GET")[0] == 404
