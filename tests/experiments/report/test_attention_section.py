"""The text that is made from results/attention."""

import copy
import json

import pytest

from experiments.report.results import Results
from experiments.report.sections.attention import attention, is_uniform

CHOICE = {"nodes": 40, "degree": 0.7, "degree_most": 0.75, "random": 0.5, "tied": 0.4}


def spread(mean):
    return {"nodes": 10, "mean": mean, "sd": 0.01, "p5": mean - 0.02, "p95": mean + 0.02}


def entry(name, *entropies, operator="hgao", choice=None, start=0.8, **more):
    """What was found in a run."""
    modules = [
        {
            "name": f"gam_{number}",
            "entropy": spread(entropy),
            "gate": spread(0.6) if operator == "hgao" else None,
            "active": 0.25 if choice else 0.0,
            "choice": copy.deepcopy(choice),
            "key_norm": 0.2,
            "start": {"entropy": spread(start), "key_norm": 8.0},
        }
        for number, entropy in enumerate(entropies, 1)
    ]
    facts = {"dataset": "MUTAG", "task": "graph", "operator": operator, "fold": 1, "figure": None}
    return {"run": name, **facts, "k": 8 if operator == "hgao" else None, "modules": modules, **more}


@pytest.fixture
def write(tmp_path):
    """Writes entries and what else is given; returns the section's text."""

    def write(*entries, selection=None, files=()):
        folder = tmp_path / "results" / "attention"
        for one in entries:
            path = folder / f"{one['run']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(one))
        if selection:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "selection.json").write_text(json.dumps(selection))
        for name in files:
            (folder / name).touch()
        return "\n".join(attention(Results(tmp_path / "results")))

    return write


def counts(nodes, *active):
    ks = ("4", "8", "16", "32", "64")
    return {"nodes": nodes, "max_degree": 9, "active": dict(zip(ks, active, strict=True))}


def test_nothing_there(tmp_path):
    assert attention(Results(tmp_path))[-2] == "Not run yet."


def test_uniform_in_every_module(write):
    text = write(entry("mutag/hganet", 0.999, 0.998), entry("mutag/ganet", 0.999, 0.7, operator="gao"))
    assert "Attention is uniform in `mutag/hganet`: its weights there are those of a plain mean" in text
    assert "norm of W_K is 2.5 to 2.5 % of its initial value" in text
    assert "| `mutag/hganet` | hgao | 0.800 0.800 | 0.999 0.998 | uniform | 0.600 0.600 | 0.03 0.03 |" in text
    assert "| `mutag/ganet` | gao | 0.800 0.800 | 0.999 0.700 | not uniform in 1 of 2 | – |" in text
    assert "not uniform before training in `mutag/hganet`, but became so in training." in text
    assert "not uniform in at least one module of `mutag/ganet`." in text


def test_uniform_before_training(write):
    text = write(entry("mutag/hganet", 0.999, start=0.995))
    assert "It was so before training in `mutag/hganet`." in text and "became so" not in text


def test_nothing_uniform(write):
    assert "Attention is uniform in" not in write(entry("mutag/hganet", 0.9))


def test_runs_stand_in_the_reports_order(write):
    text = write(entry("cora/hganet", 0.9), entry("mutag/hganet", 0.9))
    assert text.index("| `mutag/hganet`") < text.index("| `cora/hganet`")


def test_selection_never_and_sometimes_active(write):
    text = write(selection={"MUTAG": counts(3371, 1, 0, 0, 0, 0), "PTC": counts(100, 50, 25, 0, 0, 0)})
    assert "| MUTAG | 3,371 | 9 | 0.03 | 0 | 0 | 0 | 0 |" in text
    assert "On MUTAG no node has more than 8 candidates: k = 8, 16, 32 and 64 are one model there." in text
    assert "Figure 3 shows a curve over k on MUTAG; from k = 8 on it cannot come from k." in text
    assert "of the nodes: 25.0 % on PTC." in text


def test_choices(write):
    low = {**CHOICE, "degree": 0.3, "tied": 0.0}
    high = {**CHOICE, "degree": 0.6}
    proteins = entry("proteins/hganet", 0.999, 0.999, choice=high)
    proteins["modules"][1]["choice"] = low
    text = write(proteins, entry("mutag/hganet", 0.999))
    assert "| `proteins/hganet` | 8 | 25.0 | 0.60 0.30 | 0.50 0.50 | 0.75 0.75 | 0.40 0.00 |" in text
    assert "the selection leans to high degrees in module 1; it leans to low degrees in module 2." in text
    assert "For up to 40.0 % of its nodes a neighbour left out ties with one selected." in text
    assert "The selection was never active in `mutag/hganet`: nothing is left out there." in text


@pytest.mark.parametrize(
    ("degree", "words"),
    [
        (0.74, "is nearly the one by degree"),
        (0.6, "leans to high degrees"),
        (0.5, "is as near to one by degree as chance"),
        (0.3, "leans to low degrees"),
    ],
)
def test_words_for_a_choice(degree, words, write):
    assert f"the selection {words} in module 1." in write(
        entry("proteins/hganet", 0.9, choice={**CHOICE, "degree": degree, "tied": 0})
    )


def test_figures_are_linked_from_the_folder_above_if_they_are_there(write):
    drawn = entry("mutag/hganet", 0.9, figure="choice_mutag_hganet.png")
    assert ".png" not in write(drawn)
    text = write(drawn, files=("layers.png", "choice_mutag_hganet.png"))
    assert "](results/attention/layers.png)" in text and "](results/attention/choice_mutag_hganet.png)" in text


def test_settings_tried(write, tmp_path):
    names = {"config": 0.999, "no_decay=[key_kernel]": 0.8}
    for name, accuracy in zip(names, (82.5, 81.5), strict=True):
        folder = tmp_path / "results" / "tuning" / "mutag" / name
        folder.mkdir(parents=True)
        rule = {"mean": 80, "val_loss": 0.5, "val_accuracy": accuracy}
        (folder / "summary.json").write_text(json.dumps({"complete": True, "validation": rule}))
    text = write(*(entry(f"tuning/mutag/{name}", entropy) for name, entropy in names.items()))
    assert "| MUTAG | `config` | 0.999 | uniform | 0.600 | 0.5000 | 82.50 |" in text
    assert "| MUTAG | `no_decay=[key_kernel]` | 0.800 | not uniform in 1 of 1 | 0.600 | 0.5000 | 81.50 |" in text
    assert "- MUTAG: not uniform in at least one module with `no_decay=[key_kernel]`; the highest" in text
    assert "highest validation accuracy is that of `config`" in text
    assert "where attention is uniform." in text
    assert "## Entropy" not in text  # no reported run


def test_settings_tried_without_summaries(write):
    assert "- MUTAG: uniform with every setting." in write(entry("tuning/mutag/scale=sqrt", 0.999))


def test_uniform_is_uniform_in_every_module():
    def modules(*entropies):
        return [{"entropy": entropy and {"mean": entropy}} for entropy in entropies]

    assert is_uniform(modules(0.999, 0.995)) and is_uniform(modules(0.999, None))
    assert not is_uniform(modules(0.999, 0.98)) and not is_uniform(modules(None))
