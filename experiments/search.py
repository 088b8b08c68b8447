"""Searches settings with Optuna, by validation loss: `python -m experiments.search`.

    python -m experiments.search --dataset PROTEINS --trials 30 --storage sqlite:///search.db \\
        --space optimizer.learning_rate=1e-4..1e-2:log model.dropout=0.1..0.8 model.k=4,8,16 -- --folds 1-3

A trial is a run of train.py in a folder of its own, named by its settings; what stands behind `--` goes to train.py.
Several processes, also on several machines, may search together: they share the storage, a database, and the folder.
A process that dies stops its trial's heartbeat. Whoever comes next marks that trial as failed and queues it again with
the same settings, and so in the same folder, where train.py resumes.

Settings are chosen by `validation.val_loss`, never by anything of the test fold, of which a search must not know.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from ganet_tf.errors import ConfigError

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


def objective(trial, space, arguments, rest):
    """Validation loss of one trial: the mean over its folds."""
    settings = [f"{key}={suggest(trial)}" for key, suggest in space.items()]
    folder = arguments.output / f"trial-{hashlib.sha256(json.dumps(sorted(settings)).encode()).hexdigest()[:12]}"
    trial.set_user_attr("folder", str(folder))
    command = [sys.executable, ROOT / "train.py", "--dataset", arguments.dataset, "--model", arguments.model, *rest]
    if "node" not in rest:
        command += ["--protocol", "validation"]
    command += ["--quiet", "--output", folder, "--set", *settings]
    arguments.output.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode:  # an exit code is no exception by itself, and Optuna would take None for a value
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise TrialFailed(f"train.py ended with exit code {done.returncode}: {said[-1] if said else 'it said nothing'}")
    return validation_loss(folder / "summary.json")


def validation_loss(path):
    """What a search may look at."""
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["validation"]["val_loss"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrialFailed(f"{path} has no validation loss ({error!r}).") from error


def make_study(arguments):
    """The study in its storage, whose stale trials are queued again."""
    import optuna

    # Optuna 5 has another name for the callback.
    callbacks = optuna.storages
    retry = getattr(callbacks, "RetryHeartbeatStaleTrialCallback", None) or callbacks.RetryFailedTrialCallback
    storage = optuna.storages.RDBStorage(
        arguments.storage,
        heartbeat_interval=arguments.heartbeat,
        grace_period=2 * arguments.heartbeat,
        **{_callback_argument(optuna): retry(max_retry=3)},
    )
    return optuna.create_study(
        storage=storage,
        study_name=arguments.study or f"{Path(arguments.dataset).name}-{arguments.model}",
        direction="minimize",
        sampler=optuna.samplers.TPESampler(seed=arguments.seed),
        load_if_exists=True,
    )


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
        import optuna
    except ConfigError as error:
        print(f"search: {error}", file=sys.stderr)
        return 2
    except ImportError:
        print("search: Optuna is not installed: pip install -e '.[search]'", file=sys.stderr)
        return 2
    study = make_study(arguments)
    study.optimize(lambda trial: objective(trial, space, arguments, rest), arguments.trials, catch=(TrialFailed,))
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
