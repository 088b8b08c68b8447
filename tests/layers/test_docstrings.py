"""The examples in the docstrings of layers and models give what they say."""

import doctest
import importlib

import keras
import numpy as np
import pytest

from ganet_tf import layers, models

CLASSES = [
    item
    for package in (layers, models)
    for item in (getattr(package, name) for name in package.__all__)
    if isinstance(item, type) and issubclass(item, keras.layers.Layer)
]


@pytest.mark.parametrize("item", CLASSES, ids=lambda item: f"{item.__module__}")
def test_example_runs(item):
    result = doctest.testmod(importlib.import_module(item.__module__), extraglobs={"np": np})
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("item", CLASSES, ids=lambda item: f"{item.__module__}")
def test_docstring_has_every_section(item):
    for section in ("Args:", "Call arguments:", "Returns:", "Example:"):
        assert section in item.__doc__, f"{item.__name__} has no '{section}'"
