"""How the report writes: names of models and data sets, each kind of number, and the few Markdown forms it needs."""

import re
import shlex

from experiments import paper
from experiments.report.runs import LINEAR

DATASETS = tuple(paper.TABLE_5["hGANet"])  # the paper's order of columns
MODELS = {**paper.ROWS, LINEAR: "linear map (control)", "topk": "TopKGAO", "sampled": "SampledGAO"}
OPERATORS = {"hganet": "hGAO", "cganet": "cGAO", "ganet": "GAO", LINEAR: "linear"}

MISSING = "not run yet"
NONE = "–"
SELECTED_ON_TEST = "†"  # behind every figure whose epoch was selected on test
MARKS = ("<!-- results -->", "<!-- /results -->")  # around what `between_marks` replaces
ATTENTION_MARKS = ("<!-- attention -->", "<!-- /attention -->")
RUN = "python -m experiments.report.run"


def dataset(name):
    """A data set as the paper spells it."""
    return paper.COLUMNS.get(name, name)


def accuracy(rule):
    """Mean ± standard deviation in percent, from a rule's entry of a summary."""
    return f"{rule['mean']:.2f} ± {rule['std']:.2f}"


def mean(rule):
    """The mean alone."""
    return f"{rule['mean']:.2f}"


def difference(value):
    """A difference in percentage points, always with its sign."""
    return f"{value:+.2f}" if round(value, 2) else "0.00"


def p_value(value):
    """A p-value with three decimals; small ones as a bound."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def statistic(value):
    """A test statistic; infinite where every fold has the same difference."""
    return f"{round(value, 2) + 0:.2f}" if abs(value) != float("inf") else ("∞" if value > 0 else "-∞")


def loss(value):
    """A cross-entropy."""
    return f"{value:.4f}"


def duration(seconds):
    """Hours and minutes, or seconds for what takes less than a minute."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def revision(value):
    """A git revision, or several, with seven digits each; "-dirty" stays."""
    found = value if isinstance(value, list) else [value]
    return ", ".join(short(text) for text in sorted(map(str, found))) or NONE


def short(text):
    """The first seven digits of a commit."""
    commit, dash, state = text.partition("-")
    return commit[:7] + dash + state


def of(part, whole, word):
    """`3 of 6 data sets`."""
    return f"{part} of {whole} {word}{'' if whole == 1 else 's'}"


def reaches(rule, figure):
    """Whether our mean, as printed, is at least the paper's figure."""
    return round(rule["mean"], 2) >= figure


def listing(words):
    """`a, b and c`."""
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def count(number, word):
    """`1 run`, `2 runs`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def equation(value):
    """A p-value within a sentence: `= 0.031` or `< 0.001`."""
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def table(heads, rows, left=1):
    """A table as lines; the first `left` columns to the left, numbers to the right."""
    rule = ["---" if i < left else "--:" for i in range(len(heads))]
    return [line(heads), "|" + "|".join(rule) + "|", *(line(row) for row in rows), ""]


def line(values):
    """One line of a table."""
    return "| " + " | ".join(str(value).replace("|", "\\|") for value in values) + " |"


def bullets(sentences):
    """A list and the empty line behind it; nothing when there is nothing to say."""
    return [*(f"- {text}" for text in sentences), ""] if sentences else []


def missing_note(results, runs):
    """Which of a section's runs are not there, and what to type; nothing when all are."""
    names = [run.name for run in results.missing(runs)]
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    command = f"{RUN} --only {shlex.join(names)}"
    return [f"Not run yet: {listed}. To run what is missing here:", "", "```", command, "```", ""]


def joined(lines):
    """Lines as a text, never with two empty lines in a row."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def between_marks(text, block, marks=MARKS):
    """`text` with what stands between the two marks replaced; None where it does not have both."""
    before, start, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (start and end):
        return None
    return f"{before}{start}\n\n{block.strip()}\n\n{end}{after}"
