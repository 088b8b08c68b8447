"""What README.md says of attention and of the mean teacher follows from results/study."""

import json

from experiments.report import readme
from experiments.report.results import Results
from experiments.report.sections.contests import find
from tests.experiments.report.made_up import put_rival
from tests.experiments.report.test_contests import TEN, below

LINK = "[docs/attention.md](docs/attention.md) says when to use what, figure by figure."


def test_nothing_is_run(results):
    assert readme.attention_block(results) == LINK


def test_hard_beside_soft(results):
    contest = find("degrees/128")
    rows = [
        {"operator": name, "degree": 128, "madd": madd} for name, madd in (("hgao_uniform", 100), ("gao_cosine", 690))
    ]
    (results.folder / "study").mkdir()
    (results.folder / "study/cost.json").write_text(json.dumps(rows))
    put_rival(results, contest, "hgao_uniform", TEN)
    put_rival(results, contest, "gao_cosine", below(5))
    assert readme.attention_block(results) == LINK, "a sentence on three operators of which one is not run"
    put_rival(results, contest, "gat", below(1))
    (sentence,) = readme.hard_beside_soft(Results(results.folder))  # which has read nothing yet
    assert "128 ordinary neighbours a node" in sentence
    assert "reaches 92.2 ± 1.5 %, soft attention 87.2 ± 1.5 % with 7 times the multiply-adds, GAT 91.2" in sentence


def test_the_wiring(results):
    put_rival(results, find("experts/wiring"), "none", below(50))
    put_rival(results, find("experts/wiring"), "all", TEN)
    (sentence,) = readme.wiring(results)
    assert sentence.endswith("in the paper's it reaches 42.2 % where the open one reaches 92.2 %.")


def test_elsewhere(results):
    """Above the linear map in both wirings counts; in one alone, or on data made for it, does not."""
    for name in ("heterophilous/squirrel", "heterophilous/actor", "communities/cluster", "experts/operators"):
        put_rival(results, find(name), "hgao", TEN)
        put_rival(results, find(name), "linear", below(3))
    put_rival(results, find("heterophilous/actor"), "paper_linear", TEN)
    put_rival(results, find("graphs/mutag"), "open_linear", TEN)
    put_rival(results, find("graphs/mutag"), "open_uniform", [value + (-1) ** i for i, value in enumerate(TEN)])
    (sentence,) = readme.elsewhere(results)
    assert sentence == (
        "Of 4 data sets that were not made for it, hGAO is above a linear map in its place on squirrel and CLUSTER."
    )


def test_with_a_teacher(results):
    put_rival(results, find("teacher/cora"), "hgao", [83.0, 84.0] * 5)
    put_rival(results, find("teacher/pubmed"), "linear", [78.0, 79.0] * 5)
    said = "With a mean teacher, it and the epoch chosen on validation, hGANet has 83.5 % on Cora (the paper: 83.5)."
    assert list(readme.with_a_teacher(results)) == [said]
    assert said in readme.readme_block(results)
