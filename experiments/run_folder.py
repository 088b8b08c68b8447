"""The folder of a run: its name, whose it is, where its files are, and the learning curves in it."""

import csv
import dataclasses
import errno
import hashlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from experiments import config as settings
from experiments.checkpoint import NAMES as CHECKPOINTS
from experiments.lock import guard
from ganet_tf.data import Encoder, Target
from ganet_tf.data.features import encoding
from ganet_tf.errors import RunError
from ganet_tf.files import UNFINISHED, named, remove_unfinished, sync, write_whole

# Settings that may differ between two visits to one folder: more runs only add to it.
FREE = ("runs",)
RESULT_FILES = ("history.csv", "model.keras", "test.csv")
WORK_FILES = ("lock", *CHECKPOINTS)
PROBE_BYTES = 32 * 2**20  # a model, two checkpoints and a temporary copy of the largest shipped config


class RunFolder:
    """Paths below one run's folder.

    Layout: `config.yaml`, `encoder.json`, `fold-01/{history.csv, result.json, model.keras, test.csv}` (`run-01` on
    the node task), `summary.json`, `summary.md`, `curves.png`, `confusion.csv`. A fold with a `result.json` is
    finished: that file is written last.

    Args:
        path: the folder.
        task: "graph" (has folds) or "node" (has repetitions, called runs).
    """

    def __init__(self, path, task="graph"):
        self.path = Path(path)
        self.word = "fold" if task == "graph" else "run"

    @property
    def config(self):
        return self.path / "config.yaml"

    @property
    def encoder(self):
        return self.path / "encoder.json"

    def fold(self, number):
        """The folder of one fold, or of one repetition."""
        return self.path / f"{self.word}-{number:02d}"

    def numbers(self):
        """The numbers of the folds that have a folder."""
        found = (re.fullmatch(rf"{self.word}-(\d+)", path.name) for path in self.path.glob(f"{self.word}-*"))
        return sorted(int(match[1]) for match in found if match)

    def result(self, number):
        """The result.json of a finished fold, or None; a fold whose files are damaged is not finished.

        Raises:
            RunError: when result.json itself is damaged.
        """
        result = self._read_result(number)
        return None if result is None or _damage(self.fold(number), result) else result

    def damage(self, number):
        """What is wrong with the files of a fold that has a result, for example after a power loss, or None."""
        result = self._read_result(number)
        return None if result is None else _damage(self.fold(number), result)

    def _read_result(self, number):
        path = self.fold(number) / "result.json"
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(result, dict) or not {"rules", "failed"} & set(result):
                raise ValueError("it is not a result")
            checked = {"files", "sha256"} & set(result)  # older versions wrote neither
            if checked and result.get("sha256") != _digest(result):
                raise ValueError("its checksum does not match")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"{path} cannot be read ({error}); delete it to train that {self.word} again.") from error
        return result

    def write_result(self, number, result):
        """Writes result.json, which makes a fold finished, after everything else of it is safely on the disk."""
        folder = self.fold(number)
        files = [folder / name for name in RESULT_FILES if (folder / name).exists()]
        for path in files:
            sync(path)
        result = {**result, "files": {path.name: _fingerprint(path) for path in files}}
        result["sha256"] = _digest(result)
        write_whole(folder / "result.json", json.dumps(result, indent=2) + "\n")

    def results(self, numbers):
        """{number: result} of those folds that are finished."""
        found = {number: self.result(number) for number in numbers}
        return {number: result for number, result in found.items() if result is not None}

    def prepare(self, size=PROBE_BYTES):
        """Makes the folder and proves, before hours of training, that it can be written.

        Raises:
            RunError: for a read-only or full disk, or a file where the folder should be.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._remove_litter()
            self._probe(size)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            problem = f"the disk is full ({size / 2**20:.0f} MiB are needed)" if full else error.strerror
            raise RunError(
                f"The run folder {self.path} cannot be written: {problem}; choose another with --output or make room."
            ) from error

    def _remove_litter(self):
        """Removes drafts of killed processes, unless somebody may be writing here just now."""
        if any(self.path.glob(f"{UNFINISHED}*")):
            with guard(self.path) as alone:
                if alone:
                    remove_unfinished(self.path)

    def _probe(self, size):
        """Writes and removes a file as large as what training will write."""
        handle, name = tempfile.mkstemp(dir=self.path, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                for _ in range(max(1, size // 2**20)):
                    file.write(os.urandom(2**10) * 2**10)
                file.flush()
                os.fsync(file.fileno())
        finally:
            Path(name).unlink(missing_ok=True)

    def litter(self, number):
        """What a process that was killed left in the folder of a finished fold: files that only training needs."""
        names = sorted(path.name for path in self.fold(number).glob("*"))
        return [name for name in names if name in WORK_FILES or name.startswith(UNFINISHED)]

    def tidy(self, number):
        """Removes drafts of a killed process and, of a finished fold, checkpoints; its lock must be ours."""
        remove_unfinished(self.fold(number))
        if self.result(number) is not None:
            for name in CHECKPOINTS:
                (self.fold(number) / name).unlink(missing_ok=True)


def _damage(folder, result):
    """What is wrong with a finished fold's files: the name of the first one and why, or None."""
    if "failed" in result:
        return None
    for name, expected in result.get("files", {}).items():
        try:
            if _fingerprint(folder / name) != expected:
                return f"{name} is not the file that was written"
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})"
    if "files" not in result:  # written by an older version; the summary needs at least the curve
        try:
            if len(read_history(folder / "history.csv")) != result["epochs"]:
                return "history.csv is not whole"
        except (OSError, RunError) as error:
            return str(error)
    return None


