"""The examples in the docstrings of layers and models give what they say."""

import doctest
import importlib

import numpy as np
import pytest

MODULES = [
    *(
        f"ganet_tf.layers.{name}"
        for name in [
            "cgao",
            "gam",
            "gao",
            "gat",
            "gcn",
            "hgao",
            "linear",
            "sampled_gao",
            "sort_pooling",
            "topk_gao",
        ]
    ),
    *(
        f"ganet_tf.models.{name}"
        for name in ["dgcnn", "dgcnn_head", "ganet", "gat", "gcn", "graph_classifier", "node_classifier"]
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_example_runs(name):
    result = doctest.testmod(importlib.import_module(name), extraglobs={"np": np})
    assert result.attempted > 0
    assert result.failed == 0
