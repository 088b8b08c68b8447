"""The settings of a run: what there is to set, how YAML and flags set it, and the configs that are shipped.

Four parts, from the inside out: the dataclasses, one field for every key that a YAML file may have (the models' own are
in model_configs.py); YAML and `--set key=value` into them, strictly typed, and back; the shipped configs; and
`resolve`, from flags to a config. Nothing else makes a config.
"""

import dataclasses
import math
import re
import reprlib
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import keras
import yaml

from experiments.model_configs import KIPF, MODELS, NAMED_OPERATORS, ModelConfig, value
from experiments.objective import OBJECTIVES, as_kind
from ganet_tf import data
from ganet_tf.errors import ConfigError
from ganet_tf.files import write_whole
from ganet_tf.memory import available_memory
from ganet_tf.spelling import closest, plain

# 1. What there is to set

TASKS = ("graph", "node")

TargetKind = Literal["auto", "classes", "regression", "multilabel"]


@dataclass(frozen=True)
class OptimizerConfig:
    """How weights are updated.

    `weight_decay` is by default the L2 term of PyTorch's Adam, which the paper's authors used in
    their other code: weight_decay * w is added to the gradient before Adam's moments, for every
    trainable weight. `weight_decay_kind: decoupled` is AdamW's (and Keras') instead: the weight is
    shrunk beside the update. `no_decay` lists parts of variable paths that stay out of both.
    """

    name: Literal["adam", "nadam", "sgd", "rmsprop"] = "adam"
    learning_rate: float = value(1e-3, above=0, help="step size at the start")
    schedule: Literal["constant", "cosine"] = "constant"
    amsgrad: bool = False
    weight_decay: float = value(0.0, low=0, help="strength of the decay")
    weight_decay_kind: Literal["l2", "decoupled"] = "l2"
    no_decay: tuple[str, ...] = ()
    clipnorm: float | None = value(None, above=0, help="largest norm of one weight's gradient")
    global_clipnorm: float | None = value(None, above=0, help="largest norm of all gradients together")

    # Settings that few need: a config that leaves them alone does not list them. The same below.
    unlisted: ClassVar[tuple] = ("global_clipnorm",)


@dataclass(frozen=True)
class TeacherConfig:
    """The mean teacher of node training: see `models.MeanTeacher`. A weight of 0 is none."""

    weight: float = value(0.0, low=0, help="of the teacher's term in the loss; 0: no teacher")
    decay: float = value(0.98, low=0, below=1, help="of the moving average that the teacher's weights are")
    temperature: float = value(0.5, above=0, high=1, help="below 1 the teacher's answers are sharpened")
    ramp: int = value(100, low=0, help="updates over which the weight grows from 0")
    confidence: float = value(0.0, low=0, below=1, help="nodes of which the teacher is less sure are left out")


@dataclass(frozen=True)
class GeneratedConfig:
    """How large a generated data set is; null is its own default."""

    degree: int | None = value(None, low=1, help="Experts: ordinary neighbours of an ordinary node")
    size: int | None = value(None, low=1, help="Dictionary: keys of a graph; PATTERN, CLUSTER: graphs")


@dataclass(frozen=True)
class SampledConfig:
    """Steps on some nodes and a sample of what is around them; see docs/large-graphs.md."""

    batch_size: int = value(0, low=0, help="nodes to be predicted in a step; 0: all of them, and the whole graph")
    fanout: tuple[int, ...] = value((10, 5), low=-1, help="neighbours that are drawn, hop by hop; -1: all of them")


@dataclass(frozen=True)
class GraphConfig:
    """Graph classification over folds."""

    dataset: str
    model: ModelConfig
    optimizer: OptimizerConfig
    task: Literal["graph"] = "graph"
    features: str = "auto"
    target: TargetKind = "auto"
    unknown: Literal["error", "other"] = "error"
    protocol: Literal["paper", "validation"] = "paper"
    splits: Literal["auto", "published", "stratified"] = "auto"
    folds: int = value(10, low=2, help="number of folds the data are cut into")
    epochs: int = value(100, low=1, help="passes over the training graphs")
    batch_size: int = value(20, low=1, help="graphs in a training batch")
    eval_batch_size: int = value(200, low=1, help="graphs in an evaluation batch")
    patience: int | None = value(None, low=1, help="epochs without a better validation value; null: no stop")
    select: Literal["val_loss", "val_accuracy", "val_metric"] = "val_loss"
    seed: int = value(0, low=0, high=2**31 - 1000, help="fold n uses seed + n")
    deterministic: bool = False

    unlisted: ClassVar[tuple] = ("target", "unknown")


