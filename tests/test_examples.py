"""Every example runs as printed, in seconds."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# What an example must print, and arguments that keep a large one small.
SAYS = {
    "own_networkx_data.py": "accuracy",
    "own_keras_model.py": "Accuracy on",
    "look_at_attention.py": "attends to",
    "serve.py": "Served 34 nodes",
}
ARGUMENTS = {"large_graph.py": ["--nodes", "2000"]}


@pytest.mark.parametrize("name", sorted({*SAYS, *(file.name for file in EXAMPLES.glob("*.py"))}))
def test_example_runs(name, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS.get(name, [])])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    out = capsys.readouterr().out
    assert out.strip()
    assert SAYS.get(name, "") in out
