"""What a rival of a contest goes through, in one process: its settings, the chosen one, a look at its attention."""

import multiprocessing
import sys
import time

from experiments.report.results import finished
from experiments.report.run import keep
from experiments.study.contest import chosen


def apart(function, contest, rival, arguments):
    """Whether a function says so, in a process of its own: all that a training leaves in memory ends with it."""
    if finished(arguments.results / contest.folder(rival)):
        return True
    process = multiprocessing.get_context("spawn").Process(target=told, args=(function, contest, rival, arguments))
    process.start()
    process.join()
    return process.exitcode == 0


def told(function, *arguments):
    """Its answer as an exit code."""
    sys.exit(0 if function(*arguments) else 1)


def compete(contest, rival, arguments):
    """Tunes a rival and runs it; returns whether that went well."""
    if len(rival.grid) > 1:
        cells = {contest.folder(rival, s): contest.flags(rival, s, tuning=True) for s in rival.grid}
        if not train(cells, arguments):
            return False
    setting = chosen(contest, rival, arguments.results)
    well = train({contest.folder(rival): contest.flags(rival, setting)}, arguments)
    if well:
        look(contest.folder(rival), arguments)
    return well


def train(cells, arguments):
    """Trains cells {folder: flags} that are not there; returns whether all are there now."""
    for name, flags in cells.items():
        if finished(arguments.results / name):
            continue
        start = time.monotonic()
        train_py([*flags, "--output", str(arguments.runs / name), "--quiet"])
        if not finished(arguments.runs / name):
            return False
        keep(arguments.runs / name, arguments.results / name)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    return True


def train_py(flags):
    """What `python train.py` does with these flags."""
    import train  # not above: it brings TensorFlow

    train.main(flags)


def look(name, arguments):
    """How even the attention is: a look, no part of the contest."""
    from experiments.study import entropy  # not above: it brings TensorFlow

    entropy.main([name, "--runs", str(arguments.runs), "--results", str(arguments.results)])
