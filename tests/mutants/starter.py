"""Runs pytest in forks of a process that has imported TensorFlow already, which is half of a short test's time.

    python tests/mutants/starter.py      # orders from stdin, answers to stdout, a line of JSON each

An order has the folder to run in, the whole environment, pytest's words and the file for its output; the answers are
the number of the process, which leads a session of its own, and, when it has ended, its exit code. Nothing of the
project is imported before the fork: each finds the code of its own folder.
"""

import json
import os
import sys

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "MPLBACKEND": "agg"}  # as tests/conftest.py


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    sys.path = [place for place in sys.path if os.path.abspath(place) != os.path.dirname(os.path.abspath(__file__))]
    sys.dont_write_bytecode = True
    os.environ |= {**QUIET, **os.environ}
    import keras  # noqa: F401
    import pytest
    import sklearn.metrics  # noqa: F401
    import tensorflow  # noqa: F401

    while line := sys.stdin.readline():
        order = json.loads(line)
        process = os.fork()
        if process == 0:
            os._exit(run(pytest.main, **order))
        print(json.dumps(process), file=answers)
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])), file=answers)


def run(test, folder, environment, words, output):
    """What a fork does; its exit code."""
    os.setsid()
    nothing, written = os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY)
    for number, handle in enumerate((nothing, written, written)):
        os.dup2(handle, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.path.insert(0, folder)
    sys.argv = ["pytest", *words]
    code = int(test(words))
    sys.stdout.flush(), sys.stderr.flush()
    return code


if __name__ == "__main__":
    main()
