"""What a result depends on beside its config: versions, hardware, the state of the code, threads."""

import contextlib
import functools
import os
import platform
import signal
import subprocess
import threading
from importlib import metadata
from pathlib import Path

PACKAGES = ("tensorflow", "keras", "numpy", "scipy", "networkx", "scikit-learn")
SMALL_BATCH = 10_000  # nodes and edges


def versions():
    """{package: version}, Python and ours included."""
    from ganet_tf.version import __version__

    found = {"ganet_tf": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


# They decide which kernels TensorFlow takes, and so the last digits; processors of one name may differ in them.
VECTOR = ("avx", "fma", "amx")


def hardware():
    """Processor and its vector instructions, cores, memory and graphics cards."""
    import tensorflow as tf

    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "processor": processor(),
        "instructions": [flag for flag in (cpuinfo("flags") or "").split() if flag.startswith(VECTOR)],
        "cores": cores(),
        "memory_gib": memory_gib(),
        "gpus": [gpu.name for gpu in tf.config.list_physical_devices("GPU")],
    }


@functools.cache
def cores():
    """Processor cores that this process may use, when it is asked first: see `cluster.bind`."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def git_revision(*paths):
    """The commit, with "-dirty" behind it when tracked files (below `paths`) differ from it; None outside a clone."""
    folder = Path(__file__).resolve().parents[1]
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *paths)
    except (OSError, subprocess.SubprocessError):
        return None
    return commit + ("-dirty" if changed else "")


def _git(folder, *arguments):
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()


def processor():
    """Its name, or None."""
    return cpuinfo("model name") or platform.processor() or None


def cpuinfo(name):
    """An entry of the first core, or None where the system has no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(name))
    except (OSError, StopIteration):
        return None


def memory_gib():
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def suitable_threads(config, dataset):
    """1 for small batches, whose operations are too short to be shared out, else 0: one per core.

    On MUTAG a second thread doubles the processor time and saves none. A deterministic run gets 1 in any case, so
    that its digits do not depend on the machine's cores.
    """
    if config.deterministic:
        return 1
    if config.task == "node":
        batch = dataset.num_nodes + dataset.num_edges
    else:
        batch = config.batch_size * (dataset.sizes.mean() + dataset.edge_counts.mean())
    return 1 if batch < SMALL_BATCH else 0


def set_threads(threads):
    """Limits TensorFlow to so many threads, 0 for one per core; only before its first operation."""
    import tensorflow as tf

    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        pass  # it is running already, as in a notebook: it stays as it is


def threads():
    """How many threads TensorFlow uses within an operation: sums are cut into as many parts, so digits depend on it."""
    import tensorflow as tf

    return tf.config.threading.get_intra_op_parallelism_threads() or cores()


def implementation(config):
    """What computes the model of a config on this machine: "native", "sparse" or "dense"; None where nothing is chosen.

    Their last digits differ; those of native kernels depend on the processor's instruction set too.
    """
    from ganet_tf.ops.implementations import chosen

    asked = getattr(config.model, "implementation", None)
    return None if asked is None else chosen(asked)


def make_deterministic():
    """Lets TensorFlow use only kernels whose result does not depend on the order of threads.

    It may still depend on their number.
    """
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()


@contextlib.contextmanager
def signals_held():
    """Ctrl-C and SIGTERM within the block wait for its end; the second one does not wait."""
    held = []

    def hold(number, frame):
        held.append(number)
        if len(held) > 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # signals do not arrive here
        return
    before = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except Exception as error:
        if held:  # the error may be what is left of an interruption that was swallowed
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if held:
        raise KeyboardInterrupt
