import numpy as np
import pytest

from ganet_tf.data.folds import stratified_folds, stratified_split
from ganet_tf.errors import DataFormatError

Y = np.repeat([0, 1, 2], [50, 30, 20])


def test_folds_have_the_shares_of_the_whole():
    for train, test in stratified_folds(Y, 10, seed=5):
        assert np.bincount(Y[test]).tolist() == [5, 3, 2]
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(100))


def test_small_classes_are_no_error():
    assert len(stratified_folds(np.repeat([0, 1], [20, 3]), 10)) == 10


@pytest.mark.parametrize("count", [1, 101])
def test_number_of_folds(count):
    with pytest.raises(DataFormatError, match="num_folds"):
        stratified_folds(Y, count)
    with pytest.raises(DataFormatError, match="ask for fewer"):
        stratified_folds(np.arange(12), 10)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
def test_split_has_the_shares_of_the_whole(fraction):
    rest, part = stratified_split(Y, fraction, seed=1)
    assert len(part) == round(100 * fraction)
    np.testing.assert_array_equal(np.sort(np.concatenate([rest, part])), np.arange(100))
    np.testing.assert_allclose(np.bincount(Y[part]), np.array([50, 30, 20]) * fraction, atol=1.01)


def test_split_leaves_something_on_both_sides():
    assert [len(part) for part in stratified_split([0, 1], 0.01)] == [1, 1]
    assert [len(part) for part in stratified_split([0, 1], 0.99)] == [1, 1]


def test_split_depends_on_the_seed_alone():
    np.testing.assert_array_equal(stratified_split(Y, 0.3, 7)[1], stratified_split(Y, 0.3, 7)[1])
    assert not np.array_equal(stratified_split(Y, 0.3, 7)[1], stratified_split(Y, 0.3, 8)[1])


def test_bad_splits():
    for fraction in (0, 1, -0.5):
        with pytest.raises(DataFormatError, match="between 0 and 1"):
            stratified_split(Y, fraction)
    with pytest.raises(DataFormatError, match="cannot be split"):
        stratified_split([0], 0.5)
