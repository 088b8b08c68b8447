"""Whatever is selected on test carries the dagger, on every page; and nothing else does."""

import re

import pytest

from experiments.report import plots
from experiments.report.pages import pages
from experiments.report.readme import config_table, readme_block
from experiments.report.results import Results
from experiments.report.run import ROOT
from experiments.report.runs import reported_runs, tuning_runs
from experiments.report.writing import MARKS, SELECTED_ON_TEST
from tests.experiments.report.made_up import summary, write

PLAIN, SELECTED = "70.11", ("91.37", "80.74")  # last epoch or validation; best test epoch, best epoch of the mean curve
LAST, BEST = ([mean - 1, mean + 1] * 5 for mean in (70.11, 91.37))
RULES_ON_TEST = r"(?:best test epoch|epoch of the mean curve|LGCN's rule)"


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """{page: text} of results in which each kind of figure can be told by its value."""
    folder = tmp_path_factory.mktemp("results")
    for run in [*reported_runs(), *tuning_runs()]:
        write(folder, run, summary(run, LAST, BEST))
    results = Results(folder)
    blocks = {"README.md": readme_block(results), "configs/README.md": config_table(results)}
    return {**pages(results), **blocks}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def tables(text):
    """(heads, row) for every row of every table."""
    heads = None
    for line, after in zip(text.splitlines(), [*text.splitlines()[1:], ""], strict=True):
        if not line.startswith("|"):
            heads = None
        elif after.startswith("|--"):
            heads = cells(line)
        elif heads and not line.startswith("|--"):
            yield heads, cells(line)


def test_in_tables(texts):
    seen = set()
    for page, text in texts.items():
        for heads, row in tables(text):
            marked = SELECTED_ON_TEST in "".join(row[:2])  # tables with a rule per row
            for head, cell in zip(heads, row, strict=True):
                selected = any(value in cell for value in SELECTED)
                seen |= {page} if selected else set()
                if selected:
                    assert marked or SELECTED_ON_TEST in head + cell, (page, head, row)
                elif PLAIN in cell:
                    assert not marked and SELECTED_ON_TEST not in head + cell, (page, head, row)
    assert seen == {
        "RESULTS.md",
        "README.md",
        "configs/README.md",
    }  # the other pages have no test figures but differences


def test_in_sentences(texts):
    seen = 0
    for page, text in texts.items():
        for line in (line for line in text.splitlines() if not line.startswith("|")):
            for value in re.finditer("|".join(map(re.escape, SELECTED)), line):
                seen += 1
                before_the_next = re.split(re.escape(PLAIN), line[value.end() :])[0]
                assert SELECTED_ON_TEST in before_the_next, (page, line)
    assert seen


def test_rules_that_select_on_test_are_named_with_it(texts):
    for page, text in texts.items():
        found = re.findall(rf"{RULES_ON_TEST}(?!\*? {SELECTED_ON_TEST}).*", text)
        assert [line for line in found if not line.startswith("LGCN's rule (the authors' earlier code)")] == [], page
        assert f"{SELECTED_ON_TEST}" not in text or page not in (
            "docs/results/tuning.md",
            "docs/results/paired-tests.md",
        )


def test_the_mark_is_explained_where_it_stands(texts):
    assert f"{SELECTED_ON_TEST} marks every figure of ours that is selected on test" in texts["RESULTS.md"]
    assert f"{SELECTED_ON_TEST} The epoch is selected on test" in texts["README.md"]
    by_hand = (ROOT / "configs/README.md").read_text(encoding="utf-8").partition(MARKS[0])[0]
    assert f"selected on test ({SELECTED_ON_TEST})" in by_hand


def test_in_plots():
    for rule, (_, _, _, words) in plots.STYLES.items():
        assert ("selected on test" in words) == (rule in ("best_test_epoch", "max_test_lgcn")), rule


def test_tuning_shows_no_test_figure_at_all(texts):
    assert not re.search("|".join(map(re.escape, (PLAIN, *SELECTED))), texts["docs/results/tuning.md"])
