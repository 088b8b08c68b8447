"""The report's section on what happens inside the models, made from results/inside: tables, figures and a reading.

Every sentence is made from the numbers, so that it changes with them.
"""

import json
from pathlib import Path

from experiments.attention.choices import choice_lines
from experiments.attention.measures import ASLEEP, is_asleep
from experiments.attention.tuning import tuning_lines
from experiments.attention.words import code, figures, key_norm, link, names_of, percent, state
from experiments.report import names
from experiments.report.markdown import table
from experiments.report.runs import K_SETS, K_VALUES, all_cells
from experiments.report.writing import listing


def inside_section(results: Path) -> list[str]:
    """Markdown lines for RESULTS.md, or none where nothing was looked at.

    Args:
        results: the results/ folder; links are relative to the folder that it is in.
    """
    folder = results / "inside"
    cells, selection = read_cells(folder), read_selection(folder)
    if not cells and not selection:
        return []
    reported = [cell for cell in cells if not cell["cell"].startswith("tuning/")]
    return [
        "## A look inside",
        "",
        "Made by `python -m experiments.attention` from the run folders.",
        "",
        *(selection_lines(selection) if selection else ()),
        *(attention_lines(reported, results) if reported else ()),
        *(choice_lines(reported, results) if reported else ()),
        *tuning_lines([cell for cell in cells if cell not in reported], results),
    ]


def read_cells(folder):
    """The JSON of all cells below results/inside, the reported ones first, in the report's order."""
    order = {cell.name: place for place, cell in enumerate(all_cells())}
    paths = [path for path in folder.rglob("*.json") if path != folder / "selection.json"]
    cells = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return sorted(cells, key=lambda cell: (order.get(cell["cell"], len(order)), cell["cell"]))


def read_selection(folder):
    """selection.json, or nothing."""
    path = folder / "selection.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def selection_lines(selection):
    """How often there is anything to select."""
    rows = [
        [names.dataset(name), f"{facts['nodes']:,}", facts["max_degree"], *(percent(share(facts, k)) for k in K_VALUES)]
        for name, facts in selection.items()
    ]
    return [
        "### How often the hard selection is active",
        "",
        "Percent of nodes with more than k candidates (neighbours and the node itself). All others attend to all of "
        "their candidates, and hGAO is GAO with a gate.",
        "",
        *table(["data set", "nodes", "largest degree", *(f"k = {k}" for k in K_VALUES)], rows),
        *selection_reading(selection),
        "",
    ]


def share(facts, k):
    """Share of nodes with more than k candidates."""
    return facts["active"][str(k)] / facts["nodes"]


def selection_reading(selection):
    """What the table of shares means for k."""
    lines = []
    never = [name for name, facts in selection.items() if share(facts, 8) == 0]
    if never:
        lines.append(
            f"On {listing(map(names.dataset, never))} no node has more than 8 candidates: k = 8, 16, 32 and 64 are "
            "one model there."
        )
    lines += [
        f"The paper's figure 3 shows a curve over k on {name}; from k = 8 on it cannot come from k."
        for name in K_SETS
        if name in never
    ]
    some = {name: share(facts, 8) for name, facts in selection.items() if name not in never}
    if some:
        ranked = sorted(some.items(), key=lambda item: item[1])
        parts = [f"{percent(value)} % on {names.dataset(name)}" for name, value in ranked]
        lines.append(f"At k = 8 the selection is active for this share of the nodes: {listing(parts)}.")
    return [" ".join(lines)]


def attention_lines(cells, results):
    """Entropy, gates and W_K of each module."""
    rows = [
        [
            code(cell),
            cell["operator"],
            figures(cell, "start", "entropy", "mean"),
            figures(cell, "entropy", "mean"),
            state(cell),
            figures(cell, "gate", "mean"),
            figures(cell, key_norm, digits=2),
        ]
        for cell in cells
    ]
    head = ["cell", "operator", "before training", "entropy / log n", "attention", "mean gate", "norm of W_K"]
    return [
        "### Entropy of the attention and gates",
        "",
        f"One figure for each module, from the first to the last, of the model that {which(cells)} left, on its test "
        "graphs (on nodes: all nodes), without dropout. Entropy is divided by the logarithm of how many are attended "
        "to: 1 is a plain mean; *before training* is the same for the first weights, and the norm of W_K is divided by "
        "its own before training. GAT: the mean over heads; cGAO: of the softmax over channels; SampledGAO: of the "
        "probabilities to be drawn. The gate sigmoid(y) cannot be below 0.5, because y is not negative. "
        f"Attention is called asleep where its entropy is above {ASLEEP} in every module.",
        "",
        *table(head, rows, left=len(head)),
        *attention_reading(cells),
        *link(results, "layers.png", "Entropy and gates of each module"),
    ]


def which(cells):
    """The folds that were looked at."""
    numbers = sorted({cell["fold"] for cell in cells})
    word = "fold" if len(numbers) == 1 else "folds"
    return f"{word} {listing(map(str, numbers))} (on nodes: {word.replace('fold', 'run')} of that number)"


def asleep_reading(cells):
    """What it means that attention is asleep, and how that came."""
    lines = [
        f"Attention is asleep in {names_of(cells)}: the weights there are those of a plain mean, so that whatever "
        "these cells reach, they reach without it."
    ]
    before = [cell for cell in cells if is_asleep([module["start"] for module in cell["modules"]])]
    after = [cell for cell in cells if cell not in before]
    if before:
        lines.append(f"It was so before training in {names_of(before)}.")
    if after:
        lines.append(f"It was awake before training in {names_of(after)}: training put it to sleep there.")
    norms = [norm for cell in cells for norm in map(key_norm, cell["modules"]) if norm is not None]
    if norms:
        low, high = percent(min(norms)), percent(max(norms))
        lines.append(f"The norm of W_K is {low} to {high} % of its first value in the modules of these cells.")
    return lines


def attention_reading(cells):
    """Where attention is asleep, what became of W_K there, and what the gates do."""
    asleep = [cell for cell in cells if is_asleep(cell["modules"])]
    lines = asleep_reading(asleep) if asleep else []
    awake = [cell for cell in cells if cell not in asleep]
    if awake:
        lines.append(f"It is awake in at least one module of {names_of(awake)}.")
    gates = [module["gate"] for cell in cells for module in cell["modules"] if module["gate"]]
    if gates:
        low, high = min(gate["p5"] for gate in gates), max(gate["p95"] for gate in gates)
        middle = sum(gate["mean"] for gate in gates) / len(gates)
        lines.append(
            f"Gates lie between {low:.2f} and {high:.2f} (5th and 95th percentiles of the extreme modules), "
            f"{middle:.2f} on average over modules."
        )
    return [" ".join(lines), ""]
