"""A side of the comparison: the parent's handle on one long-lived worker process."""

import contextlib
import json
import os
import select
import subprocess
import tempfile
from pathlib import Path

from .environments import LIBRARIES, interpreter

FOLDER = Path(__file__).resolve().parents[1]
START_SECONDS = 180


class SideError(RuntimeError):
    """A worker said no, ended, or did not answer in time; the message says which."""


class Side:
    """One library in a process of its own, started on the first command and again after it has ended.

    Args:
        name: key of `environments.LIBRARIES`.
        threads: for every library the same number.
    """

    def __init__(self, name, threads):
        self.name = name
        self.library = LIBRARIES[name]
        self.threads = threads
        self.process = None
        self.log = None

    @property
    def pid(self):
        """The worker's process number; None while there is none."""
        return None if self.process is None else self.process.pid

    def call(self, do, timeout=600, **arguments):
        """Sends a command and waits for the answer.

        Raises:
            SideError: when the worker reports an error, ends, or takes longer than `timeout` seconds. In the last
                two cases the next call starts a new worker, without a graph.
        """
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
            answer = self.read(timeout)
        except (BrokenPipeError, EOFError):
            raise SideError(self.obituary()) from None
        if "error" in answer:
            raise SideError(answer["error"])
        return answer["result"]

    def start(self):
        """Starts the worker; what it prints goes to a log that is only looked at when it ends early."""
        threads = str(self.threads)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(FOLDER), str(FOLDER.parent)]),
            "PYTHONUNBUFFERED": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": threads,
            "BENCHMARK_THREADS": threads,
            **(self.library.variables or {}),
        }
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            [str(interpreter(self.library.environment)), "-m", f"peers.workers.{self.library.module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment,
            text=True,
        )

    def read(self, timeout):
        """The next answer."""
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        if not ready:
            self.stop(kill=True)
            raise SideError(f"no answer within {timeout:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def obituary(self):
        """Why the worker ended, as far as its exit status and its last line tell."""
        status = self.process.wait()
        self.log.seek(0)
        lines = [line for line in self.log.read().splitlines() if line.strip()]
        cause = f"signal {-status}" if status < 0 else f"status {status}"
        if status == -9:
            cause += " (the kernel's way when memory runs out)"
        self.process = None
        return f"the process ended with {cause}" + (f": {lines[-1].strip()}" if lines else "")

    def hello(self):
        """Versions, operators and threads of the worker; the first command of a run."""
        return self.call("hello", timeout=START_SECONDS)

    def stop(self, kill=False):
        """Ends the worker and waits for its end, so that its memory is free."""
        if self.process is None:
            return
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        if kill:
            self.process.kill()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.process = None
