"""The part of the look inside on what the hard selection takes: high degrees, low degrees, or neither."""

from experiments.attention.words import code, figures, link, names_of, percent
from experiments.report.markdown import table
from experiments.report.writing import listing

FIGURES = 2  # drawings of choices that are shown


def choice_lines(cells, results):
    """What the hard selection takes, beside degree and chance."""
    choosing = [cell for cell in cells if cell["k"] is not None]
    if not choosing:
        return []
    active = [cell for cell in choosing if any(module["choice"] for module in cell["modules"])]
    idle = [cell for cell in choosing if cell not in active]
    lines = ["### What is chosen", ""]
    if active:
        lines += [*choice_table(active), *choice_reading(active), ""]
    if idle:
        lines += [f"The selection was never active in {names_of(idle)}: nothing is chosen there.", ""]
    drawn = sorted((cell for cell in choosing if cell["figure"]), key=lambda cell: -cell["modules"][0]["active"])
    for cell in drawn[:FIGURES]:
        text = f"Choices of {cell['cell']}: thick lines are chosen neighbours, dashed ones were left out"
        lines += link(results, cell["figure"], text)
    return lines


def choice_table(cells):
    """Overlaps, module by module."""
    rows = [
        [
            code(cell),
            cell["k"],
            percent(cell["modules"][0]["active"]),
            figures(cell, "choice", "degree", digits=2),
            figures(cell, "choice", "random", digits=2),
            figures(cell, "choice", "degree_most", digits=2),
            figures(cell, "choice", "tied", digits=2),
        ]
        for cell in cells
    ]
    head = ["cell", "k", "active nodes, %", "degree", "by chance", "at most", "tied"]
    return [
        "*Degree*: among nodes with n > k candidates, the share of the k chosen that a ranking of the same candidates "
        "by degree takes too, equal degrees in random order. *By chance*: that share for k drawn at random, k/n. *At "
        "most*: that share for a choice by degree itself, which equal degrees keep below 1. *Tied*: the share of these "
        "nodes where somebody left out has the same score, but for rounding, as somebody chosen: the model does not "
        "tell them apart, and the node number decides. One figure for each module.",
        "",
        *table(head, rows, left=1),
    ]


def choice_reading(cells):
    """For each cell, in words: high degrees, low degrees, or neither."""
    lines = []
    for cell in cells:
        choices = {number: module["choice"] for number, module in enumerate(cell["modules"], 1) if module["choice"]}
        leanings = {number: leaning(choice) for number, choice in choices.items()}
        parts = []
        for word in dict.fromkeys(leanings.values()):
            numbers = [str(number) for number in leanings if leanings[number] == word]
            parts.append(f"{word} in module{'s' if len(numbers) > 1 else ''} {listing(numbers)}")
        text = f"- {code(cell)}: the choice {'; it '.join(parts)}"
        tied = max(choice.get("tied") or 0 for choice in choices.values())
        if tied > 0.1:
            text += f". For up to {percent(tied)} % of its nodes somebody left out ties with somebody chosen"
        lines.append(text + ".")
    return lines


def leaning(choice):
    """How a module's choice stands to degree, by its way from chance (0) to the ranking by degree (1)."""
    room = choice["degree_most"] - choice["random"]
    way = (choice["degree"] - choice["random"]) / room if room > 0 else 0
    if way > 0.8:
        return "is nearly the one by degree"
    if way > 0.2:
        return "leans to high degrees"
    return "is as near to one by degree as chance" if way > -0.2 else "leans to low degrees"
