"""From flags to a config, a data set and a folder's name."""

import hashlib
import re
from pathlib import Path

from experiments import config as schema
from experiments import config_loader, own_data
from experiments.command_line import overrides
from ganet_tf import data
from ganet_tf.errors import ConfigError, DatasetNotFoundError
from ganet_tf.spelling import plain

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
ALIASES = {"imdbmulti": "imdbm"}
DEFAULT_MODEL = "hganet"


def resolve(arguments):
    """The config that flags ask for.

    Args:
        arguments: from `cli.parse`.

    Returns:
        (config, base, stem): the config, the same without overrides, and the name the run's folder
        starts with.

    Raises:
        ConfigError: for contradictions between flags, file, data set and model.
    """
    tree, stem = _tree(arguments)
    _check_flags(arguments, tree)
    pairs = overrides(arguments)
    if arguments.runs is not None and tree.get("task") == "graph":
        raise ConfigError("--runs belongs to the node task; for another seed on graphs use --seed.")
    if arguments.protocol == "paper" and tree.get("task") == "node":
        raise ConfigError("The node task always chooses its epoch on the validation nodes: leave out --protocol.")
    source = arguments.config or stem
    base = config_loader.build(tree, source)
    return config_loader.build(config_loader.merge(tree, pairs), source), base, stem


def _tree(arguments):
    """(settings, stem) from --config, the shipped config or, for the user's own data, from the data."""
    if arguments.config:
        tree = config_loader.read(arguments.config)
        if arguments.dataset:
            tree["dataset"] = canonical(arguments.dataset)
        return tree, Path(arguments.config).stem
    dataset = arguments.dataset or "MUTAG"
    model = arguments.model or DEFAULT_MODEL
    _check_model(model, arguments.task)
    path = shipped(dataset, model)
    if path:
        return config_loader.read(path), path.stem
    return own_data.suggest(canonical(dataset), model, arguments), f"{_stem(dataset)}_{model}"


def shipped(dataset, model=None):
    """The shipped config of a data set and a model (or any model), or None."""
    if is_folder(dataset):
        return None
    found = sorted(CONFIGS.glob(f"{_stem(dataset)}_{model or '*'}.yaml"))
    return found[0] if found else None


def _check_model(model, task):
    models = {name for t in ([task] if task else schema.TASKS) for name in schema.MODELS[t]}
    if model not in models:
        where = f" of the {task} task" if task else ""
        hint = config_loader.nearest(model, sorted(models))
        raise ConfigError(f"There is no model {model!r}{where}{hint} There are {', '.join(sorted(models))}.")


def _check_flags(arguments, tree):
    """Refuses flags that contradict the settings they meet."""
    task, model = tree.get("task"), tree.get("model")
    name = model.get("name") if isinstance(model, dict) else model
    what = f"{arguments.config} is a config" if arguments.config else f"{tree.get('dataset')} is a data set"
    if arguments.task and task != arguments.task:
        raise ConfigError(f"{what} for the {task} task, not for --task {arguments.task}.")
    if arguments.model and name != arguments.model:
        raise ConfigError(f"{arguments.config} is a config for {name}, not for --model {arguments.model}.")


def is_folder(dataset):
    """Whether a data set is given by its folder."""
    return any(mark in dataset for mark in "/\\") or (Path(dataset).is_dir() and _known(dataset) is None)


def canonical(dataset):
    """A known data set's own spelling, or the text as it is."""
    return dataset if is_folder(dataset) else _known(dataset) or dataset


def _known(dataset):
    names = {plain(name): name for name in data.names()}
    key = plain(dataset)
    return names.get(ALIASES.get(key, key))


def _stem(dataset):
    if is_folder(dataset):
        return re.sub(r"[^a-z0-9]+", "-", Path(dataset).resolve().name.lower()).strip("-") or "data"
    return ALIASES.get(plain(dataset), plain(dataset))


def load_dataset(config, data_dir=None):
    """The data set of a config.

    Raises:
        ConfigError: when it belongs to the other task.
    """
    options = {}
    if config.task == "graph":
        options["features"] = config.features
    elif config.normalize_features and not is_folder(config.dataset):
        options["normalize_features"] = config.normalize_features
    if shipped(config.dataset) and _task_of(config.dataset) != config.task:
        raise ConfigError(f"{config.dataset} is not a data set for the {config.task} task.")
    dataset = data.load(config.dataset, data_dir=data_dir, **options)
    return own_data.check_task(dataset, config.task)


def _task_of(dataset):
    return config_loader.read(shipped(dataset)).get("task")


def demo_dataset(data_dir=None):
    """("MUTAG", None), or ("BA2Motifs", why MUTAG cannot be had)."""
    try:
        data.load("MUTAG", data_dir=data_dir)
    except (DatasetNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return "BA2Motifs", reason
    return "MUTAG", None


def folder_name(config, base, stem):
    """The default folder of a run: the config's name and what was changed in it, so that the same
    command finds the same folder again."""
    parts = [stem]
    for key, _, new in config_loader.differences(base, config, ignore=("runs", "dataset")):
        last = key.rpartition(".")[2]
        if key in ("protocol", "splits"):
            parts.append("" if new == "published" else str(new))
        elif new is True:
            parts.append(last)
        else:
            parts.append(f"{last}={new}")
    name = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", "_".join(filter(None, parts)))
    if len(name) > 100:
        name = f"{name[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return name
