"""Runs the cells of RESULTS.md that are not there yet: `python -m ganet_tf.report.run`.

Several of these may run at once, also in one folder: train.py shares out the folds. Whatever is cut off goes on
where it was. A finished cell's summary and config are copied from runs/ to results/.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tqdm import tqdm

from ganet_tf.report.cells import all_cells
from ganet_tf.report.summaries import KEPT, finished
from ganet_tf.report.tuning import tuning_cells

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
    failed = [cell.name for cell in tqdm(cells, "cells", unit="cell") if not run(cell, arguments)]
    print(f"failed: {', '.join(failed)}" if failed else f"{len(cells)} cells: nothing failed")
    return len(failed)


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m ganet_tf.report.run", description=__doc__.split("\n")[0])
    result.add_argument("--only", nargs="+", default=[], metavar="PART", help="cells whose name contains one of these")
    result.add_argument("--list", action="store_true", help="show the cells and their commands, and stop")
    result.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    result.add_argument("--results", type=Path, default=ROOT / "results", help="where finished summaries go")
    return result


def chosen(cell, parts):
    """Whether a cell is asked for."""
    return not parts or any(part in cell.name for part in parts)


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
    sys.exit(main())
