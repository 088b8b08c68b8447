"""PSCN: fields of a batch, zeros where there is no node, and the convolutions."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.models import PSCN
from tests.models.contract import CLASSES, FEATURES, ModelContract, as_dataset, graph_data, rings

WIDTH, SIZE = 6, 3


def with_fields(inputs):
    """Fields of the first nodes, each with those that follow, in rings of any size."""
    fields = []
    for graph in range(inputs["graph_ids"][-1] + 1):
        n = int(np.sum(inputs["graph_ids"] == graph))
        field = (np.arange(WIDTH)[:, None] + np.arange(SIZE)) % n
        fields.append(np.where(np.arange(WIDTH)[:, None] < n, field, -1).ravel())
    return {**inputs, "fields": np.array(fields, "int32")}


class TestPSCN(ModelContract):
    cls = PSCN
    arguments = {"width": WIDTH, "size": SIZE, "filters": (4, 3), "units": 6, "dropout": 0.1}  # noqa: RUF012

    def data(self, num_batches=3):
        batches = [tf.nest.map_structure(lambda t: t.numpy(), item) for item in graph_data(num_batches)]
        return as_dataset([(with_fields(inputs), y) for inputs, y in batches])

    def inputs(self, sizes=(4, 7, 2)):
        return with_fields(rings(list(sizes)))

    def built(self, **kwargs):
        model = self.make(**kwargs)
        model.build({"x": (None, FEATURES), "graph_ids": (None,), "fields": (None, WIDTH * SIZE)})
        return model

    def test_fit_evaluate_predict_with_two_traces(self):
        model = self.built()
        model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        assert np.isfinite(model.fit(self.data(), epochs=2, verbose=0).history["loss"]).all()
        expected = np.concatenate([model(inputs) for inputs, _ in self.data()])
        np.testing.assert_allclose(model.predict(self.data(), verbose=0), expected, rtol=1e-4, atol=1e-5)

    def test_a_missing_input(self):
        inputs = self.inputs()
        del inputs["fields"]
        with pytest.raises(ValueError, match="needs the input 'fields', but got only 'x'"):
            self.built()(inputs)

    def test_no_dict(self):
        with pytest.raises(TypeError, match="takes a dict with 'x', 'graph_ids', 'fields'"):
            self.built()(self.inputs()["x"])

    def test_edges_do_not_matter(self):
        model, inputs = self.built(), self.inputs()
        without = {key: value for key, value in inputs.items() if key != "edges"}
        np.testing.assert_array_equal(model(without), model(inputs))

    def test_fields_of_another_size(self):
        inputs = self.inputs()
        inputs["fields"] = inputs["fields"][:, :-1]
        with pytest.raises(ValueError, match=r"must have shape \[graphs, 18\], 6 fields of 3 nodes"):
            self.built()(inputs)

    def test_saved_and_served(self, tmp_path):
        model, inputs = self.built(), self.inputs()
        model.save(tmp_path / "model.keras")
        np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(inputs), model(inputs))
        model.export(tmp_path / "served", verbose=False)
        served = tf.saved_model.load(tmp_path / "served")
        outputs = served.serve({key: inputs[key] for key in model.required})
        np.testing.assert_allclose(outputs, model(inputs), rtol=1e-5, atol=1e-6)


def test_against_numpy():
    inputs = with_fields(rings([7, 2]))
    model = PSCN(CLASSES, width=WIDTH, size=SIZE, filters=(4, 3), units=5, dtype="float64")
    x = inputs["x"].astype("float64")
    outputs = model({**inputs, "x": x})
    first, b1, second, b2, dense, b3, last, b4 = (w.numpy() for w in model.trainable_weights)
    rows = []
    for nodes, fields in zip((x[:7], x[7:]), inputs["fields"].reshape(2, WIDTH, SIZE), strict=True):
        windows = [[nodes[i] if i >= 0 else np.zeros(FEATURES) for i in field] for field in fields]
        h = np.maximum([np.concatenate(window) @ first + b1 for window in windows], 0)
        h = np.maximum(sum(h[t] @ second[t] for t in range(WIDTH)) + b2, 0)  # as many as there are fields
        rows.append(np.maximum(h @ dense + b3, 0) @ last + b4)
    np.testing.assert_allclose(outputs, rows, rtol=1e-10)


def test_the_published_setting():
    model = PSCN(2, width=18)
    model.build({"x": (None, 7), "graph_ids": (None,), "fields": (None, 180)})
    assert [tuple(w.shape) for w in model.trainable_weights[::2]] == [(70, 16), (10, 16, 8), (72, 128), (128, 2)]
