"""The long round of all attacks: `make soak`, or `python -m tests.attacks.soak [KIND=TRIALS ...] [--minutes N]`.

Writes results/reliability.md, and results/reliability.json, from which the same command goes on, after every part: a
round that is stopped has said what it did, and the next one does the rest. `--fresh` begins anew.
"""

import argparse
import collections
import datetime
import importlib.util
import json
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

from tqdm import tqdm

from experiments import environment
from ganet_tf.files import write_whole
from tests.attacks import data_fuzz, run_fuzz

TABLE = run_fuzz.ROOT / "results" / "reliability.md"  # and .json: the parts that are done
CODE = ("ganet_tf", "experiments", "tests", "train.py")  # the table itself changes as the round goes on
SECONDS_TOO_LONG = 1800  # after the end of the round
COLUMNS = ("tried", "same", "sentence", "lost", "traceback", "signal")


class Kind(NamedTuple):
    """Attacks of one kind.

    Args:
        what: words for the table.
        goal: trials of the long round.
        part: trials of one process.
        script: the module that does them.
    """

    what: str
    goal: int
    part: int
    script: str


KINDS = {
    "kill": Kind("train.py killed (-9) at a file operation or a random time, then resumed", 1_000, 100, "run_fuzz"),
    "damage": Kind("a file of a finished or unfinished run damaged, then resumed", 10_000, 500, "run_fuzz"),
    "disk": Kind("disk full in a run, then resumed with room", 60, 30, "run_fuzz"),
    "spaces": Kind("two containers in one run folder", 60, 30, "run_fuzz"),
    "text": Kind("damaged TU text files", 10_000, 1_000, "data_fuzz"),
    "zip": Kind("damaged TU zip files", 10_000, 1_000, "data_fuzz"),
    "pickle": Kind("damaged pickles", 10_000, 1_000, "data_fuzz"),
    "cache": Kind("damaged cache files", 2_000, 500, "data_fuzz"),
    "layers": Kind(
        "layers, native kernels included, on random graphs from 0 nodes upwards", 10_000, 5_000, "layer_fuzz"
    ),
}


def main(argv=None):
    """Runs what is asked for; returns 0 when nothing was lost, silent or ended by a signal."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.soak", description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND=TRIALS", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--minutes", type=float, default=240, help="no part begins later")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--fresh", action="store_true", help="do not go on where the last round stopped")
    parser.add_argument("--again", nargs="+", default=[], choices=KINDS, help="do these anew, now that they are mended")
    arguments = parser.parse_args(argv)
    trials = {kind: int(number) for kind, _, number in (word.partition("=") for word in arguments.kinds)}
    trials = trials or {kind: each.goal for kind, each in KINDS.items()}
    soak = Soak(trials, arguments)
    soak.run()
    return 1 if soak.bad else 0


class Soak:
    """The parts of a long round, some at a time.

    Args:
        trials: {kind: how many}.
        arguments: seed, minutes, jobs.
    """

    def __init__(self, trials, arguments):
        self.trials, self.arguments = trials, arguments
        self.counts = {kind: collections.Counter() for kind in trials}
        self.bad = []
        self.skipped = {kind: reason for kind in trials if (reason := missing(kind))}
        self.end = time.monotonic() + 60 * arguments.minutes
        self.begin = time.monotonic()
        self.minutes, self.core_minutes, self.revisions = 0.0, 0.0, []
        self.done = {kind: [] for kind in KINDS}
        if TABLE.with_suffix(".json").exists() and not arguments.fresh:
            self._go_on(json.loads(TABLE.with_suffix(".json").read_text()))
        self.revisions = list(dict.fromkeys([*self.revisions, environment.git_revision(*CODE)]))
        self._writing = threading.Lock()

    def _go_on(self, state):
        """Takes over what a round with the same seed has done."""
        if state["seed"] != self.arguments.seed:
            return
        self.minutes, self.revisions, self.bad = state["minutes"], state["revisions"], state["bad"]
        self.core_minutes = state.get("core_minutes", 0.0)
        again = self.arguments.again
        self.done |= {kind: firsts for kind, firsts in state["done"].items() if kind not in again}
        for kind, counts in state["counts"].items():
            self.counts[kind] = collections.Counter({} if kind in again else counts)
        self.bad = [entry for entry in self.bad if not any(is_of(kind, entry) for kind in again)]

    def run(self):
        """All parts, one of each kind in turn, so that a round that is stopped has some of each."""
        self.waiting = queue.SimpleQueue()
        parts = {
            kind: [first for first in range(0, n, KINDS[kind].part) if first not in self.done[kind]]
            for kind, n in self.trials.items()
            if kind not in self.skipped
        }
        for turn in range(max(map(len, parts.values()), default=0)):
            for kind, firsts in parts.items():
                if turn < len(firsts):
                    self.waiting.put((kind, firsts[turn]))
        with tqdm(total=self.waiting.qsize(), unit="part") as self.progress:
            workers = [threading.Thread(target=self._work) for _ in range(self.arguments.jobs)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        self.write()

    def _work(self):
        while time.monotonic() < self.end:
            try:
                kind, first = self.waiting.get_nowait()
            except queue.Empty:
                return
            counts, bad = self.part(kind, first, min(KINDS[kind].part, self.trials[kind] - first))
            with self._writing:
                self.counts[kind] += counts
                self.done[kind].append(first)
                self.bad += bad
                self.write()
                self.progress.update()

    def part(self, kind, first, trials):
        """(counts, what was not right) of one process."""
        seed, left = self.arguments.seed, max(1, self.end - time.monotonic())
        script = KINDS[kind].script
        words = {
            "run_fuzz": [seed, f"{kind}={trials}", "--first", first],
            "data_fuzz": [kind, seed + first, trials],
            "layer_fuzz": [seed + first, trials],
        }[script]
        prefix = run_fuzz.CONTAINER if kind in ("disk", "spaces") else []
        start = [sys.executable, data_fuzz.__file__] if script == "data_fuzz" else [sys.executable, "-m"]
        start += [] if script == "data_fuzz" else [f"tests.attacks.{script}"]
        own = {name: value for name, value in os.environ.items() if name != "GANET_DATA"}
        command = [*prefix, *start, *map(str, words)]
        options = dict(cwd=run_fuzz.ROOT, env=own, capture_output=True, text=True, timeout=left + SECONDS_TOO_LONG)
        try:
            done = subprocess.run(command, **options)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -signal.SIGALRM, "", "it hung")
        return judged(kind, f"{script} {' '.join(map(str, words))}", done)

    def write(self):
        """The table, as far as it has come, and where to go on."""
        state = {"seed": self.arguments.seed, "revisions": self.revisions}
        state |= {"minutes": self.minutes_so_far(), "core_minutes": self.core_minutes_so_far()}
        state |= {"done": self.done, "counts": self.counts, "bad": self.bad}
        write_whole(TABLE, page(self))
        write_whole(TABLE.with_suffix(".json"), json.dumps(state, indent=1) + "\n")

    def minutes_so_far(self):
        """Of this round and those before."""
        return self.minutes + (time.monotonic() - self.begin) / 60

    def core_minutes_so_far(self):
        """The processor time of their processes, all cores together."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return self.core_minutes + (used.ru_utime + used.ru_stime) / 60