@dataclass(frozen=True)
class NodeConfig:
    """Node classification over repeated runs on one split."""

    dataset: str
    model: ModelConfig
    optimizer: OptimizerConfig
    task: Literal["node"] = "node"
    normalize_features: Literal["row"] | None = "row"
    target: TargetKind = "auto"
    unknown: Literal["error", "other"] = "error"
    splits: Literal["auto", "own", "random", "stratified"] = "auto"
    train_share: float = value(0.6, above=0, below=1, help="training nodes, where splits are made")
    val_share: float = value(0.2, above=0, below=1, help="validation nodes, where splits are made; test has the rest")
    protocol: Literal["validation"] = "validation"
    runs: int = value(10, low=1, help="repetitions with other seeds")
    epochs: int = value(1000, low=1, help="most passes")
    patience: int | None = value(150, low=1, help="epochs without a better validation value; null: no stop")
    select: Literal["val_loss", "val_accuracy", "val_metric"] = "val_loss"
    teacher: TeacherConfig = TeacherConfig()
    generated: GeneratedConfig = GeneratedConfig()
    sampled: SampledConfig = SampledConfig()
    seed: int = value(0, low=0, high=2**31 - 1000, help="run n uses seed + n")
    deterministic: bool = False

    unlisted: ClassVar[tuple] = (
        *("target", "unknown", "splits", "train_share", "val_share", "generated", "sampled", "teacher"),
    )


CONFIGS = {"graph": GraphConfig, "node": NodeConfig}


def fold_numbers(config):
    """Numbers of the folds (graph) or of the repetitions (node) that a complete run has: 1..n."""
    return range(1, (config.folds if config.task == "graph" else config.runs) + 1)


def label(config):
    """How a table calls the model: `hganet`, or `hganet, operator=linear` off its own operator; `planetoid I`."""
    if getattr(config.model, "variant", "T") != "T":
        return f"{config.model.name} {config.model.variant}"
    operator = getattr(config.model, "operator", None)
    own = NAMED_OPERATORS.get(config.model.name)
    return config.model.name if operator == own else f"{config.model.name}, operator={operator}"


# 2. YAML into the dataclasses, and back

# Models that train.py had before there was a choice of implementation.
BEFORE_NATIVE = ("dgcnn", "gcn")
MOST_BYTES = 100_000  # of a YAML file; ours have 2,000
MOST = 2**31 - 1  # of any whole number
KERAS_NAMES = {"activation": keras.activations.get, "kernel_initializer": keras.initializers.get}


def load(path, overrides=()):
    """Reads a YAML file and applies overrides.

    Args:
        path: the file.
        overrides: strings `key=value` (dotted keys), applied in order.

    Returns:
        A `GraphConfig` or a `NodeConfig`.

    Raises:
        ConfigError: for a missing or unreadable file, an unknown key, a wrong type or value.
    """
    return build(merge(read(path), overrides), source=str(path))


def load_run(path):
    """The config of a run's folder."""
    return build_run(read(path), source=str(path))


def build_run(tree, source="config"):
    """The config of a run's settings, all of which are listed: a model without `implementation` is from before there
    was a choice."""
    model = tree.get("model")
    if isinstance(model, dict) and model.get("name") in BEFORE_NATIVE:
        tree = {**tree, "model": {"implementation": "sparse", **model}}
    return build(tree, source)


