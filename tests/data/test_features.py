import numpy as np
import pytest

from ganet_tf.data.features import NodeFeatures, OneHot, build_features, normalized_degree
from ganet_tf.errors import DataFormatError

DEGREES = np.array([2, 2, 2, 1, 1, 0])
SIZES = np.array([3, 2, 1])
LABELS = np.array([[0], [2], [0], [1], [1], [2]], np.int32)
ATTRIBUTES = np.arange(12, dtype=np.float32).reshape(6, 2)
NONE = np.zeros((6, 0), np.int32)


def build(kind, labels=LABELS, attributes=ATTRIBUTES, **options):
    counts = [3] * labels.shape[1]
    features = build_features(kind, DEGREES, SIZES, labels, counts, attributes, **options)
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
