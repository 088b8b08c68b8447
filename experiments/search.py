"""Searches settings with Optuna, by validation loss: `python -m experiments.search`.

    python -m experiments.search --dataset PROTEINS --trials 30 --storage sqlite:///search.db \\
        --space optimizer.learning_rate=1e-4..1e-2:log model.dropout=0.1..0.8 model.k=4,8,16 -- --folds 1-3

A trial is a run of train.py in a folder of its own, named by its settings; what stands behind `--` goes to train.py.
Several processes, also on several machines, may search together: they share the storage, a database, and the folder.
A process that dies takes its train.py with it and stops its trial's heartbeat. Whoever comes next marks that trial as
failed and queues it again with the same settings, and so in the same folder, where train.py resumes. Where two trials
have the same settings, and so the same folder, the second waits for folds that the first is at.

Settings are chosen by `validation.val_loss`, never by anything of the test fold, of which a search must not know.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

from experiments import command_line
from experiments.cluster import LAUNCHED
from experiments.config import fold_numbers, resolve
from ganet_tf.errors import ConfigError, GANetError

RETRIES = 3  # of a trial whose process was killed
WAIT_SECONDS = 30  # until train.py is asked again for folds that another trial is at
ROOT = Path(__file__).resolve().parents[1]
RANGE = re.compile(r"(?P<low>[^.:]+(?:\.\d+)?(?:e-?\d+)?)\.\.(?P<high>[^:]+)(?::(?P<how>log))?$")


class TrialFailed(RuntimeError):
    """train.py did not end well, or wrote no validation loss."""


def parse(argv=None):
    """(arguments, the rest for train.py)."""
    argv = sys.argv[1:] if argv is None else list(argv)
    cut = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(
        prog="python -m experiments.search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--dataset", required=True, help="as in train.py")
    add("--model", default="hganet", help="as in train.py (hganet)")
    add("--space", nargs="+", required=True, metavar="KEY=VALUES", help="low..high, low..high:log, or a,b,c")
    add("--trials", type=int, default=20, help="trials of this process (20)")
    add("--storage", default="sqlite:///search.db", help="Optuna's RDB storage (sqlite:///search.db)")
    add("--study", help="its name in the storage; default: data set and model")
    add("--output", type=Path, default=Path("runs/search"), help="folder of the trials (runs/search)")
    add("--heartbeat", type=int, default=60, help="seconds between signs of life; two missed ones are a death (60)")
    add("--seed", type=int, help="of the sampler; processes that search together need different ones, or none")
    return parser.parse_args(argv[:cut]), argv[cut + 1 :]


def parse_space(words):
    """{key: function of a trial to a value} from words such as `model.k=4,8,16` and `model.dropout=0.1..0.8`."""
    space = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key or not text:
            raise ConfigError(f"--space needs KEY=VALUES, for example model.k=4,8,16, not {word!r}.")
        space[key] = _suggestion(key, text)
    return space


def _suggestion(key, text):
    found = RANGE.match(text)
    if found is None:
        choices = text.split(",")
        return lambda trial: trial.suggest_categorical(key, choices)
    try:
        whole = all(re.fullmatch(r"-?\d+", found[end]) for end in ("low", "high"))
        low, high = ((int if whole else float)(found[end]) for end in ("low", "high"))
    except ValueError:
        low, high = 1, 0
    if not low < high or (found["how"] and low <= 0):
        raise ConfigError(f"--space {key}: {text!r} must be low..high with low below high, above 0 for :log.")
    suggest = "suggest_int" if whole else "suggest_float"
    return lambda trial: getattr(trial, suggest)(key, low, high, log=bool(found["how"]))


def objective(trial, space, arguments, rest, numbers):
    """Validation loss of one trial: the mean over its folds.

    Args:
        trial: Optuna's.
        space: of `parse_space`.
        arguments: of `parse`.
        rest, numbers: of `train_words`; words for train.py and the folds that they ask for.
    """
    settings = [f"{key}={suggest(trial)}" for key, suggest in space.items()]
    asked = [*sorted(settings), *rest]  # another data set, or other folds, have folders of their own
    folder = arguments.output / f"trial-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]}"
    trial.set_user_attr("folder", str(folder))
    arguments.output.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, ROOT / "train.py", *rest, "--quiet", "--output", folder, "--set", *settings]
    variables = {**os.environ, LAUNCHED: str(os.getpid())}
    kills = 0
    while True:
        done = subprocess.run(
            list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=variables
        )
        if done.returncode == 130:
            raise KeyboardInterrupt
        if done.returncode < 0 and (kills := kills + 1) <= RETRIES:  # it resumes where it was killed
            continue
        if done.returncode:  # an exit code is no exception by itself, and Optuna would take None for a value
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
            raise TrialFailed(f"train.py ended with exit code {done.returncode}: {said[-1]}")
        summary = read_summary(folder / "summary.json")
        if not set(numbers) & set(summary.get("missing", ())):
            return validation_loss(summary, folder)
        time.sleep(WAIT_SECONDS)  # the mean over the others would be taken for the whole


def train_words(arguments, rest):
    """(words for train.py, numbers of the folds that they ask for).

    Raises:
        ConfigError: for what train.py would refuse.
    """
    words = ["--dataset", arguments.dataset, "--model", arguments.model, *rest]
    config = resolve(command_line.parse(words))[0]
    if config.task == "graph" and config.protocol != "validation":
        words += ["--protocol", "validation"]
    return words, command_line.parse_numbers(command_line.parse(words).folds, fold_numbers(config))


def read_summary(path):
    """What train.py wrote."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrialFailed(f"{path} cannot be read ({error!r}).") from error


