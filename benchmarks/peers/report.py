"""The saved sections as one Markdown file."""

from pathlib import Path

from ganet_tf.files import write_whole

from . import rivals
from .environments import LIBRARIES
from .goals import BOTH, goals, graph, ratio
from .record import read

SECTIONS = ("operators", "training", "growth", "stages", "rivals")
NONE = "-"
MARKS = ("<!-- goals -->", "<!-- /goals -->")
SPEED_MARKS = ("<!-- speed -->", "<!-- /speed -->")
MODES = (("forward", "forward"), ("forward+backward", "fwd + bwd"))


def write_report(folder):
    """Writes tables.md from the JSON files in a folder; returns its path."""
    sections = {name: read(folder, name) for name in SECTIONS}
    lines = ["# Benchmarks", "", "Written by `python benchmarks/run.py` from the JSON files beside it.", ""]
    lines += circumstances(sections)
    lines += goal_lines(all_goals(sections))
    writers = {
        "operators": operator_lines,
        "training": training_lines,
        "rivals": lambda section: rivals.lines(section, table, number, seconds),
        "growth": growth_lines,
        "stages": stage_lines,
    }
    for name, lines_of in writers.items():
        if sections[name]:
            lines += lines_of(sections[name])
    path = Path(folder) / "tables.md"
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return path


def write_goals(folder, page):
    """Writes the table of goals, and when and on what it was measured, between the marks of a page."""
    sections = {name: read(folder, name) for name in SECTIONS}
    lines = goal_lines(all_goals(sections))[2:]
    write_between(page, MARKS, "\n".join([*circumstances(sections), *lines]))


def write_speed(folder, page):
    """Writes how much longer the others take between the marks of the README, if operators were measured."""
    section = read(folder, "operators")
    if section:
        write_between(page, SPEED_MARKS, "\n".join(speed_lines(section["graphs"])))


def write_between(page, marks, text):
    """Puts a text between two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, _, after = rest.partition(marks[1])
    write_whole(page, f"{before}{marks[0]}\n\n{text.strip()}\n\n{marks[1]}{after}")


def all_goals(sections):
    """The goals of every section that was measured, the rivals' too."""
    found = goals(sections["operators"], sections["training"], sections["growth"])
    return found + (rivals.goals(sections["rivals"]) if sections["rivals"] else [])


def speed_lines(graphs):
    """A row for hGAO beside GAT, one for GCN; a column for each of the others."""
    others = [side for side in LIBRARIES if side != "ours"]
    rows = []
    for ours, theirs, words in (("hgao", "gat", "hGAO against their GAT"), ("gcn", "gcn", "GCN against theirs")):
        cells = [[ratio(graph(graphs, degree), ours, side, theirs, BOTH) for degree in (8, 32)] for side in others]
        rows.append([f"{words}, degree 8 / 32", *(" / ".join(map(short, pair)) for pair in cells)])
    return table(["", *(LIBRARIES[side].title for side in others)], rows)


def short(found):
    """A ratio without its spread."""
    return NONE if found is None else f"{found['median']:.2g}"


def table(head, rows):
    """A Markdown table; the first column to the left, the others to the right."""
    marks = ["---"] + ["---:"] * (len(head) - 1)
    return [f"| {' | '.join(cells)} |" for cells in (head, marks, *rows)] + [""]


def circumstances(sections):
    """Hardware, versions and dates."""
    records = {name: section["record"] for name, section in sections.items() if section}
    if not records:
        return []
    newest = max(records.values(), key=lambda entry: entry["date"])
    hardware = newest["hardware"]
    versions = {}
    for entry in records.values():
        versions.update(entry["versions"])
    ran = newest.get("implementation")
    told = [f"{LIBRARIES[side].title}: " + ", ".join(f"{k} {v}" for k, v in v.items()) for side, v in versions.items()]
    lines = [
        f"{hardware['cores']} cores of {hardware['processor']}, {hardware['memory_gib']} GiB, "
        f"{newest['threads']} threads for every side, Python {newest['python']}.",
        "",
        *[f"- {line}" for line in told],
        *([] if ran is None else [f"- ganet_tf ran its {ran} implementation, but where a row names another one"]),
    ]
    for name, entry in records.items():
        load = entry["load_average"]
        busy = "" if load is None else f", load average before it {load[0]:.1f}"
        lines.append(f"- section {name}: {entry['date']}, revision {(entry['git_revision'] or 'unknown')[:10]}{busy}")
    return [*lines, ""]


def goal_lines(found):
    """The goals with what was measured."""
    if not found:
        return []
    rows = [
        [goal.text, goal.target, number(goal.measured), {True: "yes", False: "no", None: NONE}[goal.met]]
        for goal in found
    ]
    return [
        "## Goals",
        "",
        "20,000 nodes unless said otherwise.",
        "",
        *table(["goal", "target", "measured", "met"], rows),
    ]


def operator_lines(section):
    """A table for each graph: times, memory and ratios."""
    lines = [
        "## Operators",
        "",
        "48 channels in and out, one head, k = 8. Times are medians of rounds in which all contenders ran in turns, "
        "memory is how far the process grew during a call. The ratios (theirs / ours, above 1 = we are faster) are "
        "medians of the rounds' own ratios, their quartiles in brackets; the last column is the same for the time of "
        "all threads together, forward + backward. A round in which somebody else was running was repeated; where "
        "that could not be waited for, a line below the table says so.",
        "",
    ]
    for each in section["graphs"]:
        lines += [f"### {each['graph']} ({each['edges']:,} directed edges)", "", *graph_lines(each)]
    return lines


