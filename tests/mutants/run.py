"""Plants bugs in a copy of the tree, one at a time, and demands that a named test fails: `python -m tests.mutants`.

A test that stays green whatever the code does is worth nothing. Each module of this folder is an area with a list
`MUTANTS`; a new area is a new module. The tests of all chosen mutants are run on the untouched copy first. Exit code:
0 when every bug was seen, 1 when one was not, 2 when there is nothing to judge by (tests that fail without any bug,
a patch that does not fit).
"""

import argparse
import atexit
import contextlib
import importlib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent
NOT_COPIED = (".git", ".venv", "__pycache__", "runs", "build", "*.egg-info", ".*_cache", ".hypothesis")
NO_AREAS = ("__init__", "__main__", "run", "starter")
SEEN = "seen"
NATIVE_SOURCES = "ganet_tf/native/src/"
CRASHES = (signal.SIGFPE, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)  # nobody overlooks these


class Mutant(NamedTuple):
    """A bug to plant.

    Args:
        bug: what is wrong then, in a few words.
        file: path below the project's folder.
        old: text that stands in the file exactly once.
        new: what it becomes.
        test: the node of the test that must fail, as pytest takes it.
        kernels: whether that test needs native kernels; they are built for it. A bug in their sources needs them.
    """

    bug: str
    file: str
    old: str
    new: str
    test: str
    kernels: bool = False

    @property
    def compiled(self):
        """Whether native kernels have to be built."""
        return self.kernels or self.file.startswith(NATIVE_SOURCES)

    def plant(self, tree):
        """Writes the bug into a copy of the project; returns what stood there before."""
        path = Path(tree) / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has the text of '{self.bug}' {text.count(self.old)} times instead of once.")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
        return text


class Verdict(NamedTuple):
    """What became of a bug: "seen", "missed", "breaks the import", "does not build" or "too slow"."""

    area: str
    mutant: Mutant
    word: str
    seconds: float


def areas():
    """{area: its mutants}."""
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    names = [name for name in names if name not in NO_AREAS and not name.startswith("test_")]
    return {name: importlib.import_module(f"tests.mutants.{name}").MUTANTS for name in names}


def main(argv=None):
    """Judges what is asked for; returns the exit code."""
    arguments = parser().parse_args(argv)
    chosen = choose(arguments)
    if arguments.list or not chosen:
        print("\n".join(f"{area:10} {mutant.bug}" for area, mutant in chosen) or "No bug fits. See --list.")
        return 0 if chosen else 2
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [copy_tree(ROOT, Path(folder) / str(number)) for number in range(arguments.jobs)]
        if not sound(trees[0], chosen, arguments.timeout * len(chosen)):
            return 2
        verdicts = judge_all(trees, chosen, arguments.timeout)
    return report(verdicts)


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split("\n")[0])
    result.add_argument("--area", nargs="+", choices=sorted(areas()), help="lists to take; all by default")
    result.add_argument("--only", nargs="+", default=[], metavar="WORDS", help="bugs whose words contain one of these")
    result.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn at random")
    result.add_argument("--seed", type=int, default=0, help="of --sample")
    result.add_argument("--jobs", type=int, default=1, help="bugs at a time, each in a copy of its own")
    result.add_argument("--timeout", type=float, default=300, help="seconds for one bug's test")
    result.add_argument("--list", action="store_true", help="show the bugs and stop")
    return result


def choose(arguments):
    """[(area, mutant)] that the flags ask for."""
    found = [
        (area, mutant)
        for area, mutants in areas().items()
        for mutant in mutants
        if area in (arguments.area or areas()) and fits(mutant.bug, arguments.only)
    ]
    if arguments.sample is None:
        return found
    return random.Random(arguments.seed).sample(found, min(arguments.sample, len(found)))


def fits(bug, parts):
    """Whether a bug is asked for."""
    return not parts or any(part in bug for part in parts)


def copy_tree(source, target):
    """A copy of the project: what git tracks or would track, or all of it where there is no git."""
    words = ["git", "-C", str(source), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False) if shutil.which("git") else None
    if listed is None or listed.returncode != 0:
        return Path(shutil.copytree(source, target, ignore=shutil.ignore_patterns(*NOT_COPIED)))
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)
    return target


