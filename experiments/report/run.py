"""Runs the cells of RESULTS.md that are not there yet: `python -m experiments.report.run`.

A cell takes one core, so as many run side by side as there are cores. Several of these commands may run at once too:
train.py shares out the folds. Whatever is cut off goes on where it was. A finished cell's summary and config are copied
from runs/ to results/.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from experiments.report.runs import all_cells
from experiments.report.summaries import KEPT, finished
from experiments.report.tuning import tuning_cells

ROOT = Path(__file__).resolve().parents[2]


def main(argv=None):
    """Runs what is asked for; returns the number of cells that failed."""
    arguments = parser().parse_args(argv)
    cells = [cell for cell in [*all_cells(), *tuning_cells()] if chosen(cell, arguments.only)]
    if not cells:
        print(f"No cell's name contains any of: {', '.join(arguments.only)}. See --list.", file=sys.stderr)
        return 2
    if arguments.list:
        for cell in cells:
            print(f"{'done' if finished(arguments.results / cell.name) else '    '}  {cell.name:28} {cell.command}")
        return 0
    if arguments.jobs < 1:
        print(f"--jobs is {arguments.jobs}, but at least one cell has to run at a time.", file=sys.stderr)
        return 2
    failed = run_all(cells, arguments)
    print(f"failed: {', '.join(failed)}" if failed else f"{len(cells)} cells: nothing failed")
    return len(failed)


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m experiments.report.run", description=__doc__.split("\n")[0])
    result.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells whose name contains one of these")
    result.add_argument("--list", action="store_true", help="show the cells and their commands, and stop")
    result.add_argument("--jobs", type=int, default=os.cpu_count(), help="cells at a time (default: the cores)")
    result.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    result.add_argument("--results", type=Path, default=ROOT / "results", help="where finished summaries go")
    return result


def chosen(cell, parts):
    """Whether a cell is asked for."""
    return not parts or any(part in cell.name for part in parts)


def run_all(cells, arguments):
    """Runs the cells, `--jobs` of them at a time; returns the names of those that failed."""
    with ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            went_well = list(tqdm(pool.map(lambda cell: run(cell, arguments), cells), "cells", len(cells), unit="cell"))
        except KeyboardInterrupt:  # train.py has heard of it as well, and keeps what it has
            pool.shutdown(cancel_futures=True)
            raise
    return [cell.name for cell, well in zip(cells, went_well, strict=True) if not well]


def run(cell, arguments):
    """Trains a cell unless it is there; returns whether that went well."""
    target, work = arguments.results / cell.name, arguments.runs / cell.name
    if finished(target):
        return True
    words = [sys.executable, str(ROOT / "train.py"), *cell.arguments, "--output", str(work), "--quiet"]
    tqdm.write(cell.command)
    if subprocess.run(words, cwd=ROOT, check=False).returncode != 0:
        return False
    if finished(work):  # else another process is still at one of its folds, and will copy it
        keep(work, target)
    return True


def keep(work, target):
    """Copies what the report is made from."""
    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        shutil.copyfile(work / name, target / name)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on where it was.")