def read(path):
    """The plain dictionary in a YAML file."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content[:MOST_BYTES].decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config {path} cannot be read: {getattr(error, 'strerror', error)}.") from error
    if len(content) > MOST_BYTES:
        raise ConfigError(f"The config {path} has more than {MOST_BYTES} bytes: that is no config.")
    try:
        tree = _parse(text)
    except ConfigError as error:
        raise ConfigError(f"The config {path} is not valid YAML: {error}.") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"The config {path} must be a mapping of keys to values, not {_kind(tree)}.")
    return tree


class _Loader(yaml.SafeLoader):
    """YAML without aliases: no config needs them, and with them a few lines can stand for terabytes."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            problem = "configs have no aliases: write the value out"
            raise yaml.composer.ComposerError(None, None, problem, self.peek_event().start_mark)
        return super().compose_node(parent, index)


def _parse(text):
    """What a YAML text says.

    Raises:
        ConfigError: with what is wrong with it, without a full stop.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ConfigError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ConfigError("it is nested too deeply") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        # PyYAML lets through what Python says to dates such as 2020-13-45 and tags such as !!int abc.
        raise ConfigError(f"a value in it cannot be understood ({error})") from error


def merge(tree, overrides):
    """A copy of the dictionary with every `key=value` put in its place."""
    tree = {key: dict(entry) if isinstance(entry, dict) else entry for key, entry in tree.items()}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set needs key=value, for example optimizer.learning_rate=0.001, not {override!r}.")
        *sections, last = key.strip().split(".")
        place = tree
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise ConfigError(f"--set {key}: {section} is a value, not a section.")
        try:
            place[last] = _parse(text)
        except ConfigError as error:
            raise ConfigError(f"--set {key}: {_show(text)} is not a YAML value.") from error
    return tree


def build(tree, source="config"):
    """The dictionary as a checked `GraphConfig` or `NodeConfig`."""
    task = tree.get("task")
    if task not in TASKS:
        raise ConfigError(f"{source}: task must be graph or node, got {_show(task)}.")
    tree = dict(tree)
    tree["model"] = _build_model(task, tree.get("model"), source)
    config = _build(CONFIGS[task], tree, "", source)
    if task == "graph" and config.protocol == "paper" and config.patience is not None:
        raise ConfigError(
            f"{source}: patience needs a validation set, which protocol paper has not; "
            "set patience to null or protocol to validation."
        )
    if config.optimizer.clipnorm is not None and config.optimizer.global_clipnorm is not None:
        raise ConfigError(f"{source}: set optimizer.clipnorm or optimizer.global_clipnorm, not both.")
    if task == "node" and config.teacher.weight and not config.model.by_epochs:
        raise ConfigError(f"{source}: {config.model.name} cannot have a teacher: epochs are not all of its training.")
    if task == "node" and config.sampled.batch_size and (config.teacher.weight or not config.model.by_epochs):
        what = "a teacher" if config.teacher.weight else config.model.name
        raise ConfigError(f"{source}: {what} needs the whole graph in every step: set sampled.batch_size to 0.")
    if task == "node" and 0 in config.sampled.fanout:
        raise ConfigError(f"{source}: sampled.fanout must be numbers from 1, or -1 for all neighbours, got 0.")
    if task == "node" and config.train_share + config.val_share >= 1:
        raise ConfigError(
            f"{source}: train_share {config.train_share:g} and val_share {config.val_share:g} leave no test nodes."
        )
    _check_dataset(config.dataset, source)
    return config


def _check_dataset(dataset, source):
    """Refuses what is neither a name nor data: a device such as /dev/zero has no end."""
    path = Path(dataset)
    strange = not dataset.strip() or not dataset.isprintable()
    if strange or (path.exists() and not path.is_dir() and not path.is_file()):
        raise ConfigError(f"{source}: dataset must be a name, a folder or a file, got {_show(dataset)}.")


def _build_model(task, tree, source):
    """The model section: its `name` decides which other keys there are."""
    tree = {"name": tree} if isinstance(tree, str) else tree
    if not isinstance(tree, dict) or "name" not in tree:
        raise ConfigError(f"{source}: model needs a section with a name, got {_show(tree)}.")
    models = MODELS[task]
    if not isinstance(tree["name"], str) or tree["name"] not in models:
        raise ConfigError(
            f"{source}: model.name {_show(tree['name'])} is not a model of the {task} task"
            f"{_nearest(tree['name'], models)}; there are {', '.join(models)}."
        )
    own = NAMED_OPERATORS.get(tree["name"])
    model = _build(models[tree["name"]], {"operator": own, **tree} if own else tree, "model.", source)
    for key, get in KERAS_NAMES.items():
        try:
            get(getattr(model, key, None))
        except (ValueError, TypeError) as error:
            given = _show(getattr(model, key))
            raise ConfigError(f"{source}: model.{key} must be the name of a Keras {key}, got {given}.") from error
    return model


def _build(cls, tree, prefix, source):
    """One dataclass from one dictionary."""
    if not isinstance(tree, dict):
        raise ConfigError(f"{source}: {prefix.rstrip('.')} must be a section with keys, got {_show(tree)}.")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key in tree:
        if key not in fields:
            raise ConfigError(f"{source}: there is no key {prefix}{_name(key)}{_nearest(key, fields, prefix)}.")
    hints = typing.get_type_hints(cls)
    values = {}
    for name, field in fields.items():
        key = prefix + name
        if name in tree:
            choices = field.metadata.get("choices")
            hint = typing.Literal[choices()] if choices else hints[name]
            values[name] = _convert(tree[name], hint, key, source)
            _check_range(values[name], field.metadata, key, source)
        elif field.default is dataclasses.MISSING:
            raise ConfigError(f"{source}: the key {key} is missing.")
    return cls(**values)


def _convert(raw, hint, key, source):
    """`raw` as the type `hint`, or a ConfigError that names key, value and what was expected."""
    if dataclasses.is_dataclass(raw):
        return raw
    if dataclasses.is_dataclass(hint):
        return _build(hint, raw, key + ".", source)
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    options = typing.get_args(hint) if union else (hint,)
    for option in options:
        accepted, converted = _try(raw, option)
        if accepted:
            return converted
    words = " or ".join(_words(option) for option in options)
    choices = [c for option in options if typing.get_origin(option) is typing.Literal for c in typing.get_args(option)]
    hint_text = _nearest(raw, choices) if isinstance(raw, str) else ""
    raise ConfigError(f"{source}: {key} must be {words}, got {_show(raw)} ({_kind(raw)}){hint_text}.")


def _try(raw, option):
    """(accepted, value) for one plain type. PyYAML reads 1e-3 as text, so text may be a number."""
    if option is type(None):
        return raw is None, None
    if typing.get_origin(option) is typing.Literal:
        return isinstance(raw, str) and raw in typing.get_args(option), raw
    if typing.get_origin(option) is tuple:
        return _try_tuple(raw, typing.get_args(option)[0])
    if option is bool or option is str:
        return isinstance(raw, option), raw
    number = _number(raw)
    if number is None or (option is int and not float(number).is_integer()):
        return False, None
    return True, option(number)


def _try_tuple(raw, kind):
    """(accepted, tuple) for a list of texts or numbers; a text is cut at its commas."""
    items = [item.strip() for item in raw.split(",")] if isinstance(raw, str) else raw
    if kind is not str and isinstance(raw, int | float) and not isinstance(raw, bool):
        items = [raw]
    if not isinstance(items, list | tuple) or (kind is not str and not items):
        return False, None
    found = [_try(item, kind) for item in items]
    good = all(accepted for accepted, _ in found)
    return good, tuple(item for _, item in found) if good else None


def _number(raw):
    """A finite number from a number or its text, else None; True and False are not numbers."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        number = float(raw)
    except (ValueError, OverflowError):
        return None
    return (raw if isinstance(raw, int) else number) if math.isfinite(number) else None


