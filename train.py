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
import importlib
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
        from experiments.cluster import launched
        from experiments.command_line import command

        if launched():  # who started it says so
            return 130
        print(f"\nStopped. To resume: {command(argv, all_flags=True)}", file=sys.stderr)
        return 130
    except (GANetError, OSError, MemoryError, tf.errors.ResourceExhaustedError) as error:
        print(f"train.py: {sentence(error)}", file=sys.stderr)
        return 2


def script(name, argv=None):
    """Runs predict.py or explore.py, `parse` and `run` of that part of experiments/; returns the exit code."""
    with silence():
        import tensorflow as tf

        from ganet_tf.errors import GANetError

        part = importlib.import_module(f"experiments.{name}")
        tf.config.list_physical_devices("GPU")  # as above
    try:
        return part.run(part.parse(sys.argv[1:] if argv is None else argv))
    except (GANetError, OSError, MemoryError, ImportError) as error:
        print(f"{name}.py: {sentence(error)}", file=sys.stderr)
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
    """One run: config, data, folder, folds, summary; with --workers, in several processes."""
    from experiments import cluster as clusters
    from experiments.config import resolve
    from experiments.tasks import check_sharing

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's polite kill is a Ctrl-C
    clusters.watch_parent()
    place = clusters.described(arguments.workers)
    if place is None and (arguments.workers or 1) > 1:
        check_sharing(resolve(arguments)[0])  # before anybody is started
        return clusters.launch(__file__, argv, arguments.workers)
    return train(arguments, argv, place)


def train(arguments, argv, place=None):
    """The same in this process, alone or at its place (index, addresses) among several workers."""
    import tensorflow as tf

    from experiments import cluster as clusters
    from experiments import command_line, environment
    from experiments.config import resolve
    from experiments.tasks import check_sharing, load_dataset, settle_splits
    from ganet_tf.errors import RunError

    if not argv:
        command_line.choose_demo(arguments)
    config, base, stem = resolve(arguments)
    if place is not None:
        check_sharing(config)
        clusters.bind(place[0], len(place[1]))
    dataset = load_dataset(config, arguments.data_dir)
    threads = arguments.threads or environment.suitable_threads(config, dataset)
    environment.set_threads(threads if threads or place is None else clusters.threads(*place[::-1]))
    config = settle_splits(config, dataset)
    if place is None:
        return train_folds(arguments, argv, (config, base, stem), dataset, clusters.Alone())
    cluster = clusters.join(*place, note=lambda text: print(text, file=sys.stderr))
    try:
        return train_folds(arguments, argv, (config, base, stem), dataset, cluster)
    except tf.errors.ResourceExhaustedError:
        raise
    except tf.errors.OpError as error:
        raise RunError(cluster.blame(error)) from error


def train_folds(arguments, argv, settings, dataset, cluster):
    """Folder, folds and summary of a run, on one worker or several."""
    from experiments import command_line, console, environment
    from experiments import config as configs
    from experiments.run_folder import RunFolder, claim, folder_name
    from experiments.summary import write_summary
    from experiments.tasks import data_digest, make_task
    from experiments.training import Trainer

    config, base, stem = settings
    folder = RunFolder(arguments.output or os.path.join("runs", folder_name(config, base, stem)), config.task)
    numbers = command_line.parse_numbers(arguments.folds, configs.fold_numbers(config), folder.word)
    report = console.Reporter(len(numbers), config.epochs, folder.word, arguments.quiet, silent=not cluster.chief)
    if cluster.count > 1:
        alike = {**configs.flat(config), **environment.versions(), f"{folder.word}s": numbers}
        alike["data: targets and splits"] = data_digest(dataset)
        cluster.check_alike({**alike, **{f"data: {key}": value for key, value in dataset.statistics().items()}})

    task = make_task(config, dataset, cluster.share)

    def claimed():
        folder.prepare()
        return configs.to_tree(claim(folder, config, dataset))

    config = configs.build(cluster.agree(claimed), str(folder.config))
    if config.deterministic:
        environment.make_deterministic()
    console.greet(report, config, dataset, folder, numbers, task.notes)

    elsewhere = Trainer(task, folder, report, cluster).run(numbers)
    if not cluster.chief:
        return cluster.end(0)
    summary = write_summary(config, folder, command_line.command(argv), {"data": dataset.statistics()})
    return cluster.end(console.conclude(report, summary, folder, elsewhere))


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


def leave(code):
    """Ends the process; a worker without TensorFlow's goodbye, which would wait for workers that are gone."""
    if "TF_CONFIG" in os.environ:
        from experiments.cluster import leave

        leave(code)
    sys.exit(code)


if __name__ == "__main__":
    leave(main())
