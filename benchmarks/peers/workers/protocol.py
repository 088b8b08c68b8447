"""The worker's end of the pipe: a JSON command a line in, a JSON answer a line out."""

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

OUT_OF_MEMORY_SCORE = "900"


def load_alone(path):
    """A module of ours by its file: importing the package would load TensorFlow, which PyTorch's workers have not."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


memory = load_alone(Path(__file__).resolve().parents[3] / "ganet_tf" / "memory.py")


class Worker:
    """Base of the sides: keeps compiled steps, runs and times them.

    A subclass sets `packages` (whose versions are reported) and `operators` ({name: how it is made}), and has
    `set_graph(x, edges)`, which takes x [N, F] float32 and edges [E, 2] int32 over in the library's own form, and
    `make_step(operator, mode)`, a function without arguments that runs an operator once.
    """

    packages = ("numpy",)
    operators = ()

    def __init__(self, threads):
        self.threads = threads
        self.steps = {}
        die_first()

    def hello(self):
        """Which library, in which version, with how many threads."""
        versions = {name: importlib.metadata.version(name) for name in self.packages}
        return {"versions": versions, "operators": list(self.operators), "threads": self.threads}

    def graph(self, path):
        """Loads the graph that everything runs on from now on."""
        self.steps.clear()
        self.drop_graph()
        memory.hand_back()
        with np.load(path) as arrays:
            self.set_graph(arrays["x"], arrays["edges"])

    def drop_graph(self):
        """Frees the graph before."""

    def prepare(self, operator, mode, brief=False):
        """Compiles and warms up a step: seconds and peak memory of a call.

        Args:
            brief: one call for all of it, where a call takes long and compiling weighs little.
        """
        self.steps[operator, mode] = step = self.make_step(operator, mode)
        if brief:
            start = time.perf_counter()
            growth = memory.peak_growth(step)
            return {"seconds": time.perf_counter() - start, "bytes": growth}
        step()
        growth = memory.peak_growth(step)
        return {"seconds": timed(step), "bytes": growth}

    def run(self, operator, mode, repeat):
        """Means over `repeat` calls of a prepared step: seconds, and processor seconds of all threads."""
        step = self.steps[operator, mode]
        if repeat > 1:
            step()  # the caches hold what the contender before has left there
        start, processor = time.perf_counter(), time.process_time()
        for _ in range(repeat):
            step()
        elapsed, used = time.perf_counter() - start, time.process_time() - processor
        return {"seconds": elapsed / repeat, "processor_seconds": used / repeat}

    def forget(self, operator, mode):
        """Drops a prepared step."""
        self.steps.pop((operator, mode), None)
        memory.hand_back()


def timed(step):
    """Seconds of a call."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def die_first():
    """Asks the kernel to end this process, not somebody else's, should memory run out."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OUT_OF_MEMORY_SCORE, encoding="ascii")


def serve(make_worker):
    """Answers commands {"do": method, ...arguments} until the input ends.

    Whatever a library prints goes to the error stream: only answers go to the pipe.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        command = json.loads(line)
        method = command.pop("do")
        try:
            if worker is None:
                worker = make_worker(int(os.environ["BENCHMARK_THREADS"]))
            answer = {"result": getattr(worker, method)(**command)}
        except Exception as error:  # whatever it is, it is the answer, and the benchmark goes on
            text = str(error).strip().splitlines()
            answer = {"error": f"{type(error).__name__}: {text[0] if text else 'no message'}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
