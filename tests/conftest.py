"""What every test shares: a quiet TensorFlow and the rule for tests on real data."""

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("MPLBACKEND", "agg")

import pytest


def real_data_dir():
    """The folder named by GANET_DATA, or None."""
    folder = os.environ.get("GANET_DATA")
    return Path(folder).resolve() if folder and Path(folder).is_dir() else None


def pytest_collection_modifyitems(items):
    if real_data_dir() is None:
        skip = pytest.mark.skip(reason="needs the paper's data sets: set GANET_DATA to their folder")
        for item in items:
            if "real_data" in item.keywords:
                item.add_marker(skip)


@pytest.fixture
def data_dir():
    """The real data folder; use together with @pytest.mark.real_data."""
    return real_data_dir()