def is_of(kind, entry):
    """Whether an entry of what was not right, which begins with its command, is of a kind."""
    script, *words = entry.partition(":")[0].split()
    return script == KINDS[kind].script and (kind == "layers" or kind in (word.partition("=")[0] for word in words))


def missing(kind):
    """Why a kind cannot be tried here, or None."""
    if kind in ("disk", "spaces") and not run_fuzz.contained():
        return "needs leave to mount a disk and to make PID namespaces"
    module = f"tests.attacks.{KINDS[kind].script}"
    return None if importlib.util.find_spec(module) else f"{module} is not there"


def judged(kind, command, done):
    """(counts, what was not right) of a process that ended."""
    if done.returncode != 0:
        word = "signal" if done.returncode < 0 or done.returncode > 128 else "traceback"
        return collections.Counter({"tried": 1, word: 1}), [f"{command}: {done.returncode} {done.stderr[-300:]}"]
    found = json.loads(done.stdout.splitlines()[-1])
    if KINDS[kind].script == "run_fuzz":
        counts = {name: found[kind][name] for name in COLUMNS}
        bad = found[kind]["bad"]
    elif KINDS[kind].script == "data_fuzz":
        counts = {"same": found["same"], "sentence": found["sentence"]}
        counts |= {"lost": found["wrong"], "traceback": found["crash"]}
        counts["tried"] = sum(counts.values())
        bad = found["bad"]
    else:
        failed = len(found["failed"])
        counts = {"tried": found["rounds"], "same": found["rounds"] - failed, "lost": failed}
        bad = found["failed"]
    return collections.Counter(counts), [f"{command}: {entry}" for entry in bad]


def page(soak):
    """results/reliability.md."""
    versions = environment.versions()
    lines = [
        "# What held under attack",
        "",
        "Written by `make soak` (tests/attacks/soak.py); do not edit.",
        "",
        "*Same*: the result of an uninterrupted run, or the data that the file holds, to the last bit (for layers:",
        "sparse = dense = native, eager = compiled, finite, within tolerance; an edge to a node that is not there is",
        "an error). *Sentence*: refused in a sentence, exit code 2.",
        "*Lost*: another result without a word, or none. For kills, full disks and containers only *same* is good.",
        "",
        "Runs that are killed or damaged are small; every start is a fork of one process, on a file system in memory,",
        "and a step that was done before is looked up: files are attacked, not arithmetic, and no power was cut.",
        "tests/experiments/test_kill_and_resume.py kills whole processes.",
        "",
        "| attack | goal | tried | same | sentence | lost or silent | traceback | signal |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [row(kind, soak.counts[kind]) for kind in KINDS if kind in soak.counts and kind not in soak.skipped]
    lines += ["", *(f"Not tried: {KINDS[kind].what}: {reason}." for kind, reason in soak.skipped.items())]
    lines += [
        f"{datetime.date.today()}, {soak.minutes_so_far():.0f} minutes in all, {soak.core_minutes_so_far():.0f} of "
        f"processor time, {soak.arguments.jobs} processes at a time, seed {soak.arguments.seed}, "
        f"revisions {', '.join(r[:7] for r in soak.revisions)}; "
        f"Python {versions['python']}, TensorFlow {versions['tensorflow']}, Keras {versions['keras']}, "
        f"NumPy {versions['numpy']}.",
        f"Command: `python -m tests.attacks.soak {' '.join(f'{kind}={n}' for kind, n in soak.trials.items())} "
        f"--minutes {soak.arguments.minutes:g} --seed {soak.arguments.seed} --jobs {soak.arguments.jobs}`; where fewer "
        "were tried than asked for, the round was stopped, and the same command goes on.",
    ]
    if soak.bad:
        lines += [
            "",
            "## Not as it should be",
            "",
            *(f"- {' '.join(str(entry).split())[:600]}" for entry in soak.bad[:30]),
        ]
    return "\n".join([*lines, ""])


def row(kind, counts):
    cells = [f"{KINDS[kind].goal:,}", *(f"{counts[name]:,}" for name in COLUMNS)]
    return f"| {KINDS[kind].what} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
