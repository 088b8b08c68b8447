"""The sections of RESULTS.md say what the summaries say."""

from dataclasses import replace

import pytest

from experiments.command_line import parse
from experiments.config import resolve, to_tree
from experiments.report import readme
from experiments.report.readme import config_figures, readme_block
from experiments.report.results import Results
from experiments.report.run import ROOT
from experiments.report.runs import (
    K_VALUES,
    LINEAR,
    NODE_SETS,
    RIVAL_SETTINGS,
    TUNED,
    Run,
    graph_run,
    longer_run,
    node_run,
    open_run,
    other_degree,
    planetoid_i,
    tuned_run,
    tuning_run,
    tuning_runs,
)
from experiments.report.sections.every_run import every_run
from experiments.report.sections.figure_3 import figure_3
from experiments.report.sections.paired_tests import compare, family_lines, paired_tests
from experiments.report.sections.rivals import quoted_graphs, quoted_nodes
from experiments.report.sections.tables import (
    graph_row,
    longer_section,
    open_section,
    table_5,
    table_6,
    table_7,
    tuned_section,
)
from experiments.report.sections.tuning import comparable, tried, tuning
from experiments.report.sections.validation import operators_section, validation_section
from tests.experiments.report.made_up import TEN, put, rule, summary, text, write


def test_table_5_has_paper_and_all_rules(results):
    put(results, graph_run("PTC", "hganet"))
    found = text(table_5(results))
    assert "| PTC | hGANet | 65.02 | 86.00 ± 2.98 | yes | 85.00 ± 2.98 | 84.00 ± 2.98 |" in found
    assert "| PTC | cGANet | 63.53 | not run yet | – | – | – |" in found


def test_quoted_rows_of_table_5_say_whose_rule_they_are_by(results):
    put(results, graph_run("DD", "diffpool"))
    put(results, graph_run("DD", "diffpool", "validation"), [value - 10 for value in TEN])
    found = text(quoted_graphs(results))
    rule_of_theirs = "its own paper: best epoch of the mean curve †, on ten random splits"
    ours = "85.00 ± 2.98 | 86.00 ± 2.98 | 84.00 ± 2.98 | 74.00 ± 2.98"
    assert f"| D&D | DiffPool | 80.64 | {rule_of_theirs} | {ours} | 75.0 ± 3.5 |" in found
    assert "| PTC | PSCN | 62.29 | its own paper: ten random splits, epoch not stated | not run yet | – | – |" in found
    assert "GraphSAGE with a constant: not run yet." in found


def test_quoted_rows_of_table_6_stand_at_the_model_that_they_are_of(results):
    put(results, planetoid_i("Citeseer"))
    put(results, other_degree("Cora"), [value - 10 for value in TEN])
    found = text(quoted_nodes(results))
    assert "| Citeseer | Planetoid I | 64.7 | 64.7 | 84.00 ± 2.98 | yes | 86.00 ± 2.98 |" in found
    assert "| Citeseer | Planetoid T | – | 62.9 | not run yet | – | – |" in found
    assert "| Cora | Chebyshev K = 3 | – | 79.5 | 74.00 ± 2.98 | no | 76.00 ± 2.98 |" in found
    assert "| Cora | Chebyshev K = 2 | 81.2 | 81.2 | not run yet | – | – |" in found


def test_seeds_that_went_astray_are_told_with_those_that_tuned(results):
    run = node_run("Pubmed", "planetoid")
    put(results, run, [40.0, 41.0, *TEN[2:]])
    found = text(quoted_nodes(results))
    assert (
        "Planetoid T on Pubmed: 2 of 10 seeds end more than 10 points below the best (40.0, 41.0; best 88.0).\n"
        in found
    )
    tuning = tuning_run("Pubmed", (), "planetoid")
    for values, words in (([85.0, 86.0, 87.0], "none did."), ([85.0, 50.0, 87.0], "1 did.")):
        put(results, tuning, values)
        found = text(quoted_nodes(Results(results.folder)))
        assert f"best 88.0). Of the 3 other seeds on which the setting was tried, {words}" in found


