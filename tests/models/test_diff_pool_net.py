"""DiffPoolNet: its two losses, its readout, and that graphs do not see each other."""

import keras
import numpy as np

from ganet_tf.models import DiffPoolNet
from tests.models.contract import CLASSES, FEATURES, ModelContract, compiled, graph_data, rings

SMALL = {"clusters": 4, "units": (4, 5, 3), "head_units": 6}
BATCH = {"x": (None, FEATURES), "edges": (None, 2), "graph_ids": (None,)}


class TestDiffPoolNet(ModelContract):
    cls = DiffPoolNet
    arguments = {**SMALL, "batch_norm": False}  # noqa: RUF012


def trained(**kwargs):
    model = compiled(DiffPoolNet(CLASSES, **SMALL, **kwargs))
    model.fit(graph_data(3), epochs=2, verbose=0)
    return model


def test_logits_do_not_depend_on_the_rest_of_the_batch():
    model, inputs = trained(), rings([4, 6])
    together = model(inputs).numpy()
    first = {"x": inputs["x"][:4], "edges": inputs["edges"][:8], "graph_ids": inputs["graph_ids"][:4]}
    second = {"x": inputs["x"][4:], "edges": inputs["edges"][8:] - 4, "graph_ids": inputs["graph_ids"][4:] - 1}
    alone = np.concatenate([model(first), model(second)])
    np.testing.assert_allclose(alone, together, rtol=1e-5, atol=1e-6)


def test_both_losses_are_part_of_training_but_not_of_the_logits():
    model = compiled(DiffPoolNet(CLASSES, **SMALL, link_weight=1e3, entropy_weight=0.0))
    model.build(BATCH)
    batch = next(iter(graph_data(1)))
    logits = model(batch[0])
    (link,) = (float(loss) for loss in model.losses)
    assert link > 1
    expected = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(batch[1], logits) + link
    np.testing.assert_allclose(model.evaluate(graph_data(1), verbose=0, return_dict=True)["loss"], expected, rtol=1e-5)


def test_readout_is_the_maximum_of_nodes_and_of_clusters():
    model = DiffPoolNet(CLASSES, **SMALL, batch_norm=False)
    inputs = rings([5])
    outputs = model(inputs)
    z, h = model.embed(inputs["x"], inputs["edges"]), model.assign(inputs["x"], inputs["edges"])
    pooled, adjacency = model.pool(z, inputs["edges"], inputs["graph_ids"], assignment=h)
    clusters = model.pooled(pooled, adjacency).numpy()
    both = np.concatenate([z.numpy().max(axis=0), clusters[0].max(axis=0)])[None]
    np.testing.assert_allclose(outputs, model.out(model.hidden(both)), rtol=1e-5)
    assert [layer.units for layer in model.assign.convolutions] == [4, 5, 4]


def test_batch_norm_is_kept_in_the_file(tmp_path):
    model = trained()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(rings([4, 6])), model(rings([4, 6])))
