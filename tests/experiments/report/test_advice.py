"""docs/attention.md: its sentences follow from results/study."""

import json

from experiments.report.plots import plots
from experiments.report.results import Results
from experiments.report.sections import advice
from experiments.report.sections.contests import find
from tests.experiments.report.made_up import put_rival, text
from tests.experiments.report.test_contests import EXPERTS, TEN, below


def test_nothing_is_run(results):
    assert "Nothing is run yet" in text(advice.advice(results))


def test_the_control_in_either_wiring(results):
    """Both comparisons are told, the one of the same wiring first, and it is the overview's."""
    put_rival(results, EXPERTS, "hgao_uniform", TEN)
    put_rival(results, EXPERTS, "linear", [value - 10 - i % 2 for i, value in enumerate(TEN)])
    put_rival(results, EXPERTS, "paper_linear", [value - 4 + i % 3 / 10 for i, value in enumerate(TEN)])
    page = text(advice.advice(results))
    assert "take hGAO.** On Experts hGAO, uniform 92.25 ± 1.51, beside linear map 81.75 ± 1.59 (+10.50 points" in page
    assert "linear map, the paper's wiring 88.34 ± 1.51 (+3.91 points, p < 0.001)" in page
    assert "(./results/contests.md#experts-expertsoperators) | 81.75 ± 1.59 | – | – | **+10.50** |" in page


def test_above_one_wiring_alone_is_not_enough(results):
    put_rival(results, EXPERTS, "hgao", TEN)
    put_rival(results, EXPERTS, "linear", below(8))
    put_rival(results, EXPERTS, "paper_linear", [value + (-1) ** i for i, value in enumerate(TEN)])
    assert "hGAO is not shown to help" in text(advice.advice(results))


def test_best_of_the_scores_is_chosen_on_validation(results):
    put_rival(results, EXPERTS, "hgao", [95.0] * 10)
    put_rival(results, EXPERTS, "hgao_uniform", [94.0] * 9 + [96.0])  # lower on test, higher on validation
    put_rival(results, EXPERTS, "gcn", [90.0] * 9 + [91.0], epochs=2700)
    assert advice.best_hard(results, EXPERTS).rival.name == "hgao_uniform"
    (sentence,) = advice.gcn_sentence(results)
    assert "(+4.10 points, p < 0.001), after 2700 epochs" in sentence and "hGAO, uniform takes 300." in sentence


def test_best_by_the_metric_of_the_data(results):
    contest = find("heterophilous/tolokers")
    put_rival(results, contest, "hgao", TEN, metric="roc_auc")
    rule = {"mean": 50.0, "std": 1.0, "per_fold": TEN, "val_loss": 0.3, "val_accuracy": 10.0, "val_roc_auc": 60.0}
    put_rival(results, contest, "hgao_cosine", TEN, metric="roc_auc", validation=rule)
    assert advice.best_hard(results, contest).rival.name == "hgao_cosine"


def test_gains_on_other_data(results):
    squirrel = find("heterophilous/squirrel")
    put_rival(results, squirrel, "hgao", TEN)
    put_rival(results, squirrel, "hgao_uniform", below(5))
    put_rival(results, squirrel, "linear", below(3, jitter=3))
    put_rival(results, squirrel, "hgao_cosine", below(3))
    (sentence,) = advice.real_sentence(results)
    assert (
        "above it in all: hGAO on squirrel (+3.09); below it in all: hGAO, uniform on squirrel (-1.96); neither in 1 "
        "case" in sentence
    )
    (sentence,) = advice.winners_sentence(results)
    assert sentence.endswith("squirrel: hGAO 92.25 ± 1.51.")