def test_paired_tests_against_quoted_rows(results):
    put(results, node_run("Cora", "hganet"))
    put(results, planetoid_i("Cora"), [value - 3 for value in TEN])
    put(results, graph_run("PTC", "cganet"))
    put(results, graph_run("PTC", "pscn"), [value - 1 for value in TEN])
    found = text(paired_tests(results))
    assert "| Cora | hGAO - Planetoid I | +3.00 ± 0.00 | 10 / 0 / 0 | 0.002 | 0.002 | ∞ |" in found
    assert "| PTC | cGAO - PSCN | +1.00 ± 0.00 | 10 / 0 / 0 | 0.002 |" in found


def test_tuned_settings_are_named_and_stand_beside_the_paper(results):
    run = tuned_run("PTC", "cganet")
    put(results, run)
    put(results, tuned_run("PTC", "cganet", "validation"), [value - 10 for value in TEN])
    found = text(tuned_section(results))
    assert "- PTC: `optimizer.learning_rate=1e-3`, `epochs=100`, `model.dropout=0`" in found
    assert "| PTC | cGANet | 63.53 | 86.00 ± 2.98 | yes | 85.00 ± 2.98 | 84.00 ± 2.98 | 74.00 ± 2.98 |" in found
    assert "| PTC | hGANet | 65.02 | not run yet | – | – | – | – |" in found
    assert "--set optimizer.learning_rate=1e-3 epochs=100 model.dropout=0 " in run.command
    assert graph_row(results, graph_run("PTC", "cganet"))[3] == "not run yet"  # Table 5 keeps to the paper's values


def test_longer_training_says_what_is_selection_and_what_is_not(results):
    put(results, graph_run("DD", "hganet"))
    found = text(longer_section(results))
    assert "| D&D | hGANet | 81.71 | 86.00 ± 2.98 | yes | 85.00 ± 2.98 | 84.00 ± 2.98 | 50 |" in found
    assert "| D&D | hGANet | 81.71 | not run yet | – | – | – | – |" in found
    assert "epochs instead of" not in found
    more = [value + 3 for value in TEN]
    longer = longer_run("DD", "hganet")
    lower = [value - 1 for value in TEN]
    write(results.folder, longer, summary(longer, lower, best=more, config={"epochs": 100}))
    found = text(longer_section(Results(results.folder)))
    assert "- D&D, hGANet: 100 epochs instead of 50 change the best test epoch † by +1.00 points and " in found
    assert "the last epoch by -1.00." in found
    assert "--set epochs=100 " in longer.command


def test_the_open_wiring_is_said_to_be_none_of_the_papers(results):
    put(results, open_run("PROTEINS", "cosine"))
    put(results, open_run("PROTEINS", LINEAR, tuned=True), [value - 8 for value in TEN])
    found = text(open_section(results))
    assert (
        "| PROTEINS | hGANet | 78.65 | 86.00 ± 2.98 | yes | 85.00 ± 2.98 | 84.00 ± 2.98 | cosine | the config's |"
        in found
    )
    control = "| PROTEINS | linear map (control) | – | 78.00 ± 2.98 | – | 77.00 ± 2.98 | 76.00 ± 2.98 | – | tuned |"
    assert control in found and "Not the paper's network." in found
    assert "features=labels+degree" in open_run("PROTEINS", LINEAR, tuned=True).command


@pytest.mark.parametrize("dataset", TUNED)
def test_tuned_settings_are_what_validation_chose(dataset):
    found = tried(Results(ROOT / "results"))["hganet", dataset, "validation"]
    assert found[0].setting == ", ".join(f"`{setting}`" for setting in TUNED[dataset])


@pytest.mark.parametrize("mean, mark", [(90.0, "yes"), (89.996, "yes"), (89.99, "no")])
def test_mark_follows_the_printed_figure(results, mean, mark):
    found = summary(graph_run("MUTAG", "hganet"), TEN)
    found["best_test_epoch"] = rule([mean - 1, mean + 1])
    write(results.folder, graph_run("MUTAG", "hganet"), found)
    assert f" | {mark} | " in next(line for line in table_5(results) if line.startswith("| MUTAG | hGANet"))


def test_table_7_and_the_cell_that_the_paper_could_not_fill(results):
    assert "ours has not been trained there yet" in text(table_7(results))
    put(results, graph_run("DD", "ganet"))
    fresh = type(results)(results.folder)
    found = text(table_7(fresh))
    assert "| GAO | paper | OOM | 77.92 |" in found
    assert "and trains: 86.00 ± 2.98 at the best test epoch †, 84.00 ± 2.98 at the last." in found


