"""Predictions for new data with the models of a run: what predict.py does.

New data are encoded by the run's `encoder.json`, every finished fold's model answers, and the answers are averaged:
probabilities, or values.
"""

import csv
import dataclasses
import io
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from experiments import config as settings
from experiments.answers import write_answers
from experiments.command_line import Parser, parse_numbers
from experiments.objective import OBJECTIVES
from experiments.run_folder import RunFolder, read_encoder
from ganet_tf import data
from ganet_tf.data.converters import node_keys, read_csv
from ganet_tf.data.loading import holds_graphs
from ganet_tf.errors import ConfigError, DataFormatError, RunError
from ganet_tf.files import write_whole
from ganet_tf.layers import HGAO
from ganet_tf.models.base import GraphModel
from ganet_tf.spelling import closest

BATCH = 200  # graphs at once


def parse(argv):
    """The parsed flags.

    Raises:
        ConfigError: for a flag that is not known, or missing.
    """
    parser = Parser("predict.py", "Predicts for new graphs or nodes with the models of a finished run.")
    add = parser.add_argument
    add("run", metavar="RUN_FOLDER", help="the folder that train.py wrote")
    add("data", metavar="NEW_DATA", help="a folder (TU layout or CSV files) or an .npz file; targets are not needed")
    add("--csv", metavar="FILE", required=True, help="where to write the answers, a line for each graph or node")
    unknown = "node labels that the run did not know: refuse them, or give them its channel for others; as trained"
    add("--unknown", choices=("error", "other"), help=unknown)
    add("--attention", action="store_true", help="also write whom each node attended to, beside FILE")
    add("--folds", metavar="LIST", help="which folds (or runs) answer, e.g. 1,4-6; default: all that are finished")
    return parser.parse_args(list(argv))


class Run(NamedTuple):
    """What a finished run is made of.

    Attributes:
        config, folder: of the run.
        encoder, target: how features were made, and what was learned.
        weighted: whether its edges had weights, None where that is not known.
        results: {number: result.json} of its finished folds.
    """

    config: Any
    folder: RunFolder
    encoder: data.Encoder
    target: data.Target
    weighted: bool | None
    results: dict


def run(arguments):
    """One prediction, from the run's folder to the table; returns the exit code."""
    found = open_run(arguments.run, arguments.folds)
    dataset = encode(found, arguments.data, arguments.unknown)
    models = {number: load_model(found, number) for number in found.results}
    first = next(iter(models.values()))
    check_inductive(found, first)
    dataset = found.config.model.prepare(dataset, first.get_config())
    batches = [inputs for inputs, *_ in batches_of(dataset)]

    objectives = {number: objective_of_fold(found, number) for number in models}
    answers = [objectives[n].answers(outputs(model, batches)) for n, model in models.items()]
    names = names_of(arguments.data, found.config.task, len(dataset))
    looks = None
    if arguments.attention:
        inside = node_names(arguments.data) if found.config.task == "graph" else names
        looks = attention_rows(found, models, batches, names, inside, dataset)

    write_answers(arguments.csv, found.config.task, names, next(iter(objectives.values())), np.mean(answers, axis=0))
    whose = f"{len(models)} models of {found.folder.path} averaged" if len(models) > 1 else f"by {found.folder.path}"
    print(f"{arguments.csv}: {len(dataset)} {found.config.task}{'s' * (len(dataset) > 1)}, {whose}.")
    if looks is not None:
        write_whole(attention_path(arguments.csv), looks)
        print(f"{attention_path(arguments.csv)}: whom each node attended to.")
    return 0


def open_run(path, folds=None):
    """The finished folds of a run.

    Raises:
        RunError: when the folder is no run's, nothing in it is finished, or its encoder is of another data set.
    """
    path = Path(path)
    if not (path / "config.yaml").is_file():
        runs = {found.parent.name: found.parent for found in path.parent.glob("*/config.yaml")}
        meant = closest(path.name, runs)
        raise RunError(
            f"{path} is not the folder of a run: it has no config.yaml; give the folder that train.py wrote"
            f"{'' if meant is None else f' (did you mean {runs[meant]}?)'}."
        )
    config = settings.load(path / "config.yaml")
    folder = RunFolder(path, config.task)
    dataset, encoder, target, weighted = read_encoder(folder)
    if dataset != config.dataset:
        raise RunError(
            f"{folder.encoder} is of another data set ({dataset}) than the run ({config.dataset}); put the run's own "
            "back, or give train.py the run's command again without it."
        )
    numbers = parse_numbers(folds, settings.fold_numbers(config), folder.word)
    results = {n: result for n, result in folder.results(numbers).items() if "failed" not in result}
    missing = [number for number in numbers if number not in results]
    if not results or (folds and missing):
        what = f"{folder.word} {missing[0]}" if folds else f"no {folder.word}"
        raise RunError(f"{path}: {what} is {'not ' if folds else ''}finished; train it first with train.py.")
    return Run(config, folder, encoder, target, weighted, results)


