"""The few Markdown forms that RESULTS.md is made of."""

import re
import shlex

MARKS = ("<!-- results -->", "<!-- /results -->")
RUN = "python -m experiments.report.run"


def table(heads, rows, left=1):
    """A table as lines; the first `left` columns to the left, numbers to the right."""
    rule = ["---" if i < left else "--:" for i in range(len(heads))]
    return [line(heads), "|" + "|".join(rule) + "|", *(line(row) for row in rows), ""]


def line(cells):
    """One line of a table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def bullets(sentences):
    """A list and the empty line behind it; nothing when there is nothing to say."""
    return [*(f"- {text}" for text in sentences), ""] if sentences else []


def missing_note(results, cells):
    """Which of a section's cells are not there, and what to type; nothing when all are."""
    names = [cell.name for cell in results.missing(cells)]
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    command = f"{RUN} --only {shlex.join(names)}"
    return [f"Not run yet: {listed}. To run what is missing here:", "", "```", command, "```", ""]


def joined(lines):
    """Lines as a text, never with two empty lines in a row."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def between_marks(text, block):
    """`text` with what stands between the two marks replaced; None where it does not have both."""
    before, start, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not (start and end):
        return None
    return f"{before}{start}\n\n{block.strip()}\n\n{end}{after}"
