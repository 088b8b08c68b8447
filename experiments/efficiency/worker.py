"""The measuring process: `python -m experiments.efficiency.worker`, a JSON request a line in, a JSON row a line out.

It imports TensorFlow once, uses none of it, and forks: so every row gets processes of its own, with their own
threads and memory, without paying seconds of import for each. A row that is killed takes nothing else along.
Where forking is unsafe (any system but Linux) the rows share this process.
"""

import functools
import json
import os
import signal
import sys

import tensorflow as tf

from experiments.efficiency.table import Request
from ganet_tf.memory import return_memory
from ganet_tf.profiling import make_layer, profile, simulated_edges, simulated_features, watched_growth

SECONDS_A_ROW = 900  # a row that hangs is ended by the alarm signal


@functools.lru_cache(maxsize=1)
def _graph(nodes, features, degree, seed):
    """The simulated graph, kept for the next row of its group; NumPy only, so it is safe before a fork."""
    return simulated_features(nodes, features, seed), simulated_edges(nodes, degree, seed)


def measure(request):
    """What is measured of a request, as a dict."""
    layer, x, edges = _prepare(request)
    row = profile(
        layer,
        x,
        edges,
        gradients=request.gradients,
        budget=request.budget,
        trace=request.trace and os.path.join(request.trace, request.slug),
        memory_limit=request.memory_limit,
    )
    return row.as_dict()


def measure_growth(request):
    """By how much a process grows that gives back what it frees: slow, and so apart from everything that is timed."""
    return_memory()
    return {"peak_rss_bytes": watched_growth(*_prepare(request))}


def _prepare(request):
    x, edges = _graph(*request.group, request.seed)
    if request.threads:
        tf.config.threading.set_intra_op_parallelism_threads(request.threads)
        tf.config.threading.set_inter_op_parallelism_threads(request.threads)
    return make_layer(request.operator, request.implementation, request.features, request.k), x, edges


def _measure_apart(request):
    """What is measured of a request in two forks of this process: one is timed, the other one's memory is watched."""
    _graph(*request.group, request.seed)
    row = _in_a_fork(measure, request)
    if row.get("time_ms") is not None:
        row["peak_rss_bytes"] = _in_a_fork(measure_growth, request).get("peak_rss_bytes")
    return row


def _in_a_fork(how, request):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS_A_ROW)
        with os.fdopen(writer, "w", encoding="utf-8") as answer:
            answer.write(json.dumps(_answer(request, how)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return {"error": f"the measuring process was ended by {signal.Signals(-status).name}"}
    return json.loads(text) if text else {"error": f"the measuring process ended with status {status}"}


def _answer(request, how):
    try:
        return how(request)
    except Exception as error:  # whatever it is, it is this row's result and the table goes on
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}


def main():
    """Answers requests until the input ends."""
    how = _measure_apart if sys.platform == "linux" else measure
    for line in sys.stdin:
        print(json.dumps(_answer(Request(**json.loads(line)), how)), flush=True)


if __name__ == "__main__":
    main()
