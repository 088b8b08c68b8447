"""The measured table as text: on the terminal and as CSV, JSON and Markdown files, the paper's cells in its columns."""

import csv
import io
import json
import os
import platform
import textwrap
from dataclasses import fields
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from experiments.efficiency.paper import Cell
from experiments.efficiency.table import column_names
from experiments.environment import processor
from ganet_tf.files import write_whole
from ganet_tf.layers.operators import profiled_operators

NONE = "-"

# (head, what it is); MAdd in millions, memory in decimal megabytes, as in the paper.
COLUMNS = (
    ("operator", ""),
    ("MAdd", "formula"),
    ("MAdd", "exact"),
    ("MAdd", "profiler"),
    ("cost", "saving"),
    ("MB", "formula"),
    ("MB", "profiler"),
    ("MB", "peak RSS"),
    ("memory", "saving"),
    ("ms", "median"),
    ("ms", "quartiles"),
    ("speed-up", ""),
)
GRADIENT_COLUMN = ("ms fwd+bwd", "median")
NEED_COLUMN = 9  # where "would need x GB" stands
WIDTH = 250  # more than any table needs: no digit is lost
WHOLE = 135  # columns of a terminal that shows all of it; a narrower one gets those below
NARROW = (0, 2, 4, 6, 8, 9, 11, 12)
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
    console = Console(file=file, highlight=False)
    narrow = console.is_terminal and console.width < WHOLE
    terminal = console.width if console.is_terminal else None
    console.width = max(console.width, WIDTH)
    heads = columns(rows)
    shown = [index for index in range(len(heads)) if not narrow or index in NARROW]
    for title, lines in groups(rows):
        console.print(f"\n{title}", style="bold")
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        for head, what in (heads[index] for index in shown):
            table.add_column(f"{head}\n{what}", justify="left" if head == "operator" else "right", no_wrap=True)
        for cells in lines:
            picked = [cells[index] for index in shown]
            table.add_row(*picked, style="dim" if cells[0].endswith("(paper)") else None)
        console.print(table)
    more = (
        [f"A terminal of {WHOLE} columns shows all of them, and so do --csv, --json and --markdown."] if narrow else []
    )
    for note in (*more, *notes(rows, remark)):
        console.print(textwrap.fill(note, terminal) if terminal else note, soft_wrap=True)


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
    names = [name for name in column_names() if name != "paper"]
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


class Group(NamedTuple):
    """Rows on one graph: its description and the lines of text, one cell a column."""

    title: str
    lines: list


def groups(rows):
    """The rows as text, a group a graph, each with the paper's line under the operator that it has one for."""
    gradients = has_gradients(rows)
    found = []
    for _, members in groupby(rows, key=lambda row: (row.nodes, row.features, row.degree)):
        members = list(members)
        several = len({row.k for row in members if row.k}) > 1
        lines = []
        for _, same in groupby(members, key=lambda row: row.operator):
            same = list(same)
            lines += [_line(row, several, gradients) for row in same]
            cell = next((row.paper for row in same if row.paper), None)
            if cell:
                lines.append(_paper_line(same[0].operator, cell, gradients))
        found.append(Group(_title(members, several), lines))
    return found


def has_gradients(rows):
    """Whether forward and backward were timed."""
    return any(row.gradient_time_ms is not None for row in rows)


def columns(rows):
    """The columns that a table of these rows has."""
    return (*COLUMNS, GRADIENT_COLUMN) if has_gradients(rows) else COLUMNS


def uncounted(rows):
    """Which arithmetic ops the profiler left out, by operator and implementation: {"hgao sparse": [ops]}."""
    return {name(row): row.madd_uncounted for row in rows if row.madd_uncounted}


def failures(rows):
    """Why rows could not be measured, a sentence each."""
    return [f"{name(row)} at {row.nodes:,} nodes failed: {row.error}." for row in rows if row.error]


def name(row, with_k=False):
    """An operator as the table names it."""
    way = "" if one_way(row.operator) else f" {row.implementation}"
    return f"{row.operator}{way}" + (f" k={row.k}" if with_k and row.k else "")


def one_way(operator):
    """Whether an operator has one implementation, so that it needs no name."""
    known = profiled_operators().get(operator)
    return known is not None and "implementation" not in known.options


def gigabytes(number):
    """Bytes as decimal gigabytes."""
    return f"{number / 1e9:,.1f} GB"


def _title(rows, several_k):
    first = rows[0]
    degree = "" if first.degree is None else f", mean degree {first.degree:g}"
    k = {row.k for row in rows if row.k}
    k = f", k = {k.pop()}" if k and not several_k else ""
    threads = f", {first.threads} thread{'s' if first.threads != 1 else ''}" if first.threads else ""
    return f"{first.nodes:,} nodes x {first.features} features{degree} ({first.edges:,} edges){k}{threads}"


def _line(row, with_k, gradients):
    cells = [
        name(row, with_k),
        millions(row.madd_formula),
        millions(row.madd_exact),
        millions(row.madd_profiler),
        _percent(row.cost_saving),
        megabytes(row.memory_bytes_formula),
        megabytes(row.memory_bytes_profiler),
        megabytes(row.peak_rss_bytes),
        _percent(row.memory_saving),
        milliseconds(row.time_ms),
        _range(row.time_ms_low, row.time_ms_high),
        _times(row.speedup),
    ]
    cells += [milliseconds(row.gradient_time_ms)] if gradients else []
    if row.needs_bytes is not None:
        cells[NEED_COLUMN] = f"would need {gigabytes(row.needs_bytes)}"
    elif row.error is not None:
        cells[NEED_COLUMN] = "failed"
    return cells


def _paper_line(operator, cell, gradients):
    cells = [
        f"{operator} (paper)",
        millions(cell["madd"]),
        NONE,
        NONE,
        _percent(cell["cost_saving"]),
        megabytes(cell["memory_bytes"]),
        NONE,
        NONE,
        _percent(cell["memory_saving"]),
        milliseconds(cell["time_ms"]),
        NONE,
        _times(cell["speedup"]),
    ]
    return cells + ([NONE] if gradients else [])


def millions(number):
    """A count in millions with the paper's two digits, or whole millions where there are many."""
    return NONE if number is None else f"{number / 1e6:,.2f}" if number < 1e11 else f"{number / 1e6:,.0f}"


def megabytes(number):
    """Bytes in decimal megabytes, with the paper's digits."""
    if number is None:
        return NONE
    return f"{number / 1e6:,.{2 if number < 1e8 else 1 if number < 1e10 else 0}f}"


def milliseconds(number):
    """A time with three digits or all that stand before the point."""
    if number is None:
        return NONE
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def _range(low, high):
    return NONE if low is None else f"{milliseconds(low)}-{milliseconds(high)}"


def _percent(number):
    return NONE if number is None else f"{number:.2f}%"


def _times(number):
    return NONE if number is None else f"{number:,.2f}x"
