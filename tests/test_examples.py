"""The examples run as printed, in seconds."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SAYS = {
    "own_networkx_data.py": "accuracy",
    "own_keras_model.py": "Accuracy on",
    "look_at_attention.py": "attends to",
}


def test_every_example_is_listed_here():
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example_runs(name, capsys):
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out
