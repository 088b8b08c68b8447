import numpy as np
import pytest

from ganet_tf.data.arrays import RawGraphs, offsets
from ganet_tf.data.features import Encoder, NodeFeatures, OneHot, normalized_degree
from ganet_tf.errors import DataFormatError

DEGREES = np.array([2, 2, 2, 1, 1, 0])
SIZES = np.array([3, 2, 1])
LABELS = np.array([[0], [2], [0], [1], [1], [2]], np.int32)
ATTRIBUTES = np.arange(12, dtype=np.float32).reshape(6, 2)
NONE = np.zeros((6, 0), np.int32)


def raw_graphs(labels=LABELS, attributes=ATTRIBUTES, degrees=DEGREES, values="CNO"):
    counts = np.array([len(values)] * labels.shape[1], np.int64)
    return RawGraphs(
        edges=np.zeros((0, 2), np.int32),
        degrees=degrees,
        node_offsets=offsets(SIZES),
        edge_offsets=np.zeros(4, np.int64),
        y=np.zeros(3, np.int32),
        class_labels=[0],
        node_labels=labels,
        node_label_counts=counts,
        node_label_values=list(values) * labels.shape[1],
        node_attributes=attributes,
    )


def build(kind, labels=LABELS, attributes=ATTRIBUTES, **options):
    raw = raw_graphs(labels, attributes)
    features = Encoder.fit(raw, kind, **options).apply(raw)
    assert features.width == Encoder.fit(raw, kind, **options).width
    return features.take(np.arange(6)), features.kind


def test_each_kind():
    np.testing.assert_array_equal(build("labels")[0], np.eye(3)[LABELS[:, 0]])
    np.testing.assert_array_equal(build("attributes")[0], ATTRIBUTES)
    np.testing.assert_array_equal(build("degree")[0], np.eye(3)[DEGREES])
    np.testing.assert_array_equal(build("constant")[0], np.ones((6, 1)))
    np.testing.assert_array_equal(build("normalized_degree")[0][:, 0], [1, 1, 1, 1, 1, 0])


def test_mixes_stand_side_by_side():
    x, kind = build("labels+degree+constant")
    np.testing.assert_array_equal(x, np.hstack([np.eye(3)[LABELS[:, 0]], np.eye(3)[DEGREES], np.ones((6, 1))]))
    assert kind == "labels+degree+constant" and x.dtype == np.float32


def test_auto_takes_labels_then_attributes_then_dgcnns_degree():
    assert build("auto")[1] == "labels"
    assert build("auto", labels=NONE)[1] == "attributes"
    assert build("auto", labels=NONE, attributes=NONE)[1] == "normalized_degree"


def test_two_columns_of_labels_are_two_blocks():
    x, _ = build("labels", labels=np.hstack([LABELS, LABELS[::-1]]))
    np.testing.assert_array_equal(x, np.hstack([np.eye(3)[LABELS[:, 0]], np.eye(3)[LABELS[::-1, 0]]]))


def test_degrees_above_the_cap_share_a_channel():
    x, _ = build("degree", max_degree=1)
    np.testing.assert_array_equal(x.argmax(axis=1), [1, 1, 1, 1, 1, 0])
    with pytest.raises(DataFormatError, match="max_degree"):
        build("degree", max_degree=0)


def test_wide_one_hot_without_an_identity_matrix():
    x = NodeFeatures([OneHot(np.array([0, 1999]), 2000)]).take(np.array([1, 0, 1]))
    assert x.shape == (3, 2000)
    np.testing.assert_array_equal(x.argmax(axis=1), [1999, 0, 1999])
    np.testing.assert_array_equal(x.sum(axis=1), 1)


def test_normalized_degree_of_single_nodes_is_zero():
    np.testing.assert_array_equal(normalized_degree(np.array([0]), np.array([1])), [[0]])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("label", "did you mean 'labels'"),
        ("labels+degre", "did you mean 'degree'"),
        ("", "there is no feature"),
    ],
)
def test_unknown_kind_names_the_nearest(kind, words):
    with pytest.raises(DataFormatError, match=words):
        build(kind)


def test_missing_labels_and_attributes():
    with pytest.raises(DataFormatError, match="no node labels"):
        build("labels", labels=NONE)
    with pytest.raises(DataFormatError, match="no node attributes"):
        build("attributes", attributes=NONE)


