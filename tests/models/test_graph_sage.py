"""GraphSAGE, Set2SetNet and the convolutions that they share."""

import keras
import numpy as np
import pytest

from ganet_tf.models import GraphSAGE, Set2SetNet
from ganet_tf.models.sage_stack import SAGEStack
from tests.layers.test_sage_conv import sage
from tests.layers.test_set2set import set2set
from tests.models.contract import CLASSES, FEATURES, ModelContract, compiled, graph_data, rings

BATCH = {"x": (None, FEATURES), "edges": (None, 2), "graph_ids": (None,)}


class TestGraphSAGE(ModelContract):
    cls = GraphSAGE
    arguments = {"units": (4, 5), "dropout": 0.2, "head_dropout": 0.1}  # noqa: RUF012


class TestSet2SetNet(ModelContract):
    cls = Set2SetNet
    arguments = {"units": (4, 5), "steps": 3}  # noqa: RUF012


def stacked(stack, x, edges, aggregator="mean"):
    """Both convolutions of a stack, a ReLU between them, side by side."""
    first, second = ({w.name: w.numpy() for w in layer.weights} for layer in stack.convolutions)
    hidden = np.maximum(sage(first, x, edges, aggregator), 0)
    return np.concatenate([hidden, sage(second, hidden, edges, aggregator)], axis=1)


READ = {"mean": np.mean, "sum": np.sum, "max": np.max}


@pytest.mark.parametrize("readout", READ)
def test_graph_sage_against_numpy(readout):
    inputs, model = rings([4, 3]), GraphSAGE(CLASSES, units=(4, 5), aggregator="max", readout=readout, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({**inputs, "x": x})
    h = stacked(model.stack, x, inputs["edges"], "max")
    pooled = np.array([READ[readout](h[inputs["graph_ids"] == g], axis=0) for g in (0, 1)])
    kernel, bias = (w.numpy() for w in model.out.weights)
    np.testing.assert_allclose(outputs, pooled @ kernel + bias, rtol=1e-10)


def test_set2set_net_against_numpy():
    inputs, model = rings([4, 3]), Set2SetNet(CLASSES, units=(2, 3), steps=2, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({**inputs, "x": x})
    weights = {w.name: w.numpy() for w in model.set2set.weights}
    h = set2set(weights, stacked(model.stack, x, inputs["edges"]), inputs["graph_ids"], 2)
    kernel, bias = (w.numpy() for w in model.hidden.weights)
    assert kernel.shape == (10, 5)
    last, last_bias = (w.numpy() for w in model.out.weights)
    np.testing.assert_allclose(outputs, np.maximum(h @ kernel + bias, 0) @ last + last_bias, rtol=1e-10)


def test_batch_norm_is_over_nodes_and_kept_for_inference():
    model = compiled(GraphSAGE(CLASSES, units=(4, 5, 6), batch_norm=True, normalize=True))
    model.fit(graph_data(3), epochs=2, verbose=0)
    assert [norm.moving_mean.shape for norm in model.stack.norms] == [(4,), (5,)]
    assert np.any(model.stack.norms[0].moving_mean.numpy())
    together = model(rings([4, 6])).numpy()
    inputs = rings([4, 6])
    alone = {"x": inputs["x"][:4], "edges": inputs["edges"][:8], "graph_ids": inputs["graph_ids"][:4]}
    np.testing.assert_allclose(model(alone), together[:1], rtol=1e-5, atol=1e-6)


def test_the_last_convolution_has_no_activation():
    stack = SAGEStack((3, 3, 3), activation="relu", batch_norm=True)
    names = [keras.activations.serialize(layer.activation) for layer in stack.convolutions]
    assert names == ["relu", "relu", "linear"]
    assert len(stack.norms) == 2


def test_stack_config():
    stack = SAGEStack((3, 2), aggregator="sum", kernel_regularizer=keras.regularizers.L2(0.1), dense=True, name="mine")
    again = SAGEStack.from_config(stack.get_config())
    assert again.get_config() == stack.get_config()
    assert again.convolutions[0].kernel_regularizer.l2 == pytest.approx(0.1)


def test_unknown_readout():
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        GraphSAGE(2, readout="meen")
