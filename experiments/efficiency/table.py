"""The rows of the efficiency table: which there are, and measuring them in the measuring process."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from itertools import product

from experiments.efficiency import paper
from ganet_tf import native
from ganet_tf.errors import ConfigError, RunError
from ganet_tf.layers.operators import profiled_operators
from ganet_tf.profiling import Row

SIZES = (1000, 10000, 20000)


@dataclass(frozen=True)
class Request:
    """One row to measure. `k` is 0 for the operators that have none."""

    nodes: int
    features: int
    degree: float
    operator: str
    implementation: str
    k: int = 0
    seed: int = 0
    threads: int | None = None
    gradients: bool = False
    budget: float = 2.0
    trace: str | None = None
    memory_limit: int | None = None

    @property
    def group(self):
        """Rows of one group are compared with each other: same graph, same features."""
        return self.nodes, self.features, self.degree

    @property
    def edges(self):
        """Edges of the simulated graph, each direction counted."""
        return 2 * round(self.nodes * self.degree / 2)

    @property
    def slug(self):
        """A folder name for what belongs to this row alone."""
        k = f"-k{self.k}" if self.k else ""
        return f"{self.nodes}x{self.features}-degree{self.degree:g}-{self.operator}-{self.implementation}{k}"

    def as_dict(self):
        """The request as it goes to the measuring process."""
        return asdict(self)


@dataclass(frozen=True)
class TableRow(Row):
    """A row of the table: what `profile` says of a layer, and beside it what the paper says.

    `madd_formula` and `memory_bytes_formula` are the paper's closed forms, `paper` its cell, `degree` the simulated
    graph's mean degree. `error` says why a row could not be measured. Savings and `speedup` are against dense GAO.
    """

    degree: float | None = None
    madd_formula: float | None = None
    memory_bytes_formula: int | None = None
    error: str | None = None
    paper: dict | None = None

    def as_dict(self) -> dict:
        """The row as the JSON file has it: what belongs together stands together."""
        values = super().as_dict()
        return {name: values[name] for name in column_names()}

    @classmethod
    def of(cls, request, **measured):
        """The row of a request: what follows from the sizes, and what was measured."""
        r = request
        known = {
            "nodes": r.nodes,
            "features": r.features,
            "units": r.features,
            "edges": r.edges,
            "operator": r.operator,
            "implementation": r.implementation,
            "k": r.k,
            "degree": r.degree,
            "threads": r.threads,
            "madd_formula": paper.madd(r.operator, r.nodes, r.features, r.k),
            "memory_bytes_formula": paper.memory_bytes(r.operator, r.nodes, r.features),
            "paper": paper.cell(r.operator, r.nodes, r.features, r.k),
        }
        return cls(**{**known, **measured})


def column_names():
    """The fields of a row in the order of the JSON and CSV files."""
    behind = {
        "k": "degree",
        "threads": "madd_formula",
        "madd_uncounted": "memory_bytes_formula",
        "needs_bytes": "error",
    }
    names = []
    for field in fields(Row):
        names += [field.name, behind[field.name]] if field.name in behind else [field.name]
    return [*names, "paper"]


def requests(nodes=SIZES, features=(48,), degrees=(8,), ks=(8,), operators=None, implementation="both", **others):
    """All rows of a table, group after group, operators in the order asked for, dense before sparse.

    An operator with one implementation (cGAO uses no graph) is one row, "dense", whatever is asked for.
    Operators without k are measured once, not once a k.

    Args:
        nodes, features, degrees, ks: the sizes; every combination is a group, with one row a `k` in it.
        operators: names out of `profiled_operators()`; all of them when left out.
        implementation: "dense", "sparse", "native" or "both", which is the first two.
        **others: the other fields of `Request`.

    Raises:
        ConfigError: for a degree that no simple graph of that size has, for native kernels where there are none.
    """
    if implementation == "native" and not (found := native.available()):
        raise ConfigError(f"there are no native kernels here: {found}")
    for n, degree in product(nodes, degrees):
        if degree > n - 1:
            raise ConfigError(
                f"a graph of {n} nodes cannot have mean degree {degree:g}: expected at most {n - 1}, "
                "so ask for more nodes or a smaller degree."
            )
    ways = ("dense", "sparse") if implementation == "both" else (implementation,)
    known = profiled_operators()
    found = {}
    for n, f, degree, operator in product(nodes, features, degrees, operators or known):
        options = known[operator].options
        for way in ways if "implementation" in options else ("dense",):
            for k in ks if "k" in options else (0,):
                found[Request(n, f, degree, operator, way, k, **others)] = None
    return list(found)


def baseline(request):
    """Dense GAO on the same graph: what savings and speed-ups are against."""
    options = {**request.as_dict(), "operator": "gao", "implementation": "dense", "k": 0}
    return Request(**{**options, "gradients": False, "trace": None})


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
        """The `TableRow` of a request; its `error` is set where it could not be measured."""
        try:
            print(json.dumps(request.as_dict()), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RunError(f"the measuring process ended unexpectedly; the end of what it said: {self._last_words()}")
        answer = json.loads(line)
        return TableRow.of(request, **answer)

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
        requests: list of `Request`, see `requests`.
        progress: called with (done, total, text) before each measurement and once at the end.
        compare: False leaves dense GAO out unless it was asked for.

    Returns:
        A list of `TableRow`, in the order of the requests.
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
