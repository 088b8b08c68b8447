"""What `explain.attention` says is what the layers do."""

import keras
import numpy as np
import pytest

from ganet_tf import data, explain, layers, models
from tests.explain.small import GRAPH, STAR, WEIGHTED, trained


def rebuilt(look, values):
    """Σ_j α_ij v_j, from a look's own weights."""
    out = np.zeros_like(values)
    np.add.at(out, look.rows, look.weights()[:, None] * values[look.columns])
    return out


@pytest.mark.parametrize("graph", [GRAPH, WEIGHTED], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "layer",
    [
        lambda: layers.HGAO(3, k=2),
        lambda: layers.HGAO(3, k=3, score="cosine"),
        lambda: layers.HGAO(3, k=2, score="uniform"),
        lambda: layers.GAO(3),
        lambda: layers.GAO(3, score="uniform"),
        lambda: layers.TopKGAO(3, k=2),
        lambda: layers.TopKGAO(3, k=2, score="uniform"),
        lambda: layers.SampledGAO(3),
    ],
)
def test_the_weights_give_the_layers_output(layer, graph):
    keras.utils.set_random_seed(1)
    layer = layer()
    out = layer(graph.x, graph.edges, edge_weights=graph.edge_weights).numpy()
    (look,) = explain.attention(*in_a_model(layer, graph))
    gated = graph.x if look.gates is None else graph.x * look.gates[:, None]
    np.testing.assert_allclose(rebuilt(look, gated @ layer.value_kernel.numpy()), out, atol=1e-5)


def in_a_model(layer, graph):
    """A Functional model of one layer, and its inputs."""
    x, edges = keras.Input([graph.x.shape[1]], name="x"), keras.Input([2], dtype="int32", name="edges")
    weights = None if graph.edge_weights is None else keras.Input([], name="edge_weights")
    inputs = {"x": x, "edges": edges} | ({} if weights is None else {"edge_weights": weights})
    return keras.Model(inputs, layer(x, edges, edge_weights=weights)), graph


def test_every_head_of_a_gat_layer():
    layer = layers.GAT(4, heads=2, use_bias=False)
    out = layer(GRAPH.x, GRAPH.edges).numpy()
    looks = explain.attention(*in_a_model(layer, GRAPH))
    values = np.split(GRAPH.x @ layer.kernel.numpy(), 2, axis=1)
    made = [rebuilt(look, value) for look, value in zip(looks, values, strict=True)]
    np.testing.assert_allclose(np.concatenate(made, axis=1), out, atol=1e-5)
    assert [look.name.split(", ")[1] for look in looks] == ["head 1", "head 2"]


def test_the_choice_is_hgaos_own_and_k_can_be_another():
    model = trained()
    for look, gam in zip(explain.attention(model, GRAPH), model.ganet.gams, strict=True):
        assert look.name == gam.name and look.k == 2
        assert (np.bincount(look.rows, look.chosen()) <= 2).all()
        assert look.chosen(99).all() and look.chosen(1).sum() == len(GRAPH.x)
        sums = np.bincount(look.rows, look.weights(3))
        np.testing.assert_allclose(sums, 1, atol=1e-6)
    h = model.ganet.embedding(GRAPH.x, GRAPH.edges)
    first, selected = explain.attention(model, GRAPH)[0], model.ganet.gams[0].attention.selected(h, GRAPH.edges)
    for node, row in enumerate(selected.indices.numpy()):
        assert set(row[row >= 0]) == set(first.columns[(first.rows == node) & first.chosen()])


def test_the_model_is_as_it_was_afterwards():
    model = trained()
    before = model.ganet.gams[0].attention.call
    explain.attention(model, GRAPH)
    assert model.ganet.gams[0].attention.call == before
    with pytest.raises(ValueError, match="must have shape"):
        explain.attention(model, {"x": GRAPH.x, "edges": np.zeros((2, 3), "int32"), "graph_ids": np.zeros(6, "int32")})
    assert model.ganet.gams[0].attention.call == before


def test_channels_attend_to_channels():
    model = models.GraphClassifier(2, operator="cgao", num_modules=1, units=4, module_units=3, sort_pooling_k=10)
    (weights,) = explain.channel_attention(model, GRAPH).values()
    h = model.ganet.embedding(GRAPH.x, GRAPH.edges).numpy()
    attention = model.ganet.gams[0].attention
    values = h @ attention.value_kernel.numpy()
    np.testing.assert_allclose(values @ weights.T, attention(h, graph_ids=np.zeros(6, "int32")), atol=1e-5)


def test_a_model_without_attention_is_refused():
    model = models.GCN(2)
    with pytest.raises(ValueError, match="has no attention to look at"):
        explain.attention(model, GRAPH)


def test_a_node_data_set_is_a_graph_too():
    club = data.load("Karate")
    model = models.NodeClassifier(2, k=3, num_modules=1, units=4, module_units=4)
    (look,) = explain.attention(model, club)
    assert len(np.unique(look.rows)) == 34


def test_ties_go_to_the_smaller_index():
    star = data.Graph(np.ones((5, 4)), STAR.edges)
    look = explain.attention(trained(), star)[0]
    assert look.columns[(look.rows == 0) & look.chosen(3)].tolist() in ([0, 1, 2], [1, 2, 3])
