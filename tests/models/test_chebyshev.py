"""The Chebyshev baseline."""

import numpy as np

from ganet_tf.models import Chebyshev
from tests.layers.test_cheb_conv import cheb
from tests.models.contract import CLASSES, FEATURES, ModelContract, rings


class TestChebyshev(ModelContract):
    cls = Chebyshev
    arguments = {"K": 2, "units": 4, "dropout": 0.2}  # noqa: RUF012
    for_graphs = False


def test_against_numpy():
    inputs, model = rings([6]), Chebyshev(CLASSES, K=3, lambda_max=1.9, units=4, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({"x": x, "edges": inputs["edges"]})

    def weights(layer):
        return {"bias": 0, **{f"kernel_{k}": kernel.numpy() for k, kernel in enumerate(layer.kernels)}}

    hidden = np.maximum(cheb(weights(model.hidden), x, inputs["edges"], 1.9), 0)
    np.testing.assert_allclose(outputs, cheb(weights(model.out), hidden, inputs["edges"], 1.9), rtol=1e-10)


def test_only_the_first_convolution_decays():
    model = Chebyshev(CLASSES, K=2)
    model.build({"x": (None, FEATURES), "edges": (None, 2)})
    assert len(model.losses) == 3
    assert len(model.weights) == 6
