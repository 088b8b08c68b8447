"""The bugs of this folder still fit the code, and what plants them tells a test that sees from one that does not."""

import ast

import pytest

from tests.mutants import run
from tests.mutants.run import ROOT, Mutant, areas, copy_tree, judge, main

ALL = [(area, mutant) for area, mutants in areas().items() for mutant in mutants]
# What CI plants: bugs of most areas, whose tests train nothing. All of them take half an hour: `make mutants`.
QUICK = (
    "trains on the test graphs",
    "folds follow --seed",
    "corrected t without its correction",
    "any function may be called out of a pickle",
    "a compiled step takes weights below 0",
    "what dropout leaves is not rescaled",
    "the draft is not synced before it takes the file's place",
)


@pytest.mark.parametrize("area, mutant", ALL, ids=lambda value: getattr(value, "bug", value))
def test_the_patch_fits_and_its_test_is_there(area, mutant):
    assert mutant.new != mutant.old
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file}: {mutant.old!r} has to stand there exactly once"
    if mutant.file.endswith(".py"):
        ast.parse(text.replace(mutant.old, mutant.new))
    file, *names = mutant.test.split("::")
    assert (ROOT / file).is_file()
    defined = {name for name in names if defines(ROOT / file, name)}
    inherited = len(names) == 2 and defines(ROOT / file, names[0])  # a class may have its test from a contract
    assert len(defined) == len(names) or inherited, mutant.test


def defines(path, name):
    """Whether a file has a function or class of that name."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name for node in nodes)


def test_no_bug_is_listed_twice():
    words = [mutant.bug for _, mutant in ALL]
    assert len(words) == len(set(words))


@pytest.mark.slow
def test_some_bugs_are_seen(capsys):
    assert main(["--only", *QUICK, "--jobs", "1"]) == 0
    assert f"{len(QUICK)} of {len(QUICK)} bugs were seen" in capsys.readouterr().out


@pytest.fixture
def tree(tmp_path):
    """A small project with two tests, only one of which looks at the sum."""
    (tmp_path / "code.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "test_code.py").write_text(
        "import code_under_test as code\n\n\n"
        "def test_sum():\n    assert code.add(1, 2) == 3\n\n\n"
        "def test_runs():\n    code.add(1, 2)\n"
    )
    (tmp_path / "code.py").rename(tmp_path / "code_under_test.py")
    return tmp_path


def bug(test, new="a - b"):
    return Mutant("wrong sum", "code_under_test.py", "a + b", new, f"test_code.py::{test}")


@pytest.mark.parametrize(
    "mutant, word",
    [
        (bug("test_sum"), "seen"),
        (bug("test_runs"), "missed"),
        (bug("test_sum", "__import__('os').kill(__import__('os').getpid(), 8)"), "seen"),  # a division by zero
        (bug("test_sum", "a +"), "breaks the import"),
        (bug("test_not_there"), "breaks the import"),
    ],
)
def test_verdicts(tree, mutant, word):
    before = (tree / mutant.file).read_text()
    assert judge(tree, "toy", mutant, timeout=100).word == word
    assert (tree / mutant.file).read_text() == before


def test_a_test_that_hangs(tree):
    assert judge(tree, "toy", bug("test_sum", "__import__('time').sleep(1000)"), timeout=3).word == "too slow"


def test_a_patch_that_does_not_fit(tree):
    mutant = bug("test_sum")._replace(old="a * b")
    with pytest.raises(ValueError, match=r"has the text of 'wrong sum' 0 times"):
        mutant.plant(tree)


def test_tests_that_fail_without_a_bug(tree, capsys):
    assert run.sound(tree, [("toy", bug("test_sum"))], 100)
    (tree / "code_under_test.py").write_text("def add(a, b):\n    return 0\n")
    assert not run.sound(tree, [("toy", bug("test_sum"))], 100)
    assert "have to pass before a bug is planted" in capsys.readouterr().err


def test_a_missed_bug_is_an_error(capsys):
    verdicts = [run.Verdict("toy", bug("test_sum"), word, 1.0) for word in ("seen", "missed")]
    assert run.report(verdicts[:1]) == 0 and run.report(verdicts) == 1
    assert "1 of 2 bugs were seen" in capsys.readouterr().out


def test_a_sample_is_drawn_by_its_seed(capsys):
    drawn = []
    for seed in ("1", "1", "2"):
        assert main(["--sample", "5", "--seed", seed, "--list"]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2] and len(drawn[0].splitlines()) == 5
    assert main(["--only", "no such bug"]) == 2


def test_a_copy_without_git(tree, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(run.shutil, "which", lambda name: None)
    (tree / ".venv").mkdir()
    found = copy_tree(tree, tmp_path_factory.mktemp("copy") / "tree")
    assert sorted(path.name for path in found.iterdir()) == ["code_under_test.py", "test_code.py"]