def validation_loss(summary, folder):
    """What a search may look at."""
    try:
        return float(summary["validation"]["val_loss"])
    except (KeyError, TypeError, ValueError) as error:
        raise TrialFailed(f"the summary in {folder} has no validation loss ({error!r}).") from error


def make_study(arguments):
    """The study in its storage, whose stale trials are queued again."""
    import optuna

    # Optuna 5 has another name for the callback.
    callbacks = optuna.storages
    retry = getattr(callbacks, "RetryHeartbeatStaleTrialCallback", None) or callbacks.RetryFailedTrialCallback
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # heartbeats are, since 2021
        storage = optuna.storages.RDBStorage(
            arguments.storage,
            heartbeat_interval=arguments.heartbeat,
            grace_period=2 * arguments.heartbeat,
            **{_callback_argument(optuna): retry(max_retry=RETRIES)},
        )
    study = optuna.create_study(
        storage=storage,
        study_name=arguments.study or f"{Path(arguments.dataset).name}-{arguments.model}",
        direction="minimize",
        load_if_exists=True,
    )
    # A study that goes on must not draw once more what it drew first.
    seed = None if arguments.seed is None else arguments.seed + len(study.get_trials(deepcopy=False))
    study.sampler = optuna.samplers.TPESampler(seed=seed)
    return study


def _callback_argument(optuna):
    """What `RDBStorage` calls the function for trials that are found dead."""
    import inspect

    names = inspect.signature(optuna.storages.RDBStorage).parameters
    return next(name for name in names if name.endswith("trial_callback"))


def main(argv=None):
    """Searches; returns the exit code: 0 done, 2 a user's error."""
    arguments, rest = parse(argv)
    try:
        space = parse_space(arguments.space)
        words, numbers = train_words(arguments, rest)
        import optuna
    except GANetError as error:
        print(f"search: {error}", file=sys.stderr)
        return 2
    except ImportError:
        print("search: Optuna is not installed: pip install -e '.[search]'", file=sys.stderr)
        return 2
    study = make_study(arguments)
    study.optimize(
        lambda trial: objective(trial, space, arguments, words, numbers), arguments.trials, catch=(TrialFailed,)
    )
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    if not done:
        print("search: no trial has a result; the messages above say why.", file=sys.stderr)
        return 2
    best = study.best_trial
    settings = " ".join(f"{key}={value}" for key, value in best.params.items())
    print(
        f"best of {len(done)} trials: validation loss {best.value:.4f} in {best.user_attrs['folder']}: --set {settings}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
