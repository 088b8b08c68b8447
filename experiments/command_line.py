"""The flags of train.py, and the command that gives a run again."""

import argparse
import shlex
import sys

from experiments.config import DEFAULT_MODEL, TASKS
from experiments.model_configs import MODELS
from ganet_tf import data
from ganet_tf.errors import ConfigError, DatasetNotFoundError

EPILOG = """examples:
  python train.py                                    MUTAG, all ten folds, in about two minutes
  python train.py --task graph --dataset DD          hGANet with configs/dd_hganet.yaml
  python train.py --task node --dataset Cora --model gat
  python train.py --dataset PROTEINS --set model.operator=linear --protocol validation
  python train.py --dataset path/to/FOLDER           your own graphs: TU layout, CSV files or an .npz
  python train.py --task node --dataset mine.npz     your own nodes
"""
# Flags that change where or how a run is done, not what it gives.
INCIDENTAL = {"--data-dir": 1, "--output": 1, "--folds": 1, "--quiet": 0}
MOST_WORKERS = 1024
MOST_DIGITS = 9  # of a fold's number
OTHERS = tuple(dict.fromkeys(name for task in TASKS for name in MODELS[task] if name != DEFAULT_MODEL))
# About two minutes on two cores; the configs' own epochs give the figures to compare with the paper.
DEMO_EPOCHS = {"MUTAG": "60", "BA2Motifs": "10"}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are exceptions, so that a script prints all of them alike."""

    def __init__(self, prog, description, epilog=None):
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, None, description, epilog, formatter_class=form, allow_abbrev=False)

    def error(self, message):
        raise ConfigError(f"{message} (python {self.prog} --help lists all flags).")


def parser():
    parser = Parser("train.py", "Trains GANets and their baselines on the paper's data sets, or on yours.", EPILOG)
    add = parser.add_argument
    add("--task", choices=TASKS, help="classify graphs or nodes; follows from the data set if left out")
    add("--dataset", metavar="NAME", help="a data set's name, or the path of your own: see docs/data.md")
    add("--model", metavar="NAME", help=f"{DEFAULT_MODEL} (default), {', '.join(OTHERS)}")
    add("--config", metavar="FILE", help="a YAML file; default: configs/<dataset>_<model>.yaml")
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        nargs="+",
        help="change settings, e.g. model.k=4",
    )
    add("--data-dir", metavar="DIR", help="where the data files are (or GANET_DATA)")
    add("--output", metavar="DIR", help="the run's folder; default: runs/<config>; an unfinished run resumes")
    add("--folds", metavar="LIST", help="which folds (or runs) to train here, e.g. 1,4-6; default: all")
    add("--seed", metavar="N", help="fold n is trained with seed N + n")
    add("--runs", metavar="N", help="repetitions on the node task")
    add("--epochs", metavar="N", help="passes over the training data")
    add(
        "--protocol",
        metavar="NAME",
        help="paper (default): test fold every epoch; validation: test fold once",
    )
    add(
        "--deterministic",
        action="store_true",
        help="same seed and number of threads, same result to the last digit; one thread unless --threads is given",
    )
    add("--threads", metavar="N", type=int, help="threads that TensorFlow may use")
    add(
        "--workers",
        metavar="N",
        type=int,
        help="train with N processes on this machine; on several machines see docs/distributed.md",
    )
    add("--list", action="store_true", help="show what can be run, and stop")
    add("--quiet", action="store_true", help="print only the result")
    return parser


def parse(argv=None):
    """The parsed flags; `--set` comes as one flat list.

    Raises:
        ConfigError: for a flag that is not known or has a wrong value.
    """
    arguments = parser().parse_args(argv)
    arguments.set = [item for group in arguments.set for item in group]
    for name, text in vars(arguments).items():
        if isinstance(text, str) and not text.strip():  # mostly "$UNSET" in a script
            raise ConfigError(f"--{name.replace('_', '-')} is empty: give it a value or leave it out.")
    if arguments.threads is not None and arguments.threads < 1:
        raise ConfigError(f"--threads must be at least 1, got {arguments.threads}.")
    if arguments.workers is not None and not 1 <= arguments.workers <= MOST_WORKERS:
        raise ConfigError(f"--workers must be from 1 to {MOST_WORKERS}, got {arguments.workers}.")
    return arguments


def choose_demo(arguments):
    """Without any flag: MUTAG where it can be found, else one line why not, and BA2Motifs."""
    arguments.dataset = "MUTAG"
    try:
        data.load("MUTAG", data_dir=arguments.data_dir)
    except (DatasetNotFoundError, OSError) as error:
        arguments.dataset = "BA2Motifs"
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        print(f"MUTAG could not be found, so this runs on the generated BA2Motifs: {reason}", file=sys.stderr)
    arguments.epochs = DEMO_EPOCHS[arguments.dataset]


def parse_numbers(text, allowed, word="fold"):
    """'1,4-6' as [1, 4, 5, 6], each within `allowed`; None means all of them.

    Raises:
        ConfigError: for anything else.
    """
    if text is None:
        return list(allowed)
    numbers = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ConfigError(f"--folds must look like 1,4-6, got {text!r}.")
        if max(len(first), len(last)) > MOST_DIGITS:
            raise ConfigError(
                f"--folds: there are {word}s {allowed[0]} to {allowed[-1]}, not as many as in {text[:40]}."
            )
        low, high = int(first), int(last or first)
        if low < allowed[0] or high > allowed[-1]:
            wrong = low if low not in allowed else allowed[-1] + 1
            raise ConfigError(f"--folds: there is no {word} {wrong}; there are {allowed[0]} to {allowed[-1]}.")
        numbers.update(range(low, high + 1))
    if not numbers:
        raise ConfigError(f"--folds: there is no {word} {text}; there are {allowed[0]} to {allowed[-1]}.")
    return sorted(numbers)


def command(argv, all_flags=False):
    """What to type to get the same run again: without flags that do not change its result."""
    kept, skip = [], 0
    for word in argv:
        name, equals, _ = word.partition("=")
        if skip:
            skip -= 1
        elif name in INCIDENTAL and not all_flags:
            skip = 0 if equals else INCIDENTAL[name]
        else:
            kept.append(word)
    return shlex.join(["python", "train.py", *kept])