def test_table_6_labels_lgcns_rule(results):
    put(results, node_run("Citeseer", "hganet"))
    found = text(table_6(results))
    assert "LGCN's rule †" in found
    assert "| Citeseer | hGANet | 72.7 ± 0.6 | 84.00 ± 2.98 | yes | 86.00 ± 2.98 |" in found


def test_missing_runs_come_with_their_command(results):
    put(results, node_run("Cora", "gcn"))
    found = text(table_6(results))
    assert "Not run yet: `cora/hganet`, `cora/linear`, `cora/gat`, `citeseer/hganet`" in found
    assert "python -m experiments.report.run --only cora/hganet cora/linear cora/gat citeseer/hganet" in found


def test_unfinished_run_counts_as_missing(results):
    put(results, graph_run("PTC", "hganet"), complete=False)
    assert "| PTC | hGANet | 65.02 | not run yet |" in text(table_5(results))


def test_k_that_change_nothing_are_called_one_model(results):
    for k in K_VALUES:
        put(results, graph_run("MUTAG", "hganet", k=k), TEN if k > 4 else TEN[::-1])
    found = text(figure_3(results))
    assert "MUTAG: k = 8, 16, 32 and 64 gave the same accuracy in every fold under both rules: no node has" in found
    assert "k = 64 against" not in found


def test_k_that_ought_to_change_nothing_but_do(results):
    for k in K_VALUES:
        put(results, graph_run("MUTAG", "hganet", k=k), [value + k / 100 for value in TEN])
    found = text(figure_3(results))
    assert "k = 8, 16, 32 and 64 did not give the same figures" in found
    assert "highest with k = 64 at the best test epoch † (0.60 points above the lowest)" in found


def test_k_64_against_k_8_on_proteins(results):
    put(results, graph_run("PROTEINS", "hganet"))
    put(results, graph_run("PROTEINS", "hganet", k=64), [v - 2 - i / 10 for i, v in enumerate(TEN)])
    found = text(figure_3(results))
    assert "PROTEINS: k = 64 against k = 8 at the last epoch: -2.45 points" in found
    assert "test over folds: p < 0.001" in found


def test_validation_stands_beside_figures_of_others(results):
    put(results, graph_run("PROTEINS", "hganet", "validation"), [value - 10 for value in TEN])
    found = text(validation_section(results))
    assert "| hGANet | not run yet | 74.00 ± 2.98 | not run yet |" in found
    assert "| DGCNN, Errica et al. | 76.6 ± 4.3 | 72.9 ± 3.5 | – | – | 45.6 ± 3.4 |" in found


def test_operators_that_the_paper_only_describes(results):
    put(results, graph_run("MUTAG", "sampled"))
    assert "| MUTAG | SampledGAO | 86.00 ± 2.98 | 84.00 ± 2.98 |" in text(operators_section(results))


def test_comparison_uses_the_folds_in_pairs(results):
    put(results, graph_run("DD", "hganet"))
    put(results, graph_run("DD", "ganet"), [value - 1 - 0.1 * i for i, value in enumerate(TEN)])
    found = compare(results, "DD", ("hganet", "ganet"), "paper")
    assert found.differences == pytest.approx([1 + 0.1 * i for i in range(10)])
    assert found.p_wilcoxon == 2 / 1024
    lines = text(family_lines(results, "paper", (("hganet", "ganet"),)))
    assert "| D&D | hGAO - GAO | +1.45 ± 0.30 | 10 / 0 / 0 | 0.002 | 0.002 |" in lines
    assert "Below 0.05 under both tests after correction: hGAO above GAO on D&D." in lines


def test_noise_is_called_noise(results):
    put(results, graph_run("PTC", "hganet"))
    put(results, graph_run("PTC", "cganet"), TEN[::-1])
    found = text(paired_tests(results))
    assert "Of 1 comparison, 0 (Wilcoxon) and 0 (corrected t) are below 0.05 before correction" in found
    assert "gives no order of these models" in found
    assert found.count("No comparison yet") == 8  # of two protocols with four tables each, and nodes


def tuned(results, run, loss):
    found = summary(run, TEN)
    found["validation"] |= {"val_loss": loss, "val_accuracy": 71.5}
    found["config"]["model"] = {"settings": list(run.settings)}
    write(results.folder, run, found)
    return found