def encode(run, path, unknown=None):
    """The new data with the features of the run; says what the run did not know.

    Raises:
        ConfigError, DataFormatError: for data of another task, with other features, or with unknown labels.
    """
    if not settings.is_folder(str(path)) and not Path(path).exists():
        raise ConfigError(f"There is no folder or file {path}; NEW_DATA is the path of your own data.")
    encoder = run.encoder
    if unknown == "other" and encoder.unknown != "other":
        raise ConfigError(
            f"The models of {run.folder.path} have no channel for labels that they did not know; train with "
            "--set unknown=other to give them one."
        )
    dataset = as_run(path, dataclasses.replace(encoder, unknown=unknown or encoder.unknown), run)
    if unknown == "error":
        dataset = as_run(path, encoder, run)  # all is known: now as wide as the models are
    strangers = count_unknown(encoder, dataset)
    if strangers.any():
        count = f"{int(strangers.sum())} nodes got the channel for others"
        print(f"{first_unknown(path, run)}: {count}.")
    if run.weighted is not None and run.weighted != dataset.weighted:
        here, there = ("have no weights", "had some") if run.weighted else ("have weights", "had none")
        print(f"{path}: its edges {here}, but those that {run.folder.path} was trained on {there}.")
    return dataset


def as_run(path, encoder, run):
    """New data by an encoder, and of the run's task."""
    task = "graph" if holds_graphs(path) else "node"
    if task != run.config.task:
        raise ConfigError(
            f"{path} is data for the {task} task, but {run.folder.path} was trained on the {run.config.task} task."
        )
    try:
        dataset = data.load(Path(path), like=encoder, labelled=False)
    except DataFormatError as error:
        text = str(error).replace("fit with unknown='other'", "train with --set unknown=other")
        raise DataFormatError(f"{path} cannot be read as the run {run.folder.path} read its data: {text}.") from error
    if dataset.num_features != run.encoder.width and encoder == run.encoder:
        raise ConfigError(
            f"{path} has {dataset.num_features} features for each node, but {run.folder.path} was trained on "
            f"{run.encoder.width}."
        )
    return dataset


def count_unknown(encoder, dataset):
    """[nodes] How many of each node's labels and degrees have the channel for others."""
    x = dataset.x if isinstance(dataset, data.NodeDataset) else dataset.arrays()["x"]
    count = np.zeros(x.shape[0])
    if encoder.unknown != "other":
        return count
    last = -1
    for part in encoder.kind.split("+"):
        if part == "labels":
            for column in encoder.labels:
                last += len(column) + 1
                count += x[:, last]
        elif part == "degree":
            last += dataclasses.replace(encoder, kind="degree").width
            count += x[:, last] if encoder.num_degrees <= encoder.max_degree else 0
        else:
            last += dataclasses.replace(encoder, kind=part).width
    return count


def first_unknown(path, run):
    """Why the data are not all known, in the words of an encoder that knows no others."""
    try:
        data.load(Path(path), like=dataclasses.replace(run.encoder, unknown="error"), labelled=False)
    except DataFormatError as error:
        return str(error).split("; fit with")[0]
    return "some labels are unknown"


def read_model(path):
    """A model out of a file that may be a stranger's: in Keras' safe mode, which refuses code.

    Raises:
        RunError: when it cannot be read, or is not one of `ganet_tf.models`.
    """
    try:
        model = keras.models.load_model(path, compile=False, safe_mode=True)
    except Exception as error:  # Keras fails in many ways on a file that is not its own
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RunError(f"{path} cannot be read ({why[:200]}).") from error
    if not isinstance(model, GraphModel):
        raise RunError(f"{path} is a {type(model).__name__}, and not a model that train.py writes.")
    return model


def load_model(run, number):
    """A fold's model, checked against the run's encoder.

    Raises:
        RunError: when it cannot be read, or takes other features than the encoder makes.
    """
    path = run.folder.fold(number) / "model.keras"
    model = read_model(path)
    width = (model.get_build_config() or {}).get("input_shape", {}).get("x", [None])[-1]
    if width != run.encoder.width or model.num_classes != run.target.width:
        raise RunError(
            f"{run.folder.encoder} is not of this run: it makes {run.encoder.width} features and {run.target.width} "
            f"outputs, but {path} has {width} and {model.num_classes}."
        )
    return model


