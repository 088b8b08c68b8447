#!/usr/bin/env python
"""Trains hGANet, cGANet, GANet and their baselines: the paper's experiments, or your own data.

    python train.py                               # MUTAG, or without it BA2Motifs, in about two minutes
    python train.py --task graph --dataset DD
    python train.py --task node --dataset Cora --runs 10
    python train.py --help

An interrupted run resumes when the same command is given again.
Exit codes: 0 done, 1 a fold failed, 2 a user's error, 130 interrupted.
"""

import contextlib
import errno
import os
import signal
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")


def main(argv=None):
    """Runs train.py with the given words (default: the command line's); returns the exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        with silence():
            import tensorflow as tf

            from experiments import command_line
            from ganet_tf.errors import GANetError

            tf.config.list_physical_devices("GPU")  # makes the CUDA libraries complain now, not later

        arguments = command_line.parse(argv)
        if arguments.list:
            from experiments.console import show_list

            return show_list()
        return run(arguments, argv)
    except KeyboardInterrupt:
        from experiments.command_line import command

        print(f"\nStopped. To resume: {command(argv, all_flags=True)}", file=sys.stderr)
        return 130
    except (GANetError, OSError, MemoryError, tf.errors.ResourceExhaustedError) as error:
        print(f"train.py: {sentence(error)}", file=sys.stderr)
        return 2


def sentence(error):
    """An error in a line that says what to do."""
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        what = error.filename or "A file"
        return f"{what} cannot be written: the disk is full; make room and give the same command again."
    if isinstance(error, MemoryError) and not str(error):
        return "There is not enough memory; try a smaller batch_size, or fewer units."
    return " ".join(str(error).split())[:2000]


def run(arguments, argv):
    """One run: config, data, folder, folds, summary."""
    from experiments import command_line, console, environment
    from experiments.config import fold_numbers, resolve
    from experiments.run_folder import RunFolder, claim, folder_name
    from experiments.summary import write_summary
    from experiments.tasks import load_dataset, make_task, settle_splits
    from experiments.training import Trainer

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's polite kill is a Ctrl-C
    if not argv:
        command_line.choose_demo(arguments)

    config, base, stem = resolve(arguments)
    dataset = load_dataset(config, arguments.data_dir)
    environment.set_threads(arguments.threads or environment.suitable_threads(config, dataset))
    config = settle_splits(config, dataset)
    folder = RunFolder(arguments.output or os.path.join("runs", folder_name(config, base, stem)), config.task)
    numbers = command_line.parse_numbers(arguments.folds, fold_numbers(config), folder.word)
    report = console.Reporter(len(numbers), config.epochs, folder.word, arguments.quiet)

    task = make_task(config, dataset)
    folder.prepare()
    config = claim(folder, config, dataset)
    if config.deterministic:
        environment.make_deterministic()
    console.greet(report, config, dataset, folder, numbers, task.notes)

    elsewhere = Trainer(task, folder, report).run(numbers)
    summary = write_summary(config, folder, command_line.command(argv), {"data": dataset.statistics()})
    return console.conclude(report, summary, folder, elsewhere)


@contextlib.contextmanager
def silence():
    """Holds back what TensorFlow's libraries print while they are loaded, unless loading fails."""
    if "tensorflow" in sys.modules:
        yield
        return
    with tempfile.TemporaryFile() as held:
        stderr = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(stderr, held.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


if __name__ == "__main__":
    sys.exit(main())
