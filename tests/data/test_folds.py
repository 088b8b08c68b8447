import dataclasses
import hashlib

import numpy as np
import pytest

from ganet_tf import data
from ganet_tf.data import folds as module
from ganet_tf.data import registry
from ganet_tf.data.folds import FILES, PublishedFolds, stratified_folds, stratified_split
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError

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


ENTRY = registry.find("MUTAG")


@pytest.fixture
def folds():
    """Ten folds of 40 graphs as file contents, and an entry that knows their digest."""
    order = np.random.default_rng(0).permutation(40)
    contents, digest = {}, hashlib.sha256()
    for name in FILES:
        index = int(name.split("-")[1].split(".")[0]) - 1
        test = order[4 * index : 4 * index + 4]
        part = test if name.startswith("test") else np.setdiff1d(order, test)
        contents[name] = "".join(f"{i}\n" for i in part).encode()
        digest.update(part.astype(np.int64))
    return contents, dataclasses.replace(ENTRY, folds=("MUTAG", digest.hexdigest()))


def write(folder, contents):
    folder.mkdir(parents=True)
    for name, text in contents.items():
        (folder / name).write_bytes(text)


def test_from_the_users_folder(folds, tmp_path):
    contents, entry = folds
    write(tmp_path / "folds" / "MUTAG", contents)
    published = PublishedFolds(entry, tmp_path)
    assert published.available()
    train, test = published.indices(3, 40)
    assert len(train) == 36 and len(test) == 4 and not set(train) & set(test)
    with pytest.raises(DataFormatError, match="more graphs than the data set has: 20"):
        published.indices(3, 20)


def test_other_numbers_are_an_error(folds, tmp_path):
    contents, entry = folds
    write(tmp_path / "folds" / "MUTAG", {**contents, FILES[0]: contents[FILES[0]] + b"7\n"})
    with pytest.raises(ChecksumError, match="not DGCNN's"):
        PublishedFolds(entry, tmp_path).available()


@pytest.mark.usefixtures("loopback")
def test_from_the_repository_then_from_the_cache(folds, server, monkeypatch, own_cache):
    contents, entry = folds
    monkeypatch.setattr(module, "DGCNN_HOST", server.url)
    for name, text in contents.items():
        server.put(f"MUTAG/10fold_idx/{name}", text)
    assert PublishedFolds(entry).available() and len(server.asked) == 20
    assert PublishedFolds(entry).available() and len(server.asked) == 20
    assert len(list((own_cache / "files" / "folds" / "MUTAG").iterdir())) == 20


@pytest.mark.usefixtures("loopback")
def test_half_of_them_are_none(folds, server, monkeypatch, own_cache, caplog):
    contents, entry = folds
    monkeypatch.setattr(module, "DGCNN_HOST", server.url)
    for name in FILES[:11]:
        server.put(f"MUTAG/10fold_idx/{name}", contents[name])
    published = PublishedFolds(entry)
    assert not published.available() and not published.available() and not PublishedFolds(entry).available()
    assert len(caplog.records) == 1 and "Taking stratified folds instead" in caplog.text
    assert not list((own_cache / "files" / "folds" / "MUTAG").iterdir())
    with pytest.raises(DatasetNotFoundError, match="answered 404"):
        published.indices(1, 40)


def test_data_sets_without_published_folds_are_silent(caplog):
    published = PublishedFolds(registry.find("PTC_MR"))
    assert not published.available() and not caplog.records
    with pytest.raises(DatasetNotFoundError, match="no published folds of PTC_MR"):
        published.indices(1, 344)


@pytest.mark.real_data
def test_auto_and_published_on_mutag(data_dir, tmp_path, caplog):
    ds = data.load("MUTAG", data_dir)
    train, test = ds.fold(1)
    assert (len(train), len(test), ds.fold_kind) == (170, 18, "published")
    assert np.bincount(test.y).tolist() == [7, 11]  # random, not stratified
    assert len(ds.fold(1, num_folds=5)[1]) == 38  # there are ten published folds, not five
    (tmp_path / "MUTAG.zip").write_bytes((data_dir / "MUTAG.zip").read_bytes())
    alone = data.load("MUTAG", tmp_path)
    assert alone.fold_kind == "stratified" and len(alone.fold(1)[1]) == 19
    assert "DGCNN's folds of MUTAG could not be found" in caplog.text
    with pytest.raises(DatasetNotFoundError):
        alone.fold(1, splits="published")
    with pytest.raises(DataFormatError, match="no published folds"):
        ds[:100].fold(1, splits="published")
