"""How RESULTS.md writes a number: each kind in one place."""

MISSING = "not run yet"
NONE = "–"
SELECTED_ON_TEST = "†"  # behind every figure whose epoch was chosen with a look at test


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
    return f"{value:.2f}" if abs(value) != float("inf") else ("∞" if value > 0 else "-∞")


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
    """`1 cell`, `2 cells`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def equation(value):
    """A p-value within a sentence: `= 0.031` or `< 0.001`."""
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"
