"""What is said of a layer's attention must be what the layer does: its output can be made again from it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from experiments.attention.__main__ import look_at
from experiments.attention.layers import attention_inputs, looks
from ganet_tf import models

SIZES = (7, 5)


@pytest.fixture(scope="module")
def batch():
    """Two random graphs as a model takes them."""
    rng = np.random.default_rng(1)
    edges, first = [], 0
    for size in SIZES:
        upper = np.argwhere(np.triu(rng.random((size, size)) < 0.6, 1))
        edges.append(first + np.concatenate([upper, upper[:, ::-1]]))
        first += size
    return {
        "x": tf.constant(rng.normal(size=(sum(SIZES), 4)), tf.float32),
        "edges": tf.constant(np.concatenate(edges), tf.int32),
        "graph_ids": tf.constant(np.repeat([0, 1], SIZES), tf.int32),
    }


def make(operator, batch, **options):
    """A small model with weights that nobody trained."""
    keras.utils.set_random_seed(2)
    small = {"units": 6, "num_modules": 2, "module_units": 3, "k": 3, "out_units": 9, "sort_pooling_k": 10}
    model = models.GraphClassifier(2, operator=operator, **{**small, **options})
    model(batch)
    return model


def dense(look, num_nodes):
    """The attention weights [N, N]."""
    matrix = np.zeros((num_nodes, num_nodes))
    matrix[look.rows, look.columns] = look.weights[:, 0]
    return matrix


@pytest.mark.parametrize("operator", ["hgao", "gao", "topk"])
@pytest.mark.parametrize("scale", [None, "sqrt"])
def test_weights_give_the_layers_output(operator, scale, batch):
    model = make(operator, batch, scale=scale)
    found = zip(looks(model, batch), attention_inputs(model, batch), strict=True)
    for look, (_, layer, x) in found:
        kept = x * layer.gates(x)[1][:, None] if operator == "hgao" else x
        output = dense(look, sum(SIZES)) @ layer.project(kept)[1].numpy()
        np.testing.assert_allclose(output, layer(x, batch["edges"]), atol=1e-5)


@pytest.mark.parametrize("operator", ["hgao", "gao", "topk"])
@pytest.mark.parametrize("score", ["dot", "cosine", "uniform"])
def test_weights_with_heads_scores_and_edge_weights(operator, score, batch):
    weights = tf.constant(np.random.default_rng(3).uniform(0, 2, len(batch["edges"])), tf.float32)
    batch = {**batch, "edge_weights": weights}
    model = make(operator, batch, heads=2, score=score, gate="double")
    found = list(looks(model, batch))
    for _, layer, x in attention_inputs(model, batch):
        own = [look for look in found if look.layer is layer]
        assert len(own) == (1 if operator == "gao" else 2)
        matrices = []
        for look in own:
            for column in look.weights.T:
                matrices.append(dense(look._replace(weights=column[:, None]), sum(SIZES)))
        values = layer.project_gated(x, layer.gates(x)[1])[1] if operator == "hgao" else layer.project(x)[1]
        output = np.concatenate([m @ v for m, v in zip(matrices, np.split(values.numpy(), 2, 1), strict=True)], axis=1)
        np.testing.assert_allclose(output, layer(x, batch["edges"], edge_weights=weights), atol=1e-5)


def test_sampled_takes_the_most_probable(batch):
    model = make("sampled", batch)
    for look, (_, layer, x) in zip(looks(model, batch), attention_inputs(model, batch), strict=True):
        taken = dense(look, sum(SIZES)).argmax(axis=1)
        np.testing.assert_allclose(layer.project(x)[1].numpy()[taken], layer(x, batch["edges"]), atol=1e-6)


@pytest.mark.parametrize("scale", [None, "sqrt", "mean", 0.5])
def test_channel_weights_give_the_layers_output(scale, batch):
    model = make("cgao", batch, scale=scale)
    for look, (_, layer, x) in zip(looks(model, batch), attention_inputs(model, batch), strict=True):
        weights = look.weights.reshape(2, 3, 3)
        values = layer.project(x)[1].numpy()
        output = [values[:7] @ weights[0].T, values[7:] @ weights[1].T]
        expected = layer(x, batch["edges"], batch["graph_ids"])
        np.testing.assert_allclose(np.concatenate(output), expected, atol=1e-5)


def test_gat_with_sparse_features(batch):
    model = models.GAT(3, units=4, heads=2)
    inputs = {"x": tf.sparse.from_dense(batch["x"]), "edges": batch["edges"]}
    model({"x": batch["x"], "edges": batch["edges"]})
    (hidden, _), ((_, layer, x), (_, _, h)) = looks(model, inputs), attention_inputs(model, inputs)
    values = tf.matmul(x, layer.kernel).numpy().reshape(-1, 2, 4)
    output = np.zeros_like(values)
    np.add.at(output, hidden.rows, hidden.weights[:, :, None] * values[hidden.columns])
    np.testing.assert_allclose(np.where(output > 0, output, np.expm1(output)).reshape(-1, 8), h, atol=1e-5)


def test_features_are_those_of_the_forward_pass_without_dropout(batch):
    ganet = make("hgao", batch, dropout=0.5, attention_dropout=0.5).ganet
    model = type("Model", (), {"ganet": ganet})()
    *_, (_, _, x) = attention_inputs(model, batch)
    last = ganet.out(ganet.gams[-1](x, batch["edges"]), batch["edges"])
    np.testing.assert_allclose(last, ganet(batch, training=False), atol=1e-5)


def test_measures_of_hgao_against_numpy(batch):
    model = make("hgao", batch)
    _, layer, x = next(attention_inputs(model, batch))
    x, p, keys = x.numpy(), layer.projection.numpy(), layer.key_kernel.numpy()
    y = np.abs(x @ p) / np.linalg.norm(p)
    gate = 1 / (1 + np.exp(-y))
    neighbors = np.eye(len(x), dtype=bool)
    neighbors[tuple(batch["edges"].numpy().T)] = True
    ratios, degree, chance = [], [], []
    for i, row in enumerate(neighbors):
        mine = np.flatnonzero(row)
        taken = mine[np.argsort(-y[mine], kind="stable")[:3]]
        e = np.exp(x[i] @ ((x * gate[:, None])[taken] @ keys).T)
        alpha = e / e.sum()
        if len(taken) > 1:
            ratios.append(-(alpha * np.log(alpha)).sum() / np.log(len(taken)))
        if len(mine) > 3:
            chance.append(3 / len(mine))
            sizes = neighbors.sum(axis=1)[mine]
            third = np.sort(sizes)[-3]
            share = np.where(sizes > third, 1, (sizes == third) * (3 - (sizes > third).sum()) / (sizes == third).sum())
            degree.append(share[np.isin(mine, taken)].sum() / 3)
    module = look_at(model, [batch])[0]
    assert module["entropy"]["mean"] == pytest.approx(np.mean(ratios), abs=1e-4)
    assert module["gate"]["mean"] == pytest.approx(gate.mean(), abs=1e-4)
    assert module["gate"]["p95"] == pytest.approx(np.percentile(gate, 95), abs=1e-4)
    assert module["active"] == pytest.approx(len(chance) / len(x), abs=1e-4) and len(chance) > 2
    assert module["choice"]["random"] == pytest.approx(np.mean(chance), abs=1e-4)
    assert module["choice"]["degree"] == pytest.approx(np.mean(degree), abs=1e-4)
    assert module["key_norm"] == pytest.approx(np.linalg.norm(keys), abs=1e-4)


def test_batches_are_put_together_before_the_mean(batch):
    model = make("hgao", batch)
    small = {"x": batch["x"][:7], "edges": batch["edges"][batch["edges"][:, 0] < 7]}
    small["graph_ids"] = batch["graph_ids"][:7]
    both = look_at(model, [batch, small])[0]["gate"]
    parts = [look_at(model, [part])[0]["gate"] for part in (batch, small)]
    assert both["nodes"] == 19
    assert both["mean"] == pytest.approx((12 * parts[0]["mean"] + 7 * parts[1]["mean"]) / 19, abs=1e-4)
