"""Rows as text: one list of columns for the terminal and for Markdown, and the paper's cells in the same columns."""

from itertools import groupby
from typing import NamedTuple

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
    way = "" if row.operator == "cgao" else f" {row.implementation}"
    return f"{row.operator}{way}" + (f" k={row.k}" if with_k and row.k else "")


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