def _check_range(number, rule, key, source):
    """Holds a number, or each of several, against its field's range."""
    for item in number if isinstance(number, tuple) else ():
        _check_range(item, rule, key, source)
    if not isinstance(number, int | float) or isinstance(number, bool):
        return
    rule = {**rule, "high": MOST} if isinstance(number, int) and rule.get("high") is None else rule
    tests = {
        "low": (lambda limit: number >= limit, "at least"),
        "high": (lambda limit: number <= limit, "at most"),
        "above": (lambda limit: number > limit, "above"),
        "below": (lambda limit: number < limit, "below"),
    }
    for name, (good, words) in tests.items():
        if rule.get(name) is not None and not good(rule[name]):
            raise ConfigError(f"{source}: {key} must be {words} {rule[name]}, got {number}.")


def _nearest(word, words, prefix=""):
    """' (did you mean x?)' for the closest of `words`, or an empty string."""
    close = closest(word, words) if isinstance(word, str) else None
    return "" if close is None else f" (did you mean {prefix}{close}?)"


def _words(option):
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "null"}
    if typing.get_origin(option) is typing.Literal:
        return "one of " + ", ".join(typing.get_args(option))
    if typing.get_origin(option) is tuple:
        plural = {str: "texts", int: "whole numbers", float: "numbers"}
        return f"a list of {plural[typing.get_args(option)[0]]}"
    return names[option]


