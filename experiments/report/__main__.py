"""Writes RESULTS.md, docs/results, the plots and the README's tables from results/: `python -m experiments.report`."""

import argparse
import sys
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from experiments.report.pages import pages
from experiments.report.plots import plots, same_picture
from experiments.report.readme import attention_block, config_table, readme_block
from experiments.report.results import Results
from experiments.report.runs import TUNING, reported_runs, tuning_runs
from experiments.report.writing import ATTENTION_MARKS, MARKS, RUN, between_marks
from ganet_tf.errors import GANetError
from ganet_tf.files import write_whole

ROOT = Path(__file__).resolve().parents[2]


def main(argv=None):
    """Writes or checks; returns the exit code."""
    arguments = parser().parse_args(argv)
    root = arguments.root
    try:
        stale = {name: data for name, data in outputs(root).items() if not is_current(root / name, data)}
    except GANetError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.check:
        if stale:
            print(f"Not what results/ gives: {', '.join(sorted(stale))}; run `make report`.", file=sys.stderr)
        return 1 if stale else 0
    for name, data in stale.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(root / name, data)
    print_state(Results(root / "results"), sorted(stale))
    return 0


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m experiments.report", description=__doc__.split(":")[0])
    result.add_argument("--check", action="store_true", help="write nothing; fail if a file is not what results/ gives")
    result.add_argument("--root", type=Path, default=ROOT, help="folder with results/ in it; default: this project's")
    return result


def outputs(root):
    """{path below `root`: content} of everything that the report is."""
    results = Results(root / "results")
    files = {path: text.encode() for path, text in pages(results).items()}
    blocks = (
        ("README.md", readme_block, MARKS),
        ("README.md", attention_block, ATTENTION_MARKS),
        ("configs/README.md", config_table, MARKS),
    )
    for name, block, marks in blocks:
        if (root / name).exists():
            old = files[name].decode() if name in files else (root / name).read_text(encoding="utf-8")
            text = between_marks(old, block(results), marks)
            files |= {name: text.encode()} if text else {}
    return files | {f"results/plots/{name}": data for name, data in plots(results).items()}


def is_current(path, data):
    """Whether a file is there and is what it should be."""
    if not path.exists():
        return False
    old = path.read_bytes()
    return same_picture(old, data) if path.suffix == ".png" else old == data


def print_state(results, written):
    """What was written, and which runs are done and missing."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    runs = [*reported_runs(), *tuning_runs()]
    lines = Table("runs", "done", "missing", box=SIMPLE_HEAD, pad_edge=False)
    for group in dict.fromkeys(TUNING if run.is_tuning else run.dataset for run in runs):
        mine = [run for run in runs if group == (TUNING if run.is_tuning else run.dataset)]
        missing = results.missing(mine)
        names = ", ".join(run.name.partition("/")[2] for run in missing)
        lines.add_row(group, f"{len(mine) - len(missing)} of {len(mine)}", names or "-")
    console.print(lines)
    print("written: " + ", ".join(written) if written else "everything was up to date")
    if results.missing(runs):
        print(f"What is missing: {RUN}")


if __name__ == "__main__":
    sys.exit(main())
