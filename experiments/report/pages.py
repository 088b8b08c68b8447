"""RESULTS.md and the pages below docs/results, top to bottom."""

from pathlib import PurePosixPath

from experiments.report.sections.advice import advice
from experiments.report.sections.attention import attention
from experiments.report.sections.contests import PAGE as CONTESTS
from experiments.report.sections.contests import contest_tables, contests_page
from experiments.report.sections.every_run import every_run
from experiments.report.sections.figure_3 import figure_3
from experiments.report.sections.findings import findings
from experiments.report.sections.paired_tests import paired_tests
from experiments.report.sections.rivals import quoted_graphs, quoted_nodes
from experiments.report.sections.tables import longer_section, open_section, table_5, table_6, table_7, tuned_section
from experiments.report.sections.tuning import tuning
from experiments.report.sections.validation import operators_section, validation_section
from experiments.report.writing import SELECTED_ON_TEST, bullets, joined

HEAD = """\
# Results

What the runs in `results/` gave, beside the figures of the paper (Gao and Ji, KDD 2019). More on pages of their own:
[paired tests](docs/results/paired-tests.md), [tuning](docs/results/tuning.md), what the
[attention](docs/results/attention.md) does, [contests](docs/results/contests.md) beyond the paper, and
[every run](docs/results/runs.md) with its command.
[docs/reproduction.md](docs/reproduction.md) has the protocols, the settings and what the paper leaves open.

`python -m experiments.report` (or `make report`) writes these pages and their plots from `results/` alone, and
`python -m experiments.report --check` tells whether they are up to date. `python -m experiments.report.run` (or
`make results`) trains whatever is missing.
"""

RULES = (
    f"{SELECTED_ON_TEST} marks every figure of ours that is selected on test; all others of ours are not.",
    "*Last epoch*: after the number of epochs that the config fixes. Nothing is selected.",
    f"*Best test epoch* {SELECTED_ON_TEST}: in each fold the epoch with the highest test accuracy, the first on "
    "ties. **Selected on test**, so too high. The paper does not say which epoch it reports; its authors' later "
    "code has this rule, and it is the likely one.",
    f"*Best epoch of the mean curve* {SELECTED_ON_TEST}: one epoch for all folds, where the mean of their test "
    "curves is highest. **Selected on test**, too.",
    "*Validation*: the epoch with the lowest validation loss, the first on ties; the figure is the test accuracy with "
    "that epoch's weights. On graphs a stratified tenth of the training graphs is validation, and the test fold is "
    "evaluated only then, once; on nodes validation is the standard split's, and the test curve is recorded but "
    "not used.",
)

PLOTS = (
    "![accuracy on graphs under every rule, and the paper's](results/plots/graphs.png)",
    "",
    "![accuracy on nodes, and the paper's](results/plots/nodes.png)",
    "",
)


def pages(results):
    """{path: text} of every page.

    Args:
        results: a `Results`.
    """
    sections = {
        "RESULTS.md": (
            head, findings, which_epoch, table_5, quoted_graphs, tuned_section, longer_section, open_section, table_7,
            table_6, quoted_nodes, figure_3, validation_section, operators_section, contest_tables,
        ),
        "docs/attention.md": (advice,),
        CONTESTS: (contests_page,),
        "docs/results/paired-tests.md": (paired_tests,),
        "docs/results/tuning.md": (tuning,),
        "docs/results/attention.md": (attention,),
        "docs/results/runs.md": (every_run,),
    }  # fmt: skip
    return {path: page(path, [line for part in parts for line in part(results)]) for path, parts in sections.items()}


def page(path, lines):
    """A page's text; sections link to results/ as from the top folder."""
    up = "../" * (len(PurePosixPath(path).parts) - 1)
    return joined(lines).replace("](results/", f"]({up}results/")


def head(results):
    """What these pages are."""
    return [HEAD]


def which_epoch(results):
    """What the rules mean, and all of them at a glance."""
    return ["## Which epoch counts", "", *bullets(RULES), *PLOTS]
