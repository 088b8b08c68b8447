"""The command, from run folders that train.py wrote to files."""

import json
import shutil

import pytest

import train
from experiments.attention import __main__ as command
from experiments.attention import measures
from experiments.report.results import Results
from experiments.report.sections.attention import attention

SMALL = ["model.k=3", "model.units=6", "model.module_units=3", "model.num_modules=1"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run folders of one epoch: nodes, graphs, a setting that was tried, and one without attention."""
    root = tmp_path_factory.mktemp("attention") / "runs"
    graphs = ["--dataset", "BA2Motifs", "--epochs", "1", "--folds", "1", "--set", "batch_size=450", *SMALL]
    nodes = ["--dataset", "Karate", "--epochs", "1", "--runs", "1", "--set", *SMALL]
    for run, words in {
        "ba2motifs/hganet": [*graphs, "model.out_units=9"],
        "tuning/karate/scale=sqrt": [*nodes, "model.scale=sqrt", "optimizer.learning_rate=1e-9"],
    }.items():
        assert train.main([*words, "--quiet", "--output", str(root / run)]) == 0
    shutil.copytree(root / "tuning/karate/scale=sqrt", root / "karate/linear")
    config = root / "karate/linear/config.yaml"
    config.write_text(config.read_text().replace("operator: hgao", "operator: linear"))
    return root


@pytest.fixture
def look(runs, tmp_path, monkeypatch):
    """Runs the command; returns (exit code, results folder)."""
    monkeypatch.setattr(measures, "DATASETS", ("Karate",))

    def look(*words, results="results"):
        folder = tmp_path / results
        return command.main([*words, "--runs", str(runs), "--results", str(folder)]), folder

    return look


def files(folder):
    """{path: bytes} of everything below it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_everything_twice_the_same(look):
    words = ("--draw", "ba2motifs/hganet", "tuning/karate/scale=sqrt")
    (code, first), (_, second) = look(*words), look(*words, results="again/results")
    assert code == 0
    assert set(files(first)) == {
        "attention/selection.json",
        "attention/ba2motifs/hganet.json",
        "attention/choice_ba2motifs_hganet.png",
        "attention/tuning/karate/scale=sqrt.json",
        "attention/choice_tuning_karate_scale=sqrt.png",
        "attention/layers.png",
        "attention/layers_tuning.png",
    }
    assert files(first) == files(second)
    section = attention(Results(first))
    assert attention(Results(second)) == section and section[0] == "# What the attention does"

    report = json.loads((first / "attention/ba2motifs/hganet.json").read_text())
    assert (report["graphs"], report["nodes"], report["k"], report["epoch"]) == (100, 2500, 3, 1)
    assert [module["name"] for module in report["modules"]] == ["gam_1"]
    for module in report["modules"]:
        assert 0 <= module["entropy"]["mean"] <= 1.00001 and 0.5 <= module["gate"]["mean"] <= 1
        assert 0 < module["active"] < 1 and module["choice"]["nodes"] == round(2500 * module["active"])
        assert module["choice"]["degree"] <= module["choice"]["degree_most"] + 1e-5


def test_one_run_by_its_path(look, runs):
    code, folder = look(str(runs / "tuning/karate/scale=sqrt"))
    assert code == 0
    report = json.loads((folder / "attention/tuning/karate/scale=sqrt.json").read_text())
    assert report["run"] == "tuning/karate/scale=sqrt" and report["scale"] == "sqrt"
    assert (report["graphs"], report["nodes"], report["figure"]) == (1, 34, None)
    (module,) = report["modules"]  # with steps that small the model is still what training began with
    assert module["start"] == {"entropy": module["entropy"], "key_norm": module["key_norm"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["karate/linear"], "no attention to look at: its operator is linear"),
        (["nowhere"], "no run 'nowhere'"),
        (["ba2motifs/hganet", "--fold", "2"], "not finished"),
    ],
)
def test_errors_say_what_to_do(look, words, message, capsys):
    code, folder = look(*words)
    assert code == 2 and message in capsys.readouterr().err and not folder.exists()