_short = reprlib.Repr()
_short.maxlevel, _short.maxstring, _short.maxother, _short.maxlong = 2, 120, 120, 60


def _show(raw):
    """A value as text, shortened: a message need not repeat all that was in a file."""
    try:
        return _short.repr(raw)
    except ValueError:  # Python's limit on the digits that it turns into text
        return "a huge number"


def _name(key):
    return key if isinstance(key, str) and len(key) < 60 else _show(key)


def _kind(raw):
    names = {dict: "a section", list: "a list", str: "text", type(None): "null", bool: "true/false"}
    return names.get(type(raw), type(raw).__name__)


def to_tree(config):
    """The config as plain dictionaries and lists, ready for YAML or JSON."""
    tree = _listed(config)
    return {"task": tree.pop("task"), **tree}


def _listed(settings):
    """{name: value} of one dataclass, tuples as lists; of the unlisted ones those that are not as by default."""
    tree = {}
    for field in dataclasses.fields(settings):
        entry = getattr(settings, field.name)
        if field.name in getattr(settings, "unlisted", ()) and entry == field.default:
            continue
        if dataclasses.is_dataclass(entry):
            entry = _listed(entry)
        tree[field.name] = list(entry) if isinstance(entry, tuple) else entry
    return tree


def save(config, path):
    """Writes the resolved config, whole or not at all."""
    text = "# Every setting of this run, as train.py resolved it.\n"
    write_whole(path, text + yaml.safe_dump(to_tree(config), sort_keys=False, allow_unicode=True))


def flat(config):
    """{dotted key: value} of every setting."""
    pairs = {}
    for key, entry in to_tree(config).items():
        pairs.update({f"{key}.{k}": v for k, v in entry.items()} if isinstance(entry, dict) else {key: entry})
    return pairs


def differences(old, new, ignore=()):
    """[(key, old value, new value)] of two configs' settings that are not the same."""
    old, new = flat(old), flat(new)
    keys = [*old, *(key for key in new if key not in old)]
    return [(k, old.get(k), new.get(k)) for k in keys if old.get(k) != new.get(k) and k not in ignore]


# 3. The shipped configs, and settings for data that none of them knows

FOLDER = Path(__file__).resolve().parents[1] / "configs"
ALIASES = {"imdbmulti": "imdbm"}
DEFAULT_MODEL = "hganet"
DERIVED = ("cganet", "ganet")  # hganet's settings with their own operator, so they need no files
SMALL = ("ba2motifs", "karate")  # data for a first try: shipped for hganet alone

UPDATES = 3000  # about as many as the shipped graph configs make
GRAPH_OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "amsgrad": True, "weight_decay": 8e-4}
NODE_OPTIMIZER = KIPF
NODE_DEFAULTS = ("Cora", "Citeseer", "Pubmed", "Karate")  # whose other models keep what `NodeConfig` says
BY_ROC_AUC = ("minesweeper", "tolokers", "PATTERN")  # yes or no: learned as one label, and so measured by ROC AUC
# For other node data: smaller than the paper's network, whose dropout of 0.88 suits bags of words.
OWN_NODES = {"num_modules": 2, "units": 32, "module_units": 16, "dropout": 0.5, "activation": "elu"}