def check_inductive(run, model):
    """Raises ConfigError for a model that learned a vector for each node of one graph, and knows no other nodes."""
    if model.transductive:
        raise ConfigError(
            f"{run.config.model.name} has learned a vector for each node of {run.config.dataset} and knows no other "
            f"nodes; its answers for the test nodes are in test.csv in each folder of {run.folder.path}."
        )


def objective_of_fold(run, number):
    """What a fold learned, with what its targets were standardized by."""
    scaling = run.results[number].get("standardized_by", {})
    return OBJECTIVES[run.target.kind](run.target, **{name: tuple(values) for name, values in scaling.items()})


def batches_of(dataset):
    """Batches of all graphs, or one of all nodes."""
    return dataset.batches("all") if isinstance(dataset, data.NodeDataset) else dataset.batches(BATCH)


def taken(model, inputs):
    """Those inputs that the model takes: not every one knows edge weights."""
    return {name: part for name, part in inputs.items() if name in (*model.required, *model.optional)}


def outputs(model, batches):
    """The model's outputs for all samples."""
    return np.concatenate([np.asarray(model(taken(model, inputs), training=False)) for inputs in batches])


def names_of(path, task, count):
    """How the samples are called: as in the CSV files, else numbers from 0."""
    folder = Path(path)
    if not (folder / "edges.csv").is_file():
        return range(count)
    table = read_csv(folder / "nodes.csv" if (folder / "nodes.csv").is_file() else folder / "edges.csv")
    return list(dict.fromkeys(table["graph" if task == "graph" else "node"]))


def node_names(path):
    """How the nodes of graphs are called, graph after graph: as in the CSV files, else None, for numbers from 0."""
    folder = Path(path)
    if not (folder / "edges.csv").is_file():
        return None
    edges = read_csv(folder / "edges.csv")
    nodes = read_csv(folder / "nodes.csv") if (folder / "nodes.csv").is_file() else None
    keys, _ = node_keys(nodes, "graph", "node", edges["graph"], (edges["source"], edges["target"]))
    return [name for _, name in keys]


def attention_path(path):
    """out.csv -> out.attention.csv."""
    return Path(path).with_suffix(".attention.csv")


def attention_rows(run, models, batches, names, inside, dataset):
    """CSV text of whom each node attended to: its choices in every module of every model.

    `names` are those of the samples, `inside` those of all nodes; None numbers them within each graph.

    Raises:
        ConfigError: when the models have no hard attention.
    """
    gams = [gam for model in models.values() for gam in getattr(getattr(model, "ganet", None), "gams", [])]
    if not gams or not all(isinstance(gam.attention, HGAO) for gam in gams):
        raise ConfigError(
            f"--attention shows the choices of hGAO, but {run.folder.path} was trained with "
            f"{settings.label(run.config)}; leave it out."
        )
    graph = run.config.task == "graph"
    of_node = np.repeat(np.arange(len(dataset)), dataset.sizes) if graph else None
    inside = np.concatenate([np.arange(size) for size in dataset.sizes]) if inside is None else inside
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([run.folder.word, "module", *(["graph"] if graph else []), "node", "attends to", "weight", "gate"])
    for number, model in models.items():
        before = 0
        for inputs in batches:
            for module, node, other, weight, gate in choices(model, taken(model, inputs)):
                owner = [names[of_node[before + node]]] if graph else []
                ends = (inside[before + end] for end in (node, other))
                writer.writerow([number, module, *owner, *ends, weight, gate])
            before += inputs["x"].shape[0]
    return buffer.getvalue()


def choices(model, inputs):
    """(module, node, neighbour, weight, gate) of every choice in a batch; nodes are numbered within it."""
    edges, graph_ids = inputs["edges"], inputs.get("graph_ids")
    options = {name: inputs[name] for name in ("edge_weights",) if name in inputs}
    x = model.ganet.embedding(inputs["x"], edges, graph_ids, training=False, **options)
    for module, gam in enumerate(model.ganet.gams, 1):
        chosen = gam.attention.selected(x, edges, **options)
        indices, gate, weights = (part.numpy() for part in chosen)
        for node, rank in np.argwhere(indices >= 0).tolist():
            values = float(weights[node, rank].mean()), float(gate[node, rank].mean())
            yield module, node, int(indices[node, rank]), *values
        x = gam(x, edges, graph_ids, training=False, **options)
