"""The entropies of a contest's networks."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from experiments.study import entropy

ROWS = np.array([0, 0, 1, 1])
UNIFORM, SINGLE = np.full((4, 1), 0.5), np.array([[1.0], [0.0], [1.0], [0.0]])


@pytest.mark.parametrize(("attends", "expected"), [(True, {"runs": 2, "modules": [1.0, 0.5]}), (False, None)])
def test_means_over_runs_and_modules(tmp_path, monkeypatch, attends, expected):
    """Two of three runs are finished; the second module is uniform in one of them, and single-minded in the other."""
    folds = {n: SimpleNamespace(has_attention=attends, second=weights) for n, weights in ((1, UNIFORM), (3, SINGLE))}
    monkeypatch.setattr(entropy, "open_fold", lambda folder, root, number: folds.get(number))
    looks = [SimpleNamespace(rows=ROWS, weights=UNIFORM)]
    monkeypatch.setattr(entropy, "all_looks", lambda fold: [*looks, SimpleNamespace(rows=ROWS, weights=fold.second)])
    (tmp_path / "study").mkdir()
    assert entropy.main(["study", "--runs", str(tmp_path), "--results", str(tmp_path)]) == 0
    path = tmp_path / "study/entropy.json"
    assert (json.loads(path.read_text()) if path.exists() else None) == expected