# A graph whose steps would not fit the memory: an epoch is then many steps, and a few epochs will do.
NODE_BYTES, EDGE_BYTES = 8000, 40  # of a step of four modules on the whole graph: docs/large-graphs.md
LARGE_NODES = {"sampled": {"batch_size": 512, "fanout": [10, 5]}, "epochs": 20, "patience": 5, "runs": 1}


class Shipped(NamedTuple):
    """A data set and a model that are shipped with settings.

    Attributes:
        name: data set and model, `mutag_cganet`; the run's folder is called so, too.
        config: the settings.
        path: the file that they are from; hganet's for a derived one.
    """

    name: str
    config: "GraphConfig | NodeConfig"
    path: Path


def all_configs():
    """Every data set and model that is shipped with settings, derived ones included, sorted by name."""
    found = []
    for path in FOLDER.glob("*.yaml"):
        stem, _, own = path.stem.partition("_")
        for model in (own, *DERIVED) if own == DEFAULT_MODEL and stem not in SMALL else (own,):
            name = f"{stem}_{model}"
            found.append(Shipped(name, build(_derive(read(path), model), name), path))
    return sorted(found, key=lambda shipped: shipped.name)


def shipped(dataset, model=DEFAULT_MODEL):
    """The shipped settings of a data set and a model as a dictionary, or None where there are none."""
    if is_folder(dataset):
        return None
    stem = _stem(dataset)
    derived = model in DERIVED and stem not in SMALL
    path = FOLDER / f"{stem}_{DEFAULT_MODEL if derived else model}.yaml"
    return _derive(read(path), model) if path.exists() else None


def _derive(tree, model):
    """hganet's settings for cganet or ganet; any other model's as they are."""
    if model not in DERIVED:
        return tree
    return {**tree, "model": {**tree["model"], "name": model, "operator": NAMED_OPERATORS[model]}}


def suggest(name, model, arguments):
    """Settings made from the data themselves.

    Args:
        name: a data set's name or folder.
        model: name of the model.
        arguments: the parsed flags, for the data folder.

    Returns:
        A dictionary as a YAML file would give it.

    Raises:
        ConfigError: when data, task and model do not go together.
    """
    _check_dataset(name, "--dataset")
    dataset = data.load(name, data_dir=arguments.data_dir)
    task = task_of(dataset)
    if arguments.task:
        check_task(dataset, arguments.task)
    if model not in MODELS[task]:
        raise ConfigError(
            f"{model} is not a model for {dataset.name}, whose {task}s are classified; "
            f"there are {', '.join(MODELS[task])}."
        )
    if task == "node":
        return _suggest_node(name, model, dataset)
    return _suggest_graph(name, as_kind(dataset, _asked_target(arguments.set)), model)


def _asked_target(pairs):
    """The kind of target that `--set target=...` asks for: settings are made for it. What is no kind is told later."""
    asked = [text.strip() for key, _, text in (pair.partition("=") for pair in pairs) if key.strip() == "target"]
    return asked[-1] if asked and asked[-1] in OBJECTIVES else "auto"


