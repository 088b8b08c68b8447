"""The GAT baseline."""

import numpy as np

from ganet_tf.models import GAT
from tests.models.contract import CLASSES, FEATURES, ModelContract, rings


class TestGAT(ModelContract):
    cls = GAT
    arguments = {"units": 2, "heads": 3, "output_heads": 2, "dropout": 0.2}  # noqa: RUF012
    for_graphs = False


def test_the_published_setting():
    model = GAT(7)
    model.build({"x": (None, FEATURES), "edges": (None, 2)})
    assert model.hidden.kernel.shape == (FEATURES, 64)
    assert model.out.kernel.shape == (64, 7)
    assert model.hidden.dropout == model.hidden.attention_dropout == 0.6


def test_is_its_two_layers():
    inputs, model = rings([6]), GAT(CLASSES)
    outputs = model({"x": inputs["x"], "edges": inputs["edges"]})
    hidden = model.hidden(inputs["x"], inputs["edges"])
    np.testing.assert_allclose(model.out(hidden, inputs["edges"]), outputs, rtol=1e-5, atol=1e-6)
