"""docs/results/contests.md and the tables of RESULTS.md: their figures and tests follow from results/study."""

import pytest

from experiments.report.sections import contests
from experiments.study.contest import words
from tests.experiments.report.made_up import put_rival, rule, text

TEN = [90.0, 91.0, 92.0, 93.0, 94.0, 90.5, 91.5, 92.5, 93.5, 94.5]
EXPERTS = contests.find("experts/operators")


def below(points, jitter=2):
    """TEN, lower by so much, with differences that vary a little."""
    return [value - points - i % jitter / 10 for i, value in enumerate(TEN)]


def test_nothing_is_run(results):
    assert "`experts/operators`" in text(contests.contests_page(results)).partition("## Not run")[2]
    assert "Not run yet" in text(contests.contest_tables(results)) and "|" not in text(contests.contest_tables(results))


def test_a_table_and_its_pairs(results):
    for setting, values in zip(EXPERTS.rival("hgao").grid, ([80.0, 81.0], [82.0, 83.0]), strict=True):
        put_rival(results, EXPERTS, "hgao", values, setting=setting)
    put_rival(results, EXPERTS, "hgao", TEN)
    put_rival(results, EXPERTS, "linear", [value - 10 - i % 2 for i, value in enumerate(TEN)], epochs=3990)
    lines = text(contests.contest_lines(results, EXPERTS))
    chosen = words(EXPERTS.rival("hgao").grid[1])
    assert "| [hGAO](results/study/experts/operators/hgao/summary.json) | " in lines
    assert f"`{chosen}` | 94.50 | 92.25 ± 1.51 | 10 | 300 of 4000 | – |" in lines
    assert lines.index("| [hGAO]") < lines.index("| [linear map]"), "the best first"
    assert "Not at rest: a chosen epoch of linear map sits at the cap." in lines
    assert "| validation, 2 tuning seeds | `learning_rate=0.01` | `learning_rate=0.03` |" in lines
    assert "| hGAO | 81.00 | **83.00** |" in lines and "| linear map | –" not in lines
    assert "| hGAO - linear map | +10.50 ± 0.53 | 10 / 0 / 0 | 0.002 | 0.002 | < 0.001 | < 0.001 |" in lines
    assert "below 0.05: hGAO above linear map." in lines


def test_nothing_stands(results):
    put_rival(results, EXPERTS, "hgao", TEN)
    put_rival(results, EXPERTS, "linear", [value + (-1) ** i for i, value in enumerate(TEN)])
    assert "below 0.05: nothing." in text(contests.contest_lines(results, EXPERTS))


def test_marks_are_of_both_wirings(results):
    """Bold: above the linear map in either wiring; italics: below it in both; plain: above one alone."""
    put_rival(results, EXPERTS, "hgao", TEN)
    put_rival(results, EXPERTS, "hgao_cosine", below(4))
    put_rival(results, EXPERTS, "hgao_uniform", below(12))
    put_rival(results, EXPERTS, "linear", below(8, jitter=3))
    put_rival(results, EXPERTS, "paper_linear", below(2, jitter=3))
    put_rival(results, EXPERTS, "gcn", TEN)
    (row,) = [line for line in text(contests.contest_tables(results)).splitlines() if line.startswith("| [Experts]")]
    assert row.startswith(
        "| [Experts](docs/results/contests.md#experts-expertsoperators) | **92.25** | 88.20 | *80.20*"
    )
    assert "| 92.25 |" in row, "GCN is not compared"


def test_rows_tell_what_they_are(results):
    put_rival(results, contests.find("heterophilous/tolokers"), "linear", TEN, metric="roc_auc")
    put_rival(results, contests.find("dictionary/16"), "linear", TEN)
    put_rival(results, contests.find("experts/k"), "uniform_k4", TEN)
    put_rival(results, contests.find("teacher/cora"), "hgao", TEN)
    tables = text(contests.contest_tables(results))
    assert "| [tolokers](docs/results/contests.md#tolokers-heterophiloustolokers), ROC AUC |" in tables
    assert "| [Dictionary](docs/results/contests.md#dictionary-dictionary16), 16 keys |" in tables
    assert "| hGAO, uniform | – | 92.25 | – | – | – | – |" in tables
    assert "| 83.5 ± 0.7 | 92.25 | – | – | – |" in tables


def test_links_lead_to_headings(results):
    """Every anchor of RESULTS.md is a heading of the page, spelt as GitHub spells it."""
    put_rival(results, contests.find("graphs/imdb-m"), "open_linear", TEN)
    assert "### IMDB-M, `graphs/imdb-m`" in text(contests.contests_page(results))
    assert "contests.md#imdb-m-graphsimdb-m)" in text(contests.contest_tables(results))


def test_the_papers_figure_on_nodes(results):
    cora = contests.find("teacher/cora")
    best = {"best_test_epoch": rule([85.0] * 10)}
    put_rival(results, cora, "hgao", [83.0, 84.0] * 5, **best)
    put_rival(results, cora, "gcn", [82.0, 83.0] * 5, **best)
    lines = text(contests.contest_lines(results, cora))
    assert "The paper's hGANet has 83.5 ± 0.7 %; at least that, under validation: hGAO." in lines
    assert "| entropy / log n | best test epoch † |" in lines and "| – | 85.00 ± 0.00 |" in lines


def test_splits_that_overlap_are_tested_with_care():
    summary = {"data": {"train": 400, "test": 200}, "folds": [1, 2]}
    assert contests.overlap(contests.find("heterophilous/chameleon"), summary) == 0.5
    assert contests.overlap(EXPERTS, summary) == 0
    assert contests.overlap(contests.find("graphs/mutag"), {"folds": list(range(10))}) == pytest.approx(1 / 8.1)


def test_graph_classification_is_one_family(results):
    """What would stand among the comparisons of its own data set does not among those of all."""
    for dataset, others in (("mutag", TEN), ("ptc", [90.0] * 10), ("proteins", TEN[::-1])):
        contest = contests.find(f"graphs/{dataset}")
        put_rival(results, contest, "open_linear", TEN)
        put_rival(results, contest, "open_uniform", [value + 1.3 + i % 2 / 10 for i, value in enumerate(others)])
    mutag = contests.find("graphs/mutag")
    put_rival(results, mutag, "open_cosine", [value - 0.75 + i % 3 * 1.0 for i, value in enumerate(TEN)])
    found = {pair.first.rival.name: (pair, p) for pair, _, p in contests.tested(results, mutag)}
    assert set(found) == {"open_uniform", "open_cosine"}, "what is shown of a data set is its own"
    pair, p = found["open_uniform"]
    assert p == 4 * pair.p_t < contests.LEVEL, "of four comparisons, not of two"