class TestOtherGraphs:
    """Features are fitted on one data set and applied to others."""

    def test_a_label_keeps_its_place(self):
        """Trained on C, N, O; new graphs have C, O only, or in another order."""
        encoder = Encoder.fit(raw_graphs(), "labels")
        x = encoder.apply(raw_graphs(LABELS % 2, values="CO")).take(np.arange(6))
        np.testing.assert_array_equal(x, np.eye(3)[[0, 0, 0, 2, 2, 0]])
        x = encoder.apply(raw_graphs(values="ONC")).take(np.arange(6))
        np.testing.assert_array_equal(x, np.eye(3)[2 - LABELS[:, 0]])

    def test_an_unknown_label_is_an_error_or_a_channel_of_its_own(self):
        new = raw_graphs(values="COS")
        with pytest.raises(DataFormatError, match=r"node label 'S' did not occur .*'C', 'N', 'O'.*unknown='other'"):
            Encoder.fit(raw_graphs(), "labels").apply(new)
        encoder = Encoder.fit(raw_graphs(), "labels", unknown="other")
        assert encoder.width == 4
        np.testing.assert_array_equal(encoder.apply(raw_graphs()).take(np.arange(6))[:, 3], 0)
        x = encoder.apply(new).take(np.arange(6))
        np.testing.assert_array_equal(x, np.eye(4)[[0, 3, 0, 2, 2, 3]])

    def test_degrees(self):
        encoder, more = Encoder.fit(raw_graphs(), "degree"), raw_graphs(degrees=DEGREES + 2)
        np.testing.assert_array_equal(
            encoder.apply(raw_graphs(degrees=DEGREES // 2)).take(np.arange(2)), np.eye(3)[[1, 1]]
        )
        with pytest.raises(DataFormatError, match=r"a node has 4 neighbours, but .* at most 2"):
            encoder.apply(more)
        other = Encoder.fit(raw_graphs(), "degree", unknown="other")
        np.testing.assert_array_equal(other.apply(more).take(np.arange(6)), np.eye(4)[[3, 3, 3, 3, 3, 2]])
        capped = Encoder.fit(raw_graphs(), "degree", max_degree=2, unknown="other")
        np.testing.assert_array_equal(capped.apply(more).take(np.arange(6)), np.eye(3)[[2, 2, 2, 2, 2, 2]])
        assert (encoder.width, other.width, capped.width) == (3, 4, 3)

    def test_other_kinds_and_widths_are_refused(self):
        with pytest.raises(DataFormatError, match="2 attributes of each node, but these nodes have 1"):
            Encoder.fit(raw_graphs(), "attributes").apply(raw_graphs(attributes=ATTRIBUTES[:, :1]))
        with pytest.raises(DataFormatError, match="one-hot labels of 1 kinds, but the nodes have 0"):
            Encoder.fit(raw_graphs(), "labels").apply(raw_graphs(labels=NONE))
        with pytest.raises(DataFormatError, match="unknown must be"):
            Encoder.fit(raw_graphs(), "labels", unknown="ignore")

    @pytest.mark.parametrize("kind", ["labels", "labels+degree", "attributes", "normalized_degree+constant"])
    @pytest.mark.parametrize("unknown", ["error", "other"])
    def test_json(self, kind, unknown):
        encoder = Encoder.fit(raw_graphs(), kind, max_degree=7, unknown=unknown)
        again = Encoder.from_json(encoder.to_json())
        assert again == encoder and again.width == encoder.width
        np.testing.assert_array_equal(
            again.apply(raw_graphs()).take(np.arange(6)), encoder.apply(raw_graphs()).take(np.arange(6))
        )

    def test_labels_of_many_types_in_json(self):
        labels = ((1, "1", True, 2.5, ("C", 1), None),)
        again = Encoder.from_json(Encoder("labels", labels).to_json())
        assert again.labels == labels and [type(a) for a in again.labels[0]] == [type(a) for a in labels[0]]
        with pytest.raises(DataFormatError, match="cannot be saved"):
            Encoder("labels", ((frozenset("a"),),)).to_json()

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"kind": "colour", "labels": []}', '{"kind": 3, "labels": []}', '{"labels": 3}']
    )
    def test_other_json_is_refused(self, text):
        with pytest.raises(DataFormatError, match="not the JSON of an Encoder"):
            Encoder.from_json(text)
