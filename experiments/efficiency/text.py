"""The measured table on the terminal and as CSV, JSON and Markdown files."""

import csv
import io
import json
import os
import platform
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from experiments.efficiency.cells import NONE, columns, failures, groups, uncounted
from experiments.efficiency.paper import Cell
from experiments.environment import processor
from ganet_tf.files import write_whole
from ganet_tf.profiling.row import Row

WIDTH = 250  # more than any table needs: a narrow terminal wraps its lines, but no digit is lost
MARKS = ("<!-- table by profile_ops.py -->", "<!-- end of table -->")
NOTES = (
    "MAdd in millions: the paper's closed form; our exact count of what is computed; the TensorFlow profiler's "
    "float operations, halved.",
    "MB, decimal: the paper's closed form; the fullest moment of a traced run, inputs and weights included; "
    "the growth of a process of its own.",
    "Times are medians after warm-up. Savings and speed-up are against dense GAO on the same graph: cost by exact "
    "count, memory by the traced run.",
)


def print_table(rows, remark=None, file=None):
    """Prints the table for a person: a block a graph, the paper's cells under ours, then how to read it."""
    console = Console(file=file, width=max(Console(file=file).width, WIDTH), highlight=False)
    heads = columns(rows)
    for title, lines in groups(rows):
        console.print(f"\n{title}", style="bold")
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        for index, (head, what) in enumerate(heads):
            table.add_column(f"{head}\n{what}", justify="left" if index == 0 else "right", no_wrap=True)
        for cells in lines:
            table.add_row(*cells, style="dim" if cells[0].endswith("(paper)") else None)
        console.print(table)
    for note in notes(rows, remark):
        console.print(note, soft_wrap=True)


def environment():
    """What the times were measured on; call it before measuring, because it tells other work apart from ours."""
    model = processor() or platform.machine()
    cores = os.cpu_count()
    text = (
        f"Measured on {model}, {cores} cores, TensorFlow {version('tensorflow')}, Python {platform.python_version()}."
    )
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = f" Other work was running when it began (load average {load:.1f}): the times are too long."
    return text + (busy if load > 0.25 * cores else "")


def notes(rows, remark=None):
    """What a reader must know to read the table, a sentence each."""
    left_out = [f"{name}: {', '.join(ops)}" for name, ops in uncounted(rows).items()]
    ops = "Ops with arithmetic that the profiler does not count: " + "; ".join(left_out) + "."
    return [*failures(rows), *NOTES, *([ops] if left_out else []), *([remark] if remark else [])]


def markdown(rows, remark=None):
    """The table as GitHub's Markdown."""
    heads = [f"{head}, {what}" if what else head for head, what in columns(rows)]
    parts = []
    for title, lines in groups(rows):
        parts += [f"**{title}**", "", "| " + " | ".join(heads) + " |"]
        parts += ["|" + "|".join(["---", *["--:"] * (len(heads) - 1)]) + "|"]
        parts += ["| " + " | ".join(_emphasis(cells)) + " |" for cells in lines] + [""]
    return "\n".join([*parts, *[f"- {note}" for note in notes(rows, remark)], ""])


def write_json(rows, path):
    """Writes the rows as a JSON list of objects."""
    write_whole(path, json.dumps([row.as_dict() for row in rows], indent=1) + "\n")


def write_csv(rows, path):
    """Writes the rows as CSV, a column a field; the paper's cells are columns `paper_...`, absences are empty."""
    paper = [field.name for field in fields(Cell)]
    names = [field.name for field in fields(Row) if field.name != "paper"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, *[f"paper_{name}" for name in paper]])
    for row in rows:
        values = row.as_dict()
        values["madd_uncounted"] = " ".join(row.madd_uncounted)
        writer.writerow([*[values[name] for name in names], *[(row.paper or {}).get(name) for name in paper]])
    write_whole(path, text.getvalue())


def write_markdown(rows, path, remark=None):
    """Writes the table as Markdown: between the two `MARKS`, where the file has them, else as the whole file."""
    text, path = markdown(rows, remark), Path(path)
    before, start, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    write_whole(path, f"{before}{start}\n\n{text}\n{end}{after}" if start and end else text)


def _emphasis(cells):
    """The paper's line in italics."""
    if cells[0].endswith("(paper)"):
        return [cell if cell == NONE else f"*{cell}*" for cell in cells]
    return cells
