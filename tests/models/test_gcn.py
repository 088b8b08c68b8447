"""The GCN baseline."""

import numpy as np

from ganet_tf.models import GCN
from tests.layers.test_gcn import gcn
from tests.models.contract import CLASSES, FEATURES, ModelContract, rings


class TestGCN(ModelContract):
    cls = GCN
    arguments = {"units": 4, "dropout": 0.2}  # noqa: RUF012
    for_graphs = False


def test_against_numpy():
    inputs, model = rings([6]), GCN(CLASSES, units=4, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({"x": x, "edges": inputs["edges"]})
    hidden = gcn({"kernel": model.hidden.kernel.numpy(), "bias": model.hidden.bias.numpy()}, x, inputs["edges"], None)
    last = {"kernel": model.out.kernel.numpy(), "bias": model.out.bias.numpy()}
    np.testing.assert_allclose(outputs, gcn(last, np.maximum(hidden, 0), inputs["edges"], None), rtol=1e-10)


def test_only_the_first_layer_decays():
    model = GCN(CLASSES)
    model.build({"x": (None, FEATURES), "edges": (None, 2)})
    assert len(model.losses) == 1
