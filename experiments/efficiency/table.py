"""Measures the rows of a table, one after the other, in the measuring process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

from experiments.efficiency import paper
from experiments.efficiency.plan import baseline
from ganet_tf.errors import RunError
from ganet_tf.profiling.row import Row


class MeasuringProcess:
    """A running `experiments.efficiency.worker`; use it in a `with` statement."""

    def __enter__(self):
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8")
        # The table is about CPUs, so that a GPU is not even looked at.
        settings = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "experiments.efficiency.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            start_new_session=True,  # so that it can be ended together with the row it is measuring
        )
        return self

    def __exit__(self, *_):
        self._end()
        with contextlib.suppress(BrokenPipeError):  # a request that a dead process did not read
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._log.close()

    def row(self, request):
        """The `Row` of a request; its `error` is set where it could not be measured."""
        try:
            print(json.dumps(request.as_dict()), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RunError(f"the measuring process ended unexpectedly; the end of what it said: {self._last_words()}")
        answer = json.loads(line)
        return _failed(request, answer["error"]) if len(answer) == 1 else Row(**answer)

    def _end(self):
        if not hasattr(os, "killpg"):  # Windows, where rows are not forked
            self._process.terminate()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def _last_words(self):
        self._log.seek(0)
        return self._log.read()[-2000:].strip() or "nothing"


def measure(requests, progress=None, compare=True):
    """Measures requests into rows, each compared with dense GAO on the same graph.

    Dense GAO is measured for the comparison even where it is not a row of its own; where it does not fit in
    memory, only the cost saving, which is a matter of counting, is given.

    Args:
        requests: list of `Request`, see `plan.requests`.
        progress: called with (done, total, text) before each measurement and once at the end.
        compare: False leaves dense GAO out unless it was asked for.

    Returns:
        A list of `Row`, in the order of the requests.
    """
    wanted = list(requests)
    groups = list(dict.fromkeys(r.group for r in wanted))
    asked = {r.group for r in wanted if _is_baseline(r)}
    extra = {r.group: baseline(r) for r in reversed(wanted) if compare and r.group not in asked}
    # Group by group, so that the measuring process makes each graph once.
    order = sorted([*extra.values(), *wanted], key=lambda r: groups.index(r.group))
    rows = {}
    with MeasuringProcess() as process:
        for done, request in enumerate(order):
            if progress:
                progress(done, len(order), describe(request))
            rows[request] = process.row(request)
    if progress:
        progress(len(order), len(order), "done")
    bases = {r.group: row for r, row in rows.items() if _is_baseline(r)}
    return [rows[r].against(bases[r.group]) if r.group in bases else rows[r] for r in wanted]


def describe(request):
    """A request in words, for the progress line."""
    k = f" k={request.k}" if request.k else ""
    return f"{request.nodes:,} nodes x {request.features}: {request.operator}{k} {request.implementation}"


def _is_baseline(request):
    return (request.operator, request.implementation) == ("gao", "dense")


def _failed(request, error):
    """The row of a request that could not be measured: what follows from the sizes, and the reason."""
    r = request
    return Row(
        nodes=r.nodes,
        features=r.features,
        units=r.features,
        edges=r.edges,
        operator=r.operator,
        implementation=r.implementation,
        k=r.k,
        degree=r.degree,
        threads=r.threads,
        madd_formula=paper.madd(r.operator, r.nodes, r.features, r.k),
        memory_bytes_formula=paper.memory_bytes(r.operator, r.nodes, r.features),
        error=error,
        paper=paper.cell(r.operator, r.nodes, r.features, r.k),
    )