def sound(tree, chosen, timeout):
    """Whether all tests of the chosen mutants pass without any bug."""
    tests = sorted({mutant.test for _, mutant in chosen})
    print(f"{len(tests)} tests without a bug ...", flush=True)
    with built(tree, any(mutant.compiled for _, mutant in chosen)) as ready:
        code, output = run_tests(tree, tests, timeout) if ready else (1, "The native kernels do not build here.")
    if code != 0:
        print(output, file=sys.stderr)
        print("These tests have to pass before a bug is planted.", file=sys.stderr)
    return code == 0


def judge_all(trees, chosen, timeout):
    """A `Verdict` for each, as many at a time as there are copies."""
    free = queue.Queue()
    for tree in trees:
        free.put(tree)

    def judged(pair):
        tree = free.get()
        try:
            verdict = judge(tree, *pair, timeout)
        finally:
            free.put(tree)
        if verdict.word != SEEN:
            tqdm.write(f"{verdict.word}: {verdict.area}: {verdict.mutant.bug}")  # now: the table is hours away
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(tqdm(pool.map(judged, chosen), "bugs", len(chosen), unit="bug", smoothing=0))


def judge(tree, area, mutant, timeout):
    """Plants one bug, runs its test, and takes the bug out again."""
    start = time.monotonic()
    text = mutant.plant(tree)
    try:
        with built(tree, mutant.compiled) as ready:
            code = run_tests(tree, [mutant.test], timeout)[0] if ready else "unbuilt"
    finally:
        (tree / mutant.file).write_text(text, encoding="utf-8")
    words = {0: "missed", 1: SEEN, None: "too slow", "unbuilt": "does not build"}  # pytest: 1 is failed tests alone
    words |= {-number: SEEN for number in CRASHES}
    return Verdict(area, mutant, words.get(code, "breaks the import"), time.monotonic() - start)


@contextlib.contextmanager
def built(tree, wanted):
    """Within, the copy has native kernels of its own, if `wanted`; gives whether all is as wanted."""
    if not wanted:
        yield True
        return
    words = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(words, cwd=tree, capture_output=True, timeout=300, check=False)
    made = list(Path(tree).glob("ganet_tf/native/_kernels*.so"))
    try:
        yield bool(made)
    finally:
        for path in made:
            path.unlink()


def run_tests(tree, tests, timeout):
    """(pytest's exit code, its output), or (None, "") after too long a time."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    # No .pyc files: they are told by second and size, and a bug may change neither.
    environment |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ["-q", "-x", "-p", "no:cacheprovider", *tests]
    starter = Starter() if IDLE.empty() else IDLE.get()
    with tempfile.NamedTemporaryFile() as output:
        order = {"folder": str(tree), "environment": environment, "words": words, "output": output.name}
        code = starter.run(order, timeout)
        IDLE.put(starter)
        return code, output.read().decode("utf-8", "replace") if code is not None else ""


class Starter:
    """A process that forks for every order (starter.py)."""

    def __init__(self):
        words = [sys.executable, str(FOLDER / "starter.py")]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)

    def run(self, order, timeout):
        """pytest's exit code, negative for a signal; None after too long a time."""
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        number = json.loads(self.process.stdout.readline())
        # A fork that hangs is ended with all processes of its own; the answer comes then as well.
        late = threading.Timer(timeout, os.killpg, (number, signal.SIGKILL))
        late.start()
        code = json.loads(self.process.stdout.readline())
        in_time = late.is_alive()
        late.cancel()
        return code if in_time else None

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


IDLE = queue.Queue()  # starters


def report(verdicts):
    """Prints the table; returns the exit code."""
    table = Table("area", "bug", "test", "", "seconds", box=SIMPLE_HEAD, pad_edge=False)
    for area, mutant, word, seconds in verdicts:
        style = None if word == SEEN else "bold red"
        table.add_row(area, mutant.bug, mutant.test.rpartition("/")[2], word, f"{seconds:.0f}", style=style)
    Console(highlight=False, markup=False, width=160).print(table)
    missed = [verdict for verdict in verdicts if verdict.word != SEEN]
    print(f"{len(verdicts) - len(missed)} of {len(verdicts)} bugs were seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
