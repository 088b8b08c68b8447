"""Runs the contests that are not finished: `python -m experiments.study [--only PART ...]`.

One training process at a time. The settings that a rival tries are trained in one process, then the chosen one.
Whatever is cut off resumes with the same command. Finished summaries go from runs/ to results/, and with them how even
their attention is (see entropy.py).
"""

import json
import os
import subprocess
import sys
import time

from experiments.report.results import finished
from experiments.report.run import ROOT, asked, keep, parser
from experiments.study.contest import chosen
from experiments.study.plan import contests

# A process takes a while to load TensorFlow: it trains several runs, each of which is what its own command gives.
DRIVER = "import json, sys, train; sys.exit(max(train.main(flags) for flags in json.loads(sys.argv[1])))"


def main(argv=None):
    """Trains what is asked for; returns the number of rivals that failed."""
    arguments = parser("python -m experiments.study", __doc__, "rival").parse_args(argv)
    entries = [(contest, rival) for contest in contests() for rival in contest.rivals]
    entries = asked(entries, arguments.only, "rival", lambda entry: f"{entry[0].name}/{entry[1].name}")
    if not entries:
        return 2
    if arguments.list:
        for contest, rival in entries:
            done = "done" if finished(arguments.results / contest.folder(rival)) else "    "
            print(f"{done}  {contest.name}/{rival.name}: {len(rival.grid)} settings, then {contest.runs} runs")
        return 0
    failed = [contest.folder(rival) for contest, rival in entries if not compete(contest, rival, arguments)]
    print(f"failed: {', '.join(failed)}" if failed else f"{len(entries)} rivals: nothing failed")
    return len(failed)


def compete(contest, rival, arguments):
    """Tunes a rival and runs it; returns whether that went well."""
    if finished(arguments.results / contest.folder(rival)):
        return True
    if len(rival.grid) > 1:
        cells = {contest.folder(rival, s): contest.flags(rival, s, tuning=True) for s in rival.grid}
        if not train(cells, arguments):
            return False
    setting = chosen(contest, rival, arguments.results)
    well = train({contest.folder(rival): contest.flags(rival, setting)}, arguments)
    if well:
        folders = ["--runs", str(arguments.runs), "--results", str(arguments.results)]
        words = [sys.executable, "-m", "experiments.study.entropy", contest.folder(rival), *folders]
        subprocess.run(words, cwd=ROOT, env=environment(), check=False)  # a look, no part of the contest
    return well


def train(cells, arguments):
    """Trains cells {folder: flags} that are not there in one process; returns whether all are there now."""
    missing = {name: flags for name, flags in cells.items() if not finished(arguments.results / name)}
    flags = [[*f, "--output", str(arguments.runs / name), "--quiet"] for name, f in missing.items()]
    start = time.monotonic()
    if flags:
        subprocess.run([sys.executable, "-c", DRIVER, json.dumps(flags)], cwd=ROOT, env=environment(), check=False)
    for name in missing:
        if finished(arguments.runs / name):
            keep(arguments.runs / name, arguments.results / name)
    print(f"{', '.join(missing)}: {time.monotonic() - start:.0f} s", flush=True)
    return all(finished(arguments.results / name) for name in cells)


def environment():
    """The driver's: `train` is imported from here, however this was started."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command resumes.")