def test_graph_classification(results):
    for dataset, gain in (("mutag", 1.3), ("ptc", 0)):
        contest = find(f"graphs/{dataset}")
        put_rival(results, contest, "open_linear", TEN)
        put_rival(results, contest, "open_uniform", [value + gain - (-1) ** i / 10 for i, value in enumerate(TEN)])
    (sentence,) = advice.graphs_sentence(results)
    assert "2 data sets: of 2 comparisons with the linear map in the same wiring, 1 stands after correction" in sentence
    assert "hGAO, uniform on MUTAG (+1.30)" in sentence


def test_nodes_with_a_teacher(results):
    cora = find("teacher/cora")
    put_rival(results, cora, "hgao", [83.0, 84.0] * 5)
    put_rival(results, cora, "linear", [84.0, 84.9] * 5)
    (sentence,) = advice.teacher_sentence(results)
    assert "**Cora**: hGANet reaches the paper's 83.5 ± 0.7: 83.50 ± 0.53 under validation." in sentence
    assert "with the same teacher: linear map 84.45" in sentence
    (sentence,) = advice.teacher_linear_sentence(results)
    assert "teacher's work, not attention's: hGAO minus the linear map, Cora -0.95 points, p < 0.001" in sentence


def test_attention_beside_a_teacher(results):
    pubmed = find("teacher/pubmed")
    put_rival(results, pubmed, "hgao", TEN)
    put_rival(results, pubmed, "linear", below(3))
    (sentence,) = advice.teacher_linear_sentence(results)
    assert sentence.startswith("Attention adds to it on Pubmed: hGAO minus the linear map, Pubmed +3.05 points")


def test_attention_to_read(results):
    for name, values in (("hgao_cosine", [0.7, 0.68]), ("hgao", [1.0, 0.95])):
        put_rival(results, EXPERTS, name, TEN)
        path = results.folder / EXPERTS.folder(EXPERTS.rival(name)) / "entropy.json"
        path.write_text(json.dumps({"runs": 3, "modules": values}))
    (sentence,) = advice.entropy_sentence(results)
    assert "1 for a uniform one: 0.70 0.68 (cosine), 1.00 0.95 (the paper's score)." in sentence


def test_hard_and_soft(results):
    put_rival(results, EXPERTS, "hgao_uniform", TEN)
    put_rival(results, EXPERTS, "hgao", below(5))
    put_rival(results, EXPERTS, "gao_cosine", below(-0.1))
    selection, soft = advice.soft_sentence(results)
    assert selection.startswith("**The selection does the work, not the softmax**: on Experts hGAO, uniform 92.25")
    assert soft.startswith("**Not shown: hard selection is above soft attention**: on Experts hGAO, uniform 92.25")


def test_how_many_to_keep(results):
    contest = find("experts/k")
    put_rival(results, contest, "cosine_k4", TEN)
    assert list(advice.k_sentence(results)) == [], "nothing to compare with"
    put_rival(results, contest, "cosine_k8", below(0.1))
    put_rival(results, contest, "cosine_k64", below(5))
    put_rival(results, contest, "uniform_k8", TEN)
    (sentence,) = advice.k_sentence(Results(results.folder))  # which has read nothing yet
    assert sentence == (
        "**hGAO, cosine**: on Experts, where 3 neighbours matter, 92.2 (k = 4), 92.1 (k = 8), 87.2 (k = 64). "
        "Validation prefers k = 4; below k = 8 after correction: k = 64."
    )


def test_the_figure(results):
    assert "cost.png" not in plots(results)
    rows = [{"operator": "gao_cosine", "degree": 16, "madd": 2_000_000, "cpu_ms": 1.5}]
    (results.folder / "study").mkdir()
    (results.folder / "study/cost.json").write_text(json.dumps(rows))
    put_rival(results, find("degrees/16"), "gao_cosine", TEN)
    results = Results(results.folder)  # which has read nothing yet
    assert advice.cost_panels(results)[0]["series"] == {"GAO, cosine": [(16, 2.0, 92.25, 1.5138)]}
    assert plots(results)["cost.png"].startswith(b"\x89PNG") and "cost.png" in text(advice.picture(results))
