"""A run of two workers that nothing befell, for those that resume to be held against."""

import shlex

import pytest

from tests.distributed.processes import alone, flags
from tests.experiments.conftest import tiny, tiny_config  # noqa: F401, fixtures


@pytest.fixture(scope="session")
def whole(tiny_config, tmp_path_factory):  # noqa: F811
    """Its folder."""
    folder = tmp_path_factory.mktemp("whole")
    done = alone([shlex.join(flags(tiny_config, folder / "run"))], folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "run"
