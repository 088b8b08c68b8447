"""YAML and `--set key=value` into the dataclasses of `config.py`, strictly typed, and back."""

import dataclasses
import math
import types
import typing
from pathlib import Path

import yaml

from experiments import config as schema
from ganet_tf.errors import ConfigError
from ganet_tf.files import write_whole
from ganet_tf.spelling import closest


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


def read(path):
    """The plain dictionary in a YAML file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config {path} cannot be read: {getattr(error, 'strerror', error)}.") from error
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise ConfigError(f"The config {path} is not valid YAML: {problem}.") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"The config {path} must be a mapping of keys to values, not {_kind(tree)}.")
    return tree


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
            place[last] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"--set {key}: {text!r} is not a YAML value.") from error
    return tree


def build(tree, source="config"):
    """The dictionary as a checked `GraphConfig` or `NodeConfig`."""
    task = tree.get("task")
    if task not in schema.TASKS:
        raise ConfigError(f"{source}: task must be graph or node, got {task!r}.")
    tree = dict(tree)
    tree["model"] = _build_model(task, tree.get("model"), source)
    config = _build(schema.CONFIGS[task], tree, "", source)
    if task == "graph" and config.protocol == "paper" and config.patience is not None:
        raise ConfigError(
            f"{source}: patience needs a validation set, which protocol paper has not; "
            "set patience to null or protocol to validation."
        )
    return config


def _build_model(task, tree, source):
    """The model section: its `name` decides which other keys there are."""
    tree = {"name": tree} if isinstance(tree, str) else tree
    if not isinstance(tree, dict) or "name" not in tree:
        raise ConfigError(f"{source}: model needs a section with a name, got {tree!r}.")
    models = schema.MODELS[task]
    if not isinstance(tree["name"], str) or tree["name"] not in models:
        raise ConfigError(
            f"{source}: model.name {tree['name']!r} is not a model of the {task} task"
            f"{nearest(tree['name'], models)}; there are {', '.join(models)}."
        )
    own = schema.NAMED_OPERATORS.get(tree["name"])
    return _build(models[tree["name"]], {"operator": own, **tree} if own else tree, "model.", source)


def _build(cls, tree, prefix, source):
    """One dataclass from one dictionary."""
    if not isinstance(tree, dict):
        raise ConfigError(f"{source}: {prefix.rstrip('.')} must be a section with keys, got {tree!r}.")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key in tree:
        if key not in fields:
            raise ConfigError(f"{source}: there is no key {prefix}{key}{nearest(key, fields, prefix)}.")
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
    hint_text = nearest(raw, choices) if isinstance(raw, str) else ""
    raise ConfigError(f"{source}: {key} must be {words}, got {raw!r} ({_kind(raw)}){hint_text}.")


def _try(raw, option):
    """(accepted, value) for one plain type. PyYAML reads 1e-3 as text, so text may be a number."""
    if option is type(None):
        return raw is None, None
    if typing.get_origin(option) is typing.Literal:
        return isinstance(raw, str) and raw in typing.get_args(option), raw
    if typing.get_origin(option) is tuple:
        items = raw.split(",") if isinstance(raw, str) else raw
        good = isinstance(items, list | tuple) and all(isinstance(item, str) for item in items)
        return good, tuple(item.strip() for item in items) if good else None
    if option is bool or option is str:
        return isinstance(raw, option), raw
    number = _number(raw)
    if number is None or (option is int and not float(number).is_integer()):
        return False, None
    return True, option(number)


def _number(raw):
    """A finite number from a number or its text, else None; True and False are not numbers."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        number = raw if isinstance(raw, int) else float(raw)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_range(number, rule, key, source):
    """Holds a number against its field's range."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return
    tests = {
        "low": (lambda limit: number >= limit, "at least"),
        "high": (lambda limit: number <= limit, "at most"),
        "above": (lambda limit: number > limit, "above"),
        "below": (lambda limit: number < limit, "below"),
    }
    for name, (good, words) in tests.items():
        if rule.get(name) is not None and not good(rule[name]):
            raise ConfigError(f"{source}: {key} must be {words} {rule[name]}, got {number}.")


def nearest(word, words, prefix=""):
    """', did you mean x?' for the closest of `words`, or an empty string."""
    close = closest(word, words)
    return "" if close is None else f", did you mean {prefix}{close}?"


def _words(option):
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "null"}
    if typing.get_origin(option) is typing.Literal:
        return "one of " + ", ".join(typing.get_args(option))
    return names.get(option, "a list of texts")


def _kind(raw):
    names = {dict: "a section", list: "a list", str: "text", type(None): "null", bool: "true/false"}
    return names.get(type(raw), type(raw).__name__)


def to_tree(config):
    """The config as plain dictionaries and lists, ready for YAML or JSON."""
    tree = dataclasses.asdict(config)
    tree["optimizer"]["no_decay"] = list(tree["optimizer"]["no_decay"])
    return {"task": tree.pop("task"), **tree}


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
