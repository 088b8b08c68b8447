"""Trains the runs behind RESULTS.md that are not there yet: `python -m experiments.report.run`.

A run takes one core, so as many train side by side as there are cores. Several of these commands may work at once too:
train.py shares out the folds. Whatever is cut off resumes with the same command. A finished run's summary is copied
from runs/ to results/, and the config of a tuning run beside it.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tqdm import tqdm

from experiments.report.results import finished
from experiments.report.runs import reported_runs, tuning_runs

ROOT = Path(__file__).resolve().parents[2]


def main(argv=None):
    """Trains what is asked for; returns the number of runs that failed."""
    arguments = parser("python -m experiments.report.run", __doc__, "run").parse_args(argv)
    runs = asked([*reported_runs(), *tuning_runs()], arguments, "run", lambda run: run.name)
    if not runs:
        return 2
    if arguments.list:
        for run in runs:
            print(f"{'done' if finished(arguments.results / run.name) else '    '}  {run.name:28} {run.command}")
        return 0
    went_well = side_by_side(lambda run: train(run, arguments), runs, arguments.jobs, "run")
    failed = [run.name for run, well in zip(runs, went_well, strict=True) if not well]
    print(f"failed: {', '.join(failed)}" if failed else f"{len(runs)} runs: nothing failed")
    return len(failed)


def parser(prog, description, what):
    """The flags of a command that trains many things, the contests of experiments/study too; `what` they are."""
    result = argparse.ArgumentParser(prog=prog, description=description.split("\n")[0])
    result.add_argument(
        "--only", nargs="+", default=[], metavar="PART", help=f"{what}s whose name contains one of these"
    )
    result.add_argument("--list", action="store_true", help=f"show the {what}s, and stop")
    jobs = f"{what}s at a time (default: the cores)"
    result.add_argument("--jobs", type=int, default=os.cpu_count(), help=jobs)
    result.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    result.add_argument("--results", type=Path, default=ROOT / "results", help="where finished summaries go")
    return result


def asked(entries, arguments, what, name):
    """The entries whose name contains one of the --only parts, all without any; where nothing can be, a sentence."""
    if arguments.jobs < 1:
        print(f"--jobs is {arguments.jobs}, but at least one {what} has to train at a time.", file=sys.stderr)
        return []
    found = [entry for entry in entries if not arguments.only or any(part in name(entry) for part in arguments.only)]
    if not found:
        print(f"No {what}'s name contains any of: {', '.join(arguments.only)}. See --list.", file=sys.stderr)
    return found


def side_by_side(function, things, jobs, what):
    """What a function says of each, `jobs` of them at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            futures = [pool.submit(function, thing) for thing in things]
            for future in tqdm(as_completed(futures), f"{what}s", len(futures), unit=what):
                future.result()  # so that a stop is heard at once
            return [future.result() for future in futures]
        except KeyboardInterrupt:  # what they started has heard of it as well, and keeps what it has
            pool.shutdown(cancel_futures=True)
            raise


def train(run, arguments):
    """Trains a run unless it is there; returns whether that went well."""
    target, work = arguments.results / run.name, arguments.runs / run.name
    if finished(target):
        return True
    words = [sys.executable, str(ROOT / "train.py"), *run.arguments, "--output", str(work), "--quiet"]
    tqdm.write(run.command)
    if subprocess.run(words, cwd=ROOT, check=False).returncode != 0:
        return False
    if finished(work):  # else another process is still at one of its folds, and will copy it
        keep(work, target, with_config=run.is_tuning)
    return True


def keep(work, target, with_config=False):
    """Copies what the report is made from; a tuning run can only be run again from the config as it was then."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("config.yaml", "summary.json") if with_config else ("summary.json",):
        shutil.copyfile(work / name, target / name)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command resumes.")