def _fingerprint(path):
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _digest(result):
    """SHA-256 of a result without its own entry."""
    rest = {key: value for key, value in result.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("utf-8")).hexdigest()


def folder_name(config, base, stem):
    """The default folder of a run: the config's name and what was changed in it, so that the same
    command finds the same folder again."""
    parts = [stem]
    for key, _, new in settings.differences(base, config, ignore=("runs", "dataset")):
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
    return name if name.strip(".") else "run"  # a config called ...yaml must not lead out of runs/


def claim(folder, config, dataset=None):
    """Writes config.yaml and encoder.json into a new folder, or makes sure that an old one has the same.

    Args:
        folder: the `RunFolder`.
        config: the run's config.
        dataset: its data set, whose encoder and target are kept; None keeps none.

    Returns:
        The config; `runs` may have grown to those that the folder already has.

    Raises:
        RunError: when the folder belongs to another config, or to other data; nothing is changed then.
    """
    with guard(folder.path):
        if not folder.config.exists():
            _check_empty(folder)
            settings.save(config, folder.config)
            _claim_encoder(folder, config, dataset)
            return config
        old = settings.load_run(folder.config)
        _check_same(folder, old, config)
        _claim_encoder(folder, config, dataset)
        if config.task == "node":
            # What is there counts, not the number in the file: with a damaged digit it would ask for other runs.
            config = dataclasses.replace(config, runs=max([config.runs, *folder.numbers()]))
            if config.runs != old.runs:
                settings.save(config, folder.config)
        return config


def _claim_encoder(folder, config, dataset):
    """Keeps how features and targets were made; what is kept already must be the same.

    The name and what an older version left out follow from the config and the data: they are written again.
    """
    if dataset is None:
        return
    text = encoder_text(config.dataset, dataset)
    if folder.encoder.exists():
        _check_encoder(folder, config, dataset)
    if not folder.encoder.exists() or folder.encoder.read_text(encoding="utf-8") != text:
        write_whole(folder.encoder, text)


