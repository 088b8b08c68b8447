import os
from pathlib import Path
import numpy as np
from ganet_tf.data import generated, planetoid, tu
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.spelling import plain, nearest
from ganet_tf.errors import DatasetNotFoundError

NAMES = {"mutag": "MUTAG", "ptc": "PTC", "ptcmr": "PTC_MR", "proteins": "PROTEINS", "dd": "DD", "imdbm": "IMDB-M",
         "imdbmulti": "IMDB-M", "collab": "COLLAB", "cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed",
         "ba2motifs": "BA2Motifs", "karate": "Karate"}


class _Folds:
    def __init__(self, folder):
        self.folder = folder
    def available(self):
        return self.folder.is_dir()
    def indices(self, i, n):
        return tuple(np.loadtxt(self.folder / f"{p}_idx-{i}.txt", dtype=np.int64) for p in ("train", "test"))


def names():
    return sorted(set(NAMES.values()))


def load(name, data_dir=None, features="auto", **options):
    key = NAMES.get(plain(name))
    if key is None:
        raise DatasetNotFoundError(f"no data set {name!r}{nearest(name, names())}")
    if key == "BA2Motifs":
        return generated.ba2motifs(**options)
    if key == "Karate":
        return generated.karate(**options)
    folder = Path(data_dir or os.environ.get("GANET_DATA", "."))
    if key in ("Cora", "Citeseer", "Pubmed"):
        return planetoid.load(folder / "planetoid", key, **options)
    stem = "IMDB-MULTI" if key == "IMDB-M" else key
    store, classes = tu.load_zip(folder / f"{stem}.zip", key, features)
    return GraphDataset(store, key, class_labels=classes.tolist(), published_folds=_Folds(folder / "folds" / stem))