def _suggest_graph(name, dataset, model):
    more = {}
    if dataset.target.kind == "classes":
        counts = [count for count in dataset.statistics()["class_counts"] if count]
        if len(counts) < 2 or min(counts) < 2:
            hint = " To learn numbers, --set target=regression." if len(counts) > 2 else ""
            raise ConfigError(f"{dataset.name} needs at least two classes with two graphs each, got {counts}.{hint}")
        folds = min(10, *counts)
    else:  # no figures of others' to compare with: the epoch is chosen on validation
        folds = min(10, len(dataset))
        more = {"protocol": "validation"}
        if folds < 4:
            raise ConfigError(f"{dataset.name} needs at least four graphs to train, validate and test, got {folds}.")
    batch_size = 20 if len(dataset) >= 200 else 10
    steps = max(1, len(dataset) * (folds - 1) // folds // batch_size)
    return {
        "task": "graph",
        "dataset": name,
        "model": {"name": model},
        "optimizer": GRAPH_OPTIMIZER,
        "folds": folds,
        "splits": "stratified",
        "batch_size": batch_size,
        "epochs": min(200, max(30, UPDATES // steps)),
        **more,
        **MODELS["graph"][model].own_data,
    }


def _suggest_node(name, model, dataset):
    tree = {"task": "node", "dataset": name, "model": {"name": model}, "optimizer": NODE_OPTIMIZER}
    if name not in NODE_DEFAULTS:
        own = OWN_NODES if model in NAMED_OPERATORS else {}
        tree |= {"model": {"name": model, **own}, "normalize_features": None, "epochs": 500, "patience": 100}
    if name in BY_ROC_AUC:
        tree["target"] = "multilabel"
    cost = NODE_BYTES * dataset.num_nodes + EDGE_BYTES * dataset.num_edges
    if cost > available_memory() and MODELS["node"][model].by_epochs:
        tree |= LARGE_NODES
    return {**tree, **MODELS["node"][model].own_data}


def task_of(dataset):
    """ "graph" for many graphs, "node" for one graph with labelled nodes."""
    return "node" if isinstance(dataset, data.NodeDataset) else "graph"


def check_task(dataset, task):
    """The data set itself, if it belongs to the task."""
    if task_of(dataset) != task:
        raise ConfigError(f"{dataset.name} is a data set for the {task_of(dataset)} task, not for --task {task}.")
    return dataset


# 4. From flags to a config


def resolve(arguments):
    """The config that flags ask for.

    Args:
        arguments: from `command_line.parse`.

    Returns:
        (config, base, stem): the config, the same without overrides, and the name the run's folder
        starts with.

    Raises:
        ConfigError: for contradictions between flags, file, data set and model.
    """
    tree, stem = _tree(arguments)
    _check_flags(arguments, tree)
    source = arguments.config or stem
    base = build(tree, source)
    return build(merge(tree, _overrides(arguments)), source), base, stem


def _tree(arguments):
    """(settings, stem) from --config, the shipped config or, for the user's own data, from the data."""
    if arguments.config:
        tree = read(arguments.config)
        if arguments.dataset:
            tree["dataset"] = canonical(arguments.dataset)
        return tree, Path(arguments.config).stem
    dataset = arguments.dataset or "MUTAG"
    model = arguments.model or DEFAULT_MODEL
    _check_model(model, arguments.task)
    tree = shipped(dataset, model) or suggest(canonical(dataset), model, arguments)
    return tree, f"{_stem(dataset)}_{model}"


def _check_model(model, task):
    models = {name for t in ([task] if task else TASKS) for name in MODELS[t]}
    if model not in models:
        where = f" of the {task} task" if task else ""
        hint = _nearest(model, sorted(models))
        raise ConfigError(f"There is no model {model!r}{where}{hint}. There are {', '.join(sorted(models))}.")


def _check_flags(arguments, tree):
    """Refuses flags that contradict the settings they meet."""
    task, model = tree.get("task"), tree.get("model")
    name = model.get("name") if isinstance(model, dict) else model
    what = f"{arguments.config} is a config" if arguments.config else f"{tree.get('dataset')} is a data set"
    if arguments.task and task != arguments.task:
        raise ConfigError(f"{what} for the {task} task, not for --task {arguments.task}.")
    if arguments.model and name != arguments.model:
        raise ConfigError(f"{arguments.config} is a config for {name}, not for --model {arguments.model}.")
    if arguments.runs is not None and task == "graph":
        raise ConfigError("--runs belongs to the node task; for another seed on graphs use --seed.")
    if arguments.protocol == "paper" and task == "node":
        raise ConfigError("The node task always chooses its epoch on the validation nodes: leave out --protocol.")


def _overrides(arguments):
    """The settings that flags ask for, as `key=value` strings; `--set` comes first, flags win."""
    pairs = list(arguments.set)
    for key in ("seed", "runs", "epochs", "protocol"):
        if getattr(arguments, key) is not None:
            pairs.append(f"{key}={getattr(arguments, key)}")
    return pairs + (["deterministic=true"] if arguments.deterministic else [])


def is_folder(dataset):
    """Whether a data set is given by its path: a folder or a file of the user's own."""
    if any(mark in dataset for mark in "/\\") or dataset.endswith((".zip", ".npz", ".csv")):
        return True
    return Path(dataset).is_dir() and _known(dataset) is None


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
