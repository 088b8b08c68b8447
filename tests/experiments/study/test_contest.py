"""Contests: what a rival is run with, and that validation alone chooses."""

import json

import pytest

from experiments import command_line
from experiments import config as settings
from experiments.study import __main__ as runner
from experiments.study import compete
from experiments.study.contest import Contest, Rival, chosen, words
from experiments.study.plan import contests
from experiments.tasks import load_dataset
from ganet_tf import data

GRID = (("optimizer.learning_rate=0.01",), ("optimizer.learning_rate=0.03",), ("teacher.weight=1", "model.k=4"))
RIVAL = Rival("mine", ("model.k=2",), GRID)
CONTEST = Contest("part/one", "Karate", (RIVAL,), ("model.k=8", "epochs=7"), runs=4)


def put(results, name, accuracy, loss=0.5, test=50.0, **more):
    """A summary as far as the choice reads it."""
    (results / name).mkdir(parents=True)
    rule = {"val_accuracy": accuracy, "val_roc_auc": 100 - accuracy, "val_loss": loss, "mean": test}
    text = json.dumps({"complete": True, "validation": rule, **more})
    (results / name / "summary.json").write_text(text)


def test_flags():
    """Settings of a rival win over common ones, those of the grid over both; tuning has seeds of its own."""
    flags = CONTEST.flags(RIVAL, GRID[2], tuning=True)
    config = settings.resolve(command_line.parse(flags))[0]
    assert (config.model.k, config.epochs, config.teacher.weight, config.seed, config.runs) == (4, 7, 1.0, 100, 2)
    config = settings.resolve(command_line.parse(CONTEST.flags(RIVAL, GRID[0])))[0]
    assert (config.model.k, config.seed, config.runs, config.deterministic) == (2, 0, 4, True)
    assert flags.count("model.k=4") == 1 and "model.k=2" not in flags


def test_folders():
    assert CONTEST.folder(RIVAL) == "study/part/one/mine"
    assert CONTEST.folder(RIVAL, GRID[2]) == "study/part/one/tuning/mine/weight=1,k=4"
    assert words(()) == "plain"


@pytest.mark.parametrize(
    ("figures", "more", "best"),
    [
        ([(80, 0.5), (82, 0.9), (81, 0.1)], {}, 1),
        ([(80, 0.5), (82, 0.9), (82, 0.1)], {}, 2),  # of equals the lower loss
        ([(82, 0.5), (82, 0.5), (81, 0.1)], {}, 0),
        ([(80, 0.5), (82, 0.9), (81, 0.1)], {"metric": "roc_auc"}, 0),  # whose figures go the other way here
    ],
)
def test_validation_chooses(tmp_path, figures, more, best):
    for i, (setting, (accuracy, loss)) in enumerate(zip(GRID, figures, strict=True)):
        assert chosen(CONTEST, RIVAL, tmp_path) is None, "not before all are there"
        put(tmp_path, CONTEST.folder(RIVAL, setting), accuracy, loss, test=10.0 * i, **more)
    assert chosen(CONTEST, RIVAL, tmp_path) == GRID[best]


def test_every_contest_can_be_run(monkeypatch):
    """Names are there once, pairs name rivals, budgets are equal, and train.py takes every setting."""
    karate = data.load("Karate")  # for all that have no config: settings are made for nodes of any data
    monkeypatch.setattr("experiments.config.data.load", lambda *_, **__: karate)
    names = [contest.name for contest in contests()]
    assert len(set(names)) == len(names)
    for contest in contests():
        rivals = [rival.name for rival in contest.rivals]
        assert len(set(rivals)) == len(rivals) and {name for pair in contest.pairs for name in pair} <= set(rivals)
        assert len({rival.grid for rival in contest.rivals}) == 1
        for rival in contest.rivals:
            for setting in rival.grid:
                settings.resolve(command_line.parse(contest.flags(rival, setting)))


@pytest.mark.real_data
@pytest.mark.parametrize("contest", [c for c in contests() if c.task == "node"], ids=lambda contest: contest.name)
def test_the_data_have_what_a_contest_asks_for(contest, data_dir):
    """Targets of the kind, a rule of selection that goes with it, and the splits."""
    config = settings.resolve(command_line.parse(contest.flags(contest.rivals[0], contest.rivals[0].grid[0])))[0]
    ds = load_dataset(config, data_dir)
    yes_or_no = contest.dataset in ("minesweeper", "tolokers", "PATTERN")
    assert ds.target.kind == ("multilabel" if yes_or_no else "classes")


def test_a_rival_is_tuned_and_run(tmp_path, monkeypatch):
    """What is there is not trained again; the chosen setting is run with the reported seeds, and looked at."""
    runs, results, trained = tmp_path / "runs", tmp_path / "results", []
    put(results, CONTEST.folder(RIVAL, GRID[0]), 70)

    def train_py(flags):
        folder = flags[flags.index("--output") + 1]
        trained.append(folder.removeprefix(f"{runs}/"))
        put(runs, trained[-1], 60 + len(trained))

    monkeypatch.setattr(compete, "train_py", train_py)
    monkeypatch.setattr(compete, "look", lambda name, arguments: trained.append(f"entropy of {name}"))
    monkeypatch.setattr(runner, "apart", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(runner, "contests", lambda: (CONTEST,))
    flags = ["--runs", str(runs), "--results", str(results)]
    assert runner.main(flags) == 0
    tuning, reported = [CONTEST.folder(RIVAL, setting) for setting in GRID[1:]], CONTEST.folder(RIVAL)
    assert trained == [*tuning, reported, f"entropy of {reported}"]
    assert json.loads((results / reported / "summary.json").read_text())["complete"]
    assert runner.main([*flags, "--list"]) == 0


def test_a_contest_in_processes(tmp_path, monkeypatch, capfd):
    """As it is run: tuned, trained, looked at, and not again; what cannot be trained fails alone and is named."""
    grid = ("optimizer.learning_rate=0.01",), ("optimizer.learning_rate=0.03",)
    common = "epochs=2", "model.num_modules=1", "patience=null"
    rivals = Rival("mine", (), grid), Rival("wrong", ("model.k=-1",), grid)
    monkeypatch.setattr(runner, "contests", lambda: (Contest("one", "Karate", rivals, common, runs=1, tuning_runs=1),))
    flags = ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    assert runner.main(flags) == 1
    assert "failed: study/one/wrong" in capfd.readouterr().out
    found = tmp_path / "results/study/one"
    assert {path.name for path in found.iterdir()} == {"mine", "tuning"}
    assert len(list((found / "tuning/mine").iterdir())) == 2
    assert 0 < json.loads((found / "mine/entropy.json").read_text())["modules"][0] <= 1
    stamp = (found / "mine/summary.json").stat().st_mtime_ns
    assert runner.main([*flags, "--only", "mine"]) == 0
    assert (found / "mine/summary.json").stat().st_mtime_ns == stamp


def test_parts_that_fit_nothing_get_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(runner, "contests", lambda: (CONTEST,))
    assert runner.main(["--jobs", "0"]) == 2
    assert "--jobs is 0, but at least one rival" in capsys.readouterr().err
    assert runner.main(["--only", "nowhere", "--list"]) == 2
    assert "No rival's name contains any of: nowhere. See --list." in capsys.readouterr().err
