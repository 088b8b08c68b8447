"""A small HTTP service over an exported model; needs TensorFlow and the folder that model.export wrote, not ganet_tf.

python examples/serve.py exported --port 8000
curl -s localhost:8000/predict -d '{"x": [[1, 0], [0, 1]], "edges": [[0, 1], [1, 0]]}'

A SavedModel is a program that may read and write files: serve only what you exported yourself.
Without a folder it trains a small model, exports it, asks itself once over HTTP, and stops.
"""

import argparse
import json
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import tensorflow as tf

MAX_BYTES = 4 * 2**20
MAX_NODES = 20_000
MAX_EDGES = 400_000
SECONDS = 10  # for a client to send its request


class Refused(Exception):
    """A request that is answered with a status of 4xx and a sentence."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Predictor:
    """The SavedModel: graphs go in as JSON, logits come out."""

    def __init__(self, folder):
        self.model = tf.saved_model.load(folder)  # kept: it holds the weights
        (spec,) = self.model.serve.input_signature
        self.inputs = set(spec)
        self.features = spec["x"].shape[-1]

    def answer(self, body):
        x, edges = self.read(body)
        inputs = {"x": x, "edges": edges, "graph_ids": np.zeros(len(x), np.int32)}
        logits = self.model.serve({name: tf.constant(inputs[name]) for name in self.inputs})
        return {"logits": logits.numpy().tolist(), "probabilities": tf.nn.softmax(logits).numpy().tolist()}

    def read(self, body):
        """Features and edges of a request, checked: what reaches the model is a graph that it knows how to take."""
        try:
            request = json.loads(body, parse_constant=lambda name: None)
            x = np.asarray(request["x"], np.float32)
            edges = np.asarray(request.get("edges", []), np.float64).reshape(-1, 2)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Refused(400, 'the body must be JSON such as {"x": [[1, 0]], "edges": [[0, 0]]}') from error
        if x.ndim != 2 or x.shape[1] != self.features or not len(x):
            raise Refused(422, f"x must be [nodes, {self.features}] with at least one node, but is {list(x.shape)}")
        if len(x) > MAX_NODES or len(edges) > MAX_EDGES:
            raise Refused(413, f"at most {MAX_NODES} nodes and {MAX_EDGES} edges, not {len(x)} and {len(edges)}")
        if not np.isfinite(x).all():
            raise Refused(422, "x must be finite numbers")
        if not ((edges == np.floor(edges)) & (edges >= 0) & (edges < len(x))).all():
            raise Refused(422, f"edges must be pairs of node numbers from 0 to {len(x) - 1}")
        return x, edges.astype(np.int32)


class Handler(BaseHTTPRequestHandler):
    """POST /predict, GET /health; everything else is refused."""

    timeout = SECONDS
    predictor = None

    def do_POST(self):
        try:
            if self.path != "/predict":
                raise Refused(404, "POST /predict, or GET /health")
            self.reply(200, self.predictor.answer(self.body()))
        except Refused as error:
            self.reply(error.status, {"error": str(error)})
        except Exception as error:  # a client learns that it was not to blame, and the service goes on
            print(f"serve.py: {error!r}", file=sys.stderr)
            self.reply(500, {"error": "the model failed; see the service's log"})

    def do_GET(self):
        if self.path == "/health":
            self.reply(200, {"features": self.predictor.features, "max_nodes": MAX_NODES, "max_edges": MAX_EDGES})
        else:
            self.reply(405 if self.path == "/predict" else 404, {"error": "POST /predict, or GET /health"})

    def body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            raise Refused(411, "a Content-Length is needed")
        if int(length) > MAX_BYTES:
            raise Refused(413, f"at most {MAX_BYTES} bytes, not {length}")
        return self.rfile.read(int(length))

    def reply(self, status, content):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status >= 400:
            self.send_header("Connection", "close")  # what is left of a refused body is not the next request
            self.close_connection = True
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        pass


def make_server(folder, port=0):
    """The server, on loopback; port 0 takes a free one. A service for others belongs behind a proxy."""
    handler = type("Serving", (Handler,), {"predictor": Predictor(folder)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def try_out():
    """A model, its export, the service and one question, in one process."""
    from ganet_tf import data, models

    club = data.load("Karate")
    model = models.NodeClassifier(club.num_classes, k=4, num_modules=1, num_features=club.num_features)
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        with make_server(folder) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            body = json.dumps({"x": club.x.tolist(), "edges": np.asarray(club.edges).tolist()}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/predict", body)
            with urllib.request.urlopen(request, timeout=30) as response:
                answer = json.load(response)
            server.shutdown()
    print(f"Served {len(answer['probabilities'])} nodes; the first one's probabilities: {answer['probabilities'][0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", help="what model.export wrote")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.folder is None:
        return try_out()
    with make_server(arguments.folder, arguments.port) as server:
        print(f"http://127.0.0.1:{server.server_port}/predict; Ctrl-C stops it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
