"""Finding and loading the compiled kernels, and where they must stay out of the way."""

import contextlib
import ctypes
import functools
import importlib.resources
import os
import threading
from pathlib import Path

import tensorflow as tf
from tensorflow.python.ops import control_flow_util  # the only way to ask whether XLA is compiling

ENVIRONMENT = "GANET_NATIVE"
INSTRUCTION_SET = "GANET_NATIVE_ISA"  # "base": leave AVX2 aside
REMEMBER = "GANET_NATIVE_REMEMBER"  # "0": make the lists of a graph that comes again anew

_state = threading.local()


class Unavailable:
    """Falsy; its text says why the native kernels are not there."""

    def __init__(self, reason):
        self.reason = reason

    def __bool__(self):
        return False

    def __str__(self):
        return self.reason

    def __repr__(self):
        return f"Unavailable({self.reason!r})"


class Library:
    """The loaded kernels: `ops` has a function for each op, `controls` the functions that are not ops."""

    def __init__(self, path):
        self.ops = tf.load_op_library(str(path))
        self.controls = ctypes.CDLL(str(path))
        if os.environ.get(INSTRUCTION_SET) == "base":
            self.controls.ganet_use_instruction_set(0)
        self.controls.ganet_remembered_hits.restype = ctypes.c_int64
        if os.environ.get(REMEMBER) == "0":
            self.controls.ganet_remember_lists(0)


def available():
    """Whether the native kernels can be used: True, or a falsy object whose `str` says why not.

    They are switched off by the environment variable GANET_NATIVE=0.

    Example:

    >>> native.available() or print(native.available())
    True
    """
    if os.environ.get(ENVIRONMENT, "1") == "0":
        return Unavailable("GANET_NATIVE=0 switches the native kernels off.")
    found = _load()
    return found if isinstance(found, Unavailable) else True


def usable(*tensors):
    """Whether native kernels should be part of what is being traced or run here, for `tensors`.

    False besides where they are not `available`: where they are `unwelcome`, and where there is another device than a
    CPU (TensorFlow would copy to and fro).
    """
    if not available() or _other_devices() or unwelcome():
        return False
    return all(getattr(t, "dtype", None) in (None, tf.float32, tf.float64) for t in tensors)


def unwelcome():
    """Whether what is being traced here must not contain native kernels, whoever asks for them.

    So it is inside of `disabled`, inside of a function that XLA compiles, and while a SavedModel is written.
    """
    if getattr(_state, "disabled", 0) or _saving():
        return True
    return control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())


@contextlib.contextmanager
def disabled():
    """Keeps native kernels out of what this thread traces and runs: `usable` is False inside.

    Example:

    >>> with native.disabled():
    ...     model.export("served")  # loads without this package
    """
    _state.disabled = getattr(_state, "disabled", 0) + 1
    try:
        yield
    finally:
        _state.disabled -= 1


def library():
    """The loaded `Library`, set to TensorFlow's number of threads.

    Raises:
        RuntimeError: Where there is none, with the reason.
    """
    reason = available()
    if not reason:
        raise RuntimeError(f'there are no native kernels here: {reason} Use implementation="sparse".')
    found = _load()
    found.controls.ganet_set_threads(tf.config.threading.get_intra_op_parallelism_threads())
    return found


@functools.cache
def _load():
    folder = Path(str(importlib.resources.files("ganet_tf.native")))
    paths = sorted(folder.glob("_kernels*.so"))
    if not paths:
        return Unavailable(
            f"no compiled library in {folder}: it is made by `pip install` on Linux where there is a C++ compiler."
        )
    try:
        return Library(paths[0])
    except (OSError, tf.errors.OpError, AttributeError) as error:
        return Unavailable(f"{paths[0].name} does not load: {' '.join(str(error).split())}")


def _other_devices():
    # Visible rather than logical ones: asking for those would start TensorFlow, after which threads cannot be set.
    return any(device.device_type != "CPU" for device in tf.config.get_visible_devices())


def _saving():
    from tensorflow.python.saved_model import save_context

    return save_context.in_save_context()