def _check_encoder(folder, config, dataset):
    _, encoder, target, weighted = read_encoder(folder)
    if (encoder, target) != (dataset.encoder, dataset.target) or weighted not in (None, dataset.weighted):
        raise RunError(
            f"{folder.path} holds a run on other data ({folder.encoder.name} there has other features, classes or "
            f"edge weights than {config.dataset} now); nothing was changed: choose another folder with --output, or "
            "delete that one."
        )


def encoder_text(name, dataset):
    """What encoder.json says: the data set's name, its encoder and its target."""
    parts = {"dataset": name, "task": settings.task_of(dataset), **encoding(dataset)}
    return json.dumps(parts, indent=1, ensure_ascii=False) + "\n"


class Encoding(NamedTuple):
    """What encoder.json says.

    Attributes:
        dataset: the data set's name.
        encoder, target: how features and targets were made.
        edge_weights: whether its edges had weights; None in files of older versions.
    """

    dataset: str
    encoder: Encoder
    target: Target
    edge_weights: bool | None


def read_encoder(folder):
    """The `Encoding` of a run.

    Raises:
        RunError: when encoder.json is not there, or is not what `encoder_text` writes.
    """
    try:
        parts = json.loads(folder.encoder.read_text(encoding="utf-8"))
        encoder, target = (json.dumps(parts[name]) for name in ("encoder", "target"))
        weights = parts.get("edge_weights")
        return Encoding(parts["dataset"], Encoder.from_json(encoder), Target.from_json(target), weights)
    except FileNotFoundError:
        raise RunError(
            f"{folder.path} has no encoder.json: it is no run's folder, or of an older version; give train.py the "
            "run's command again, which adds it."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{folder.encoder} cannot be read ({error}).") from error


def _check_empty(folder):
    strangers = [path.name for path in folder.path.iterdir() if not path.name.startswith(".")]
    if strangers:
        raise RunError(
            f"{folder.path} is not empty and not a run's folder (it has {strangers[0]} in it); "
            "choose another with --output."
        )


def _check_same(folder, old, new):
    if old.task == new.task:
        changed = settings.differences(old, new, ignore=FREE)
    else:
        changed = [("task", old.task, new.task)]
    if changed:
        listed = ", ".join(f"{key} {before!r} there, {now!r} now" for key, before, now in changed)
        raise RunError(
            f"{folder.path} holds a run with another config ({listed}); "
            "nothing was changed: choose another folder with --output, or delete that one."
        )


class History:
    """Rows {"epoch": 1, "train_loss": ..., ...}, on disk as they come.

    A line is written with one call, so a killed process can leave at most a part of the last one;
    `read_history` leaves it out. Numbers are written in full, so that reading gives the same ones.

    Args:
        path: history.csv; None writes nothing.
        rows: rows of an interrupted run to begin with; the file is made again from them.
    """

    def __init__(self, path, rows=()):
        self.path = None if path is None else Path(path)
        self.rows = [dict(row) for row in rows]
        if path is None:
            return
        write_whole(self.path, "".join(_line(row.keys()) for row in self.rows[:1]))
        self._append("".join(_line(row.values()) for row in self.rows))

    def add(self, row):
        """Appends one epoch."""
        self.rows.append(row)
        self._append(("" if len(self.rows) > 1 else _line(row.keys())) + _line(row.values()))

    def _append(self, text):
        if self.path is None:
            return
        with named(self.path), open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(text)


def read_history(path):
    """Rows of a history.csv, without a last line that was cut off.

    Raises:
        RunError: when the file is damaged in another way.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        rows = list(csv.DictReader(io.StringIO(whole)))
        return [{k: int(v) if k == "epoch" else float(v) for k, v in row.items()} for row in rows]
    except (ValueError, TypeError, AttributeError, csv.Error) as error:  # what csv says to zeros and half numbers
        raise RunError(f"{path} is damaged ({error})") from error


def _line(items):
    return ",".join(str(item) for item in items) + "\n"
