"""GANet: channels, wiring and the operators it can be made of."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import CGAO, HGAO, operator_names
from ganet_tf.models import GANet
from tests.models.contract import FEATURES, rings


def test_channels_of_the_paper():
    assert GANet().channels == (48, 60, 72, 84, 96, 97)
    assert GANet(num_modules=2, units=10, module_units=3, out_units=7).channels == (10, 13, 16, 7)
    assert GANet(num_modules=2, skip="gcn").channels == (48, 24, 24, 97)
    assert GANet(num_modules=0).channels == (48, 97)


def test_layers_put_out_what_channels_says():
    model, x = GANet(num_modules=2), rings([4, 3])
    model(x)
    widths = [w.shape[-1] for w in (model.embedding.kernel, model.out.kernel)]
    assert widths == [48, 97]
    assert model.out.kernel.shape[0] == model.channels[-2]


@pytest.mark.parametrize("operator", operator_names())
def test_every_operator(operator):
    model = GANet(num_modules=1, operator=operator, k=2)
    assert model(rings([4, 3])).shape == (7, 97)
    assert GANet.from_config(model.get_config()).get_config() == model.get_config()


def test_wiring_is_the_layers_one_after_another():
    inputs, model = rings([4, 3]), GANet(num_modules=2, k=2)
    x = model.embedding(inputs["x"], inputs["edges"])
    for gam in model.gams:
        x = gam(x, inputs["edges"], inputs["graph_ids"])
    expected = model.out(x, inputs["edges"])
    model_again = GANet.from_config(model.get_config())
    model_again.build({"x": (None, FEATURES), "edges": (None, 2)})
    model_again.set_weights(model.get_weights())
    np.testing.assert_allclose(model_again(inputs), expected, rtol=1e-5, atol=1e-6)


class TestOperatorAsALayer:
    def test_each_module_has_its_own(self):
        mine = HGAO(12, k=3, scale="sqrt")
        model = GANet(num_modules=2, operator=mine)
        model(rings([4, 3]))
        first, second = (gam.attention for gam in model.gams)
        assert first is not second
        assert first.k == second.k == 3
        assert not mine.built
        assert mine not in model._flatten_layers()

    def test_its_config_is_in_the_models(self):
        model = GANet(operator=CGAO(12, scale="mean"))
        again = GANet.from_config(model.get_config())
        assert again.get_config() == model.get_config()
        assert again.gams[0].attention.scale == "mean"


def test_kernels_of_one_shape_do_not_start_equal():
    model = GANet(num_modules=2, module_units=48, operator="cgao")
    model.build({"x": (None, 48), "edges": (None, 2)})
    kernels = [w.numpy() for w in model.trainable_weights if w.shape == (48, 48)]
    assert len(kernels) >= 4
    assert all(np.any(a != b) for i, a in enumerate(kernels) for b in kernels[:i])


def test_edges_reach_every_layer_as_one_tensor():
    """What is derived from `edges` is kept on the tensor, so no layer may get a copy."""
    seen = []
    model = GANet(num_modules=2)
    inputs = {key: tf.constant(value) for key, value in rings([4, 3]).items()}
    model(inputs)
    for layer in (model.embedding, *(gam.attention for gam in model.gams), model.out):
        prepare = layer.prepare
        layer.prepare = lambda x, edges, *rest, prepare=prepare: (
            seen.append(edges),
            prepare(x, edges, *rest),
        )[1]
    model(inputs)
    assert len(seen) == 4
    assert all(edges is inputs["edges"] for edges in seen)


def test_dropout_places():
    model = GANet(num_modules=1, dropout=0.3, attention_dropout=0.4)
    assert model.embedding.dropout == model.out.dropout == model.gams[0].gcn.dropout == 0.3
    assert model.gams[0].attention_drop.rate == 0.4


def test_unknown_operator():
    with pytest.raises(ValueError, match="Did you mean 'hgao'"):
        GANet(operator="hgoa")