def graph_lines(graph):
    """The table of one graph."""
    cells = {(row["side"], row["operator"], row["mode"]): row for row in graph["rows"]}
    ratios = {(r["ours"], r["side"], r["operator"], r["mode"]): r["time_ratio"] for r in graph["ratios"]}
    processor = {(r["ours"], r["side"], r["operator"], r["mode"]): r.get("processor_ratio") for r in graph["ratios"]}
    rows = []
    for side, operator in dict.fromkeys(key[:2] for key in cells):
        line = [f"{LIBRARIES[side].title} {operator}"]
        for mode, _ in MODES:
            row = cells.get((side, operator, mode))
            line += [milliseconds(row), megabytes(row)]
        for ours in ("hgao", "gao", "gcn"):
            line.append(number(ratios.get((ours, side, operator, "forward+backward"))))
        line.append(number(ratios.get(("hgao", side, operator, "forward"))))
        line.append(number(processor.get(("hgao", side, operator, "forward+backward"))))
        rows.append(line)
    head = [
        "",
        "forward ms",
        "MB",
        "fwd+bwd ms",
        "MB",
        "fwd+bwd / hGAO",
        "/ GAO",
        "/ GCN",
        "forward / hGAO",
        "processor time / hGAO",
    ]
    skipped = {
        row["skipped"]: f"{LIBRARIES[row['side']].title} {row['operator']}" for row in graph["rows"] if row["skipped"]
    }
    notes = [f"- {name}: {reason}" for reason, name in skipped.items()]
    disturbed = sum(row.get("disturbed_rounds", 0) for row in graph["rows"])
    if disturbed:
        turns = sum(row["seconds"]["count"] for row in graph["rows"] if row["seconds"])
        notes.append(f"- the machine had other work during {disturbed} of {turns} turns")
    return [*table(head, rows), *notes, *([""] if notes else [])]


def training_lines(section):
    """Epochs on the data sets."""
    rows = []
    for d in section["datasets"]:
        for side in d["seconds"]:
            ratio = number(d["ratios"].get(side)) if side != "ours" else NONE
            title = LIBRARIES[side.partition(" ")[0]].title + side.removeprefix(side.partition(" ")[0])
            rows.append([d["dataset"] + (" (part)" if d["quick"] else ""), title, seconds(d["seconds"][side]), ratio])
    skipped = [f"- {d['dataset']}, {side}: {why}" for d in section["datasets"] for side, why in d["skipped"].items()]
    return [
        "## Training",
        "",
        "Seconds of an epoch on fold 1 with the input pipeline: hGANet through `fit`, and the same widths in PyG with "
        "GATConv in the place of hGAO; the same batch size, optimizer and dropout; epochs in turns.",
        "",
        *table(["data set", "side", "seconds an epoch", "theirs / ours"], rows),
        *skipped,
        *([""] if skipped else []),
    ]


def growth_lines(section):
    """Exponents."""
    rows = []
    for row in section["series"]:
        fits = [row["time"], row["memory"]]
        cells = [NONE if fit is None else f"{fit['exponent']:.2f} ± {fit['error']:.2f}" for fit in fits]
        rows.append(
            [f"{LIBRARIES[row['side']].title} {row['operator']}, {row['mode']}", *cells, str(len(row["nodes"]))]
        )
    sizes = ", ".join(f"{n:,}" for n in section["nodes"])
    return [
        "## Growth",
        "",
        f"b in cost = a · nodes^b, degree 8, fitted over {sizes} nodes; ± is the standard error of the fit.",
        "",
        *table(["", "time", "memory", "sizes"], rows),
    ]


def stage_lines(section):
    """The parts of hGAO."""
    text = "Milliseconds of each part of the sparse implementation alone, 20,000 nodes, and of the layer as a whole."
    lines = ["## Where hGAO's time goes", "", text, ""]
    names = list(section["stages"][0]["ms"])
    rows = [[name, *(f"{entry['ms'][name]:.1f}" for entry in section["stages"])] for name in names]
    for name in ("selection", "attention", "backward"):
        if all(entry["fused_ms"] for entry in section["stages"]):
            rows.append([f"a fused C++ kernel: {name}", *(f"{e['fused_ms'][name]:.1f}" for e in section["stages"])])
    return [*lines, *table(["", *(f"degree {entry['degree']}" for entry in section["stages"])], rows)]


def number(spread):
    """A ratio with its quartiles."""
    if spread is None:
        return NONE
    return f"{spread['median']:.3g} ({spread['low']:.3g}-{spread['high']:.3g})"


def milliseconds(row):
    """A row's median time."""
    if row is None or row["seconds"] is None:
        return NONE
    value = row["seconds"]["median"] * 1e3
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def megabytes(row):
    """A row's peak memory."""
    return NONE if row is None or row["peak_bytes"] is None else f"{row['peak_bytes'] / 1e6:,.0f}"


def seconds(spread):
    """Seconds with quartiles."""
    return NONE if spread is None else f"{spread['median']:.2f} ({spread['low']:.2f}-{spread['high']:.2f})"
