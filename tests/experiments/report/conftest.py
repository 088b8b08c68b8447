"""Fixtures for made-up results."""

import pytest

from experiments.report.results import Results


@pytest.fixture
def root(tmp_path):
    """A folder with an empty results/ in it."""
    (tmp_path / "results").mkdir()
    return tmp_path


@pytest.fixture
def results(root):
    """What lies in it, read when asked for."""
    return Results(root / "results")
