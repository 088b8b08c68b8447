"""The heterophilous graphs: their files, splits, and what is told of wrong ones."""

import numpy as np
import pytest

from ganet_tf import data
from ganet_tf.data.heterophilous import read_heterophilous
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError

# Platonov et al. (2023), Tables 2 and 3: nodes, edges, features, classes, and training nodes of the last split.
TABLE = {
    "chameleon": (890, 8854, 2325, 5, 426),
    "squirrel": (2223, 46998, 2089, 5, 1074),
    "actor": (7600, 26659, 932, 5, 3648),
    "minesweeper": (10000, 39402, 7, 2, 5000),
    "tolokers": (11758, 519000, 10, 2, 5879),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", TABLE)
def test_the_published_sizes(name, data_dir):
    ds = data.load(name, data_dir=data_dir)
    last = ds.published_split(10)
    found = (ds.num_nodes, len(ds.edges) // 2, ds.num_features, ds.num_classes, int(last.train_mask.sum()))
    assert found == TABLE[name] and ds.num_splits == 10
    np.testing.assert_array_equal(ds.train_mask, ds.published_split(1).train_mask)


def arrays(**changes):
    masks = np.array([[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]], [[0, 0, 1], [1, 0, 0]]], bool)
    own = {"node_features": np.eye(3, dtype=np.float32), "node_labels": np.array([0, 1, 1]), "edges": [[0, 1], [1, 2]]}
    own |= {f"{part}_masks": mask for part, mask in zip(("train", "val", "test"), masks, strict=True)}
    return {key: value for key, value in {**own, **changes}.items() if value is not None}


def read(folder, **changes):
    np.savez(folder / "mine.npz", **arrays(**changes))
    return read_heterophilous(folder, "mine.npz", "mine")


def test_edges_in_both_directions_and_splits(tmp_path):
    ds = read(tmp_path)
    assert sorted(ds.edges.tolist()) == [[0, 1], [1, 0], [1, 2], [2, 1]]
    splits = [[ds.published_split(n).nodes(part).tolist() for part in ("train", "val", "test")] for n in (1, 2)]
    assert splits == [[[0], [1], [2]], [[1], [2], [0]]]
    with pytest.raises(DataFormatError, match="mine has 2 published splits, numbered from 1, not 3"):
        ds.published_split(3)
    assert ds.random_split(seed=0).num_splits == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": None}, "mine.npz has no array 'edges'"),
        ({"edges": [[0, 1, 2]]}, "must be pairs"),
        ({"train_masks": np.ones((2, 3), bool)}, "node 1 is in two parts of the published split 1"),
        ({"train_masks": np.ones((1, 3), bool)}, r"three arrays of booleans \[S, 3\]"),
    ],
)
def test_wrong_files_are_named(tmp_path, changes, words):
    with pytest.raises(DataFormatError, match=words):
        read(tmp_path, **changes)


def test_another_file_is_refused_and_none_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("GANET_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DatasetNotFoundError, match=r"Put actor\.npz .from https://github.com/yandex-research"):
        data.load("actor", data_dir=tmp_path, download=False)
    np.savez(tmp_path / "actor.npz", **arrays())
    with pytest.raises(ChecksumError, match=r"actor\.npz is not the expected file"):
        data.load("actor", data_dir=tmp_path)