def test_tuning_shows_validation_only_and_what_was_chosen(results):
    first, second = tuning_runs()[:2]
    tuned(results, first, 0.75)
    chosen = tuned(results, second, 0.5)
    left_the_list = Run(f"tuning/{second.name.split('/')[1]}/old", first.dataset, "hganet", "validation", ("seed=3",))
    tuned(results, left_the_list, 0.9)
    put(results, node_run(first.dataset, "hganet"), config={**chosen["config"], "seed": 7})
    found = text(tuning(results))
    settings = ", ".join(f"`{setting}`" for setting in second.settings)
    assert f"| {settings} | 0.5000 | 71.50 | 10 | best so far |" in found
    assert "| `seed=3` | 0.9000 | 71.50 | 10 |  |" in found
    assert found.index(settings) < found.index("the config as it was") < found.index("`seed=3`")
    assert f"was trained with {settings}." in found
    assert "84.00" not in found


def test_accuracy_decides_before_loss(results):
    sure, right = tuning_runs()[:2]
    tuned(results, sure, 0.5)
    found = tuned(results, right, 0.9)
    found["validation"]["val_accuracy"] = 73.0
    write(results.folder, right, found)
    assert "| 0.9000 | 73.00 | 10 | best so far |" in text(tuning(results))


def test_every_run_can_be_repeated(results):
    run, tuning = graph_run("DD", "hganet"), tuning_runs()[0]
    put(results, run, git_revision=["b" * 40, "a" * 40 + "-dirty"], duration_seconds=45.0)
    tuned(results, tuning, 0.5)
    found = text(every_run(results))
    row = f"| [dd/hganet](results/dd/hganet/summary.json) | `{run.command}` | 0 | aaaaaaa-dirty, bbbbbbb |"
    assert f"{row} 2.21.0 / 3.15.1 | 45 s |" in found
    assert f"`python train.py --config results/{tuning.name}/config.yaml --threads 1 --deterministic" in found
    assert "on Abacus, 2 cores" in found
    assert f"| dd/cganet | `{graph_run('DD', 'cganet').command}` | not run yet |" in found


def test_readme_block(results):
    put(results, graph_run("COLLAB", "cganet"))
    put(results, node_run("Cora", "hganet"))
    found = readme_block(results)
    assert "| COLLAB | 77.48 | not run yet | not run yet | 76.96 | 86.00 | 84.00 |" in found
    assert "| Cora | 83.5 |" in found and " 84.00 | – | – | – |" in found
    assert "| Pubmed | 79.2 | not run yet | not run yet | – | – | – |" in found
    assert "selected on test" in found


def test_config_figures(results):
    put(results, graph_run("MUTAG", "cganet"))
    put(results, graph_run("MUTAG", "hganet", k=4))
    put(results, graph_run("MUTAG", "hganet", "validation"))
    put(results, graph_run("MUTAG", LINEAR))
    put(results, node_run("Cora", "gat"), duration_seconds=200.0)
    assert config_figures(results) == {
        ("MUTAG", "cganet"): ("84.00 last, 86.00 best test †", "1 h 02 min"),
        ("Cora", "gat"): ("84.00", "3 min"),
    }


def test_config_table_lists_pairs_that_have_no_file_of_their_own(results):
    put(results, graph_run("MUTAG", "cganet"))
    lines = readme.config_table(results).splitlines()[2:]
    measured = "84.00 last, 86.00 best test † | 1 h 02 min |"
    assert f"| `mutag_hganet.yaml`, `--model cganet` | Table 5, cGANet on MUTAG | 89.00 | {measured}" in lines
    assert "| `karate_hganet.yaml` | - | - |  |  |" in lines


def test_rivals_have_what_validation_chose():
    """Once all settings of a rival are tried, its reported runs have the best of them."""
    results = Results(ROOT / "results")
    for group in tried(results).values():
        dataset, model = group[0].summary["dataset"], group[0].summary["model"]
        if model == "hganet" or results.missing(tuning_run(dataset, s, model) for s in RIVAL_SETTINGS[dataset, model]):
            continue
        inductive = group[0].summary["label"] == "planetoid I"
        protocol = "paper" if dataset in NODE_SETS else "validation"
        run = planetoid_i(dataset) if inductive else replace(node_run(dataset, model), protocol=protocol)
        now = to_tree(resolve(parse(run.arguments))[0])
        assert comparable({"config": now}) == comparable({"config": group[0].summary["config"]}), (dataset, model)
