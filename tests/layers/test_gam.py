"""GAM: its wiring against the oracles of its parts."""

import keras
import numpy as np
import pytest

from ganet_tf.layers import CGAO, GAM, HGAO, get_operator, operator_names
from tests.graphs import SPECIAL
from tests.layers.contract import LayerContract, OracleContract, assert_close
from tests.layers.test_cgao import cgao
from tests.layers.test_gcn import gcn
from tests.layers.test_hgao import hgao


class TestGAM(LayerContract):
    def make(self, **kwargs):
        return GAM(2, operator="hgao", k=2, **kwargs)

    def dropping(self):
        return {"dropout": 0.5, "attention_dropout": 0.5}

    def oracle(self, weights, x, edges, graph_ids):
        h = hgao(weights, x, edges, graph_ids, k=2)
        return np.concatenate([x, gcn(weights, h, edges, graph_ids)], axis=1)


class TestGAMWithTheOtherSkip(OracleContract):
    def make(self, **kwargs):
        return GAM(2, operator="hgao", k=2, skip="gcn", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        h = hgao(weights, x, edges, graph_ids, k=2)
        return np.concatenate([h, gcn(weights, h, edges, graph_ids)], axis=1)


class TestGAMWithBothSkips(OracleContract):
    def make(self, **kwargs):
        return GAM(2, operator="hgao", k=2, skip="both", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        h = hgao(weights, x, edges, graph_ids, k=2)
        return np.concatenate([x, h, gcn(weights, h, edges, graph_ids)], axis=1)


class TestGAMWithCGAO(OracleContract):
    def make(self, **kwargs):
        return GAM(2, operator="cgao", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        h = cgao(weights, x, edges, graph_ids)
        return np.concatenate([x, gcn(weights, h, edges, graph_ids)], axis=1)


@pytest.mark.parametrize("operator", operator_names())
def test_every_operator_by_name(operator):
    graphs = SPECIAL["several_graphs"]
    layer = GAM(5, operator=operator)
    assert layer(graphs.x.astype("float32"), graphs.edges, graphs.graph_ids).shape == (9, 8)
    assert layer.get_config()["operator"] == operator


@pytest.mark.parametrize(("dropout", "attention_dropout"), [(0.9, 0.0), (0.0, 0.9)])
def test_where_the_dropout_is(dropout, attention_dropout):
    graphs = SPECIAL["complete"]
    layer = GAM(5, "linear", dropout=dropout, attention_dropout=attention_dropout, dtype="float64")
    outputs = layer(graphs.x, graphs.edges, training=True).numpy()
    np.testing.assert_array_equal(outputs[:, :3], graphs.x)  # the skip is never dropped
    assert np.any(outputs != layer(graphs.x, graphs.edges).numpy())
    assert layer.gcn.dropout == dropout
    assert layer.attention_drop.rate == attention_dropout


class TestOperatorAsALayer:
    def test_is_a_template(self):
        graphs = SPECIAL["complete"]
        mine = HGAO(7, k=3, scale="sqrt", name="mine")
        first, second = GAM(5, operator=mine), GAM(5, operator=mine)
        for gam in (first, second):
            assert gam(graphs.x.astype("float32"), graphs.edges).shape == (6, 8)
            assert gam.attention.k == 3
            assert gam.attention.units == 7
        assert first.attention is not second.attention
        assert not mine.built
        assert_close(first.compute_output_shape((None, 3))[1], 8, 0)

    def test_round_trips(self, tmp_path):
        layer = GAM(5, operator=CGAO(4, scale="mean"))
        again = GAM.from_config(layer.get_config())
        assert again.get_config() == layer.get_config()
        assert again.attention.scale == "mean"
        x, edges = keras.Input((3,)), keras.Input((2,), dtype="int32")
        model = keras.Model([x, edges], layer(x, edges))
        model.save(tmp_path / "model.keras")
        graphs = SPECIAL["complete"]
        inputs = [graphs.x.astype("float32"), graphs.edges]
        loaded = keras.models.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(model(inputs), loaded(inputs))


def test_get_operator_passes_options_on():
    layer = get_operator("hgao", 6, k=3, scale="sqrt", dropout=0.25)
    assert (layer.units, layer.k, layer.scale, layer.dropout) == (6, 3, "sqrt", 0.25)
    assert get_operator("linear", 6, k=3, scale="sqrt").units == 6


def test_get_operator_leaves_out_what_an_operator_does_not_have():
    switches = {
        "heads": 2,
        "concat": False,
        "score": "cosine",
        "query_units": 4,
        "gate": None,
        "attention_dropout": 0.5,
    }
    layers = {name: get_operator(name, 6, **switches) for name in operator_names()}
    assert layers["hgao"].gate is None and layers["gao"].score == layers["topk"].score == "cosine"
    assert layers["cgao"].heads == 2 and layers["cgao"].score == "dot"
    assert layers["sampled"].heads == 1 and not hasattr(layers["linear"], "heads")


@pytest.mark.parametrize(("heads", "concat", "width"), [(1, True, 5), (3, True, 15), (3, False, 5)])
@pytest.mark.parametrize("operator", ["gao", "hgao", "topk", "cgao"])
def test_heads_in_a_module(operator, heads, concat, width):
    graphs = SPECIAL["several_graphs"]
    layer = GAM(5, operator=operator, skip="both", heads=heads, concat=concat)
    assert layer(graphs.x.astype("float32"), graphs.edges, graphs.graph_ids).shape == (9, 3 + width + 5)
    assert layer.compute_output_shape((None, 3)) == (None, 3 + width + 5)


@pytest.mark.parametrize(("wrong", "near"), [("hgoa", "hgao"), ("CGAO", "cgao"), ("top_k", "topk"), (None, "")])
def test_unknown_operator_names_the_nearest(wrong, near):
    with pytest.raises(ValueError, match=f"`operator` must be a layer or one of .*Did you mean '{near}"):
        GAM(5, operator=wrong)


def test_unknown_skip():
    with pytest.raises(ValueError, match="Did you mean 'module'"):
        GAM(5, skip="modul")
