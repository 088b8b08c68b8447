"""Hard and channel-wise graph attention (Gao and Ji, KDD 2019) for TensorFlow and Keras 3."""

import os

# Before Keras is imported: it would look for the other framework first.
if (backend := os.environ.get("KERAS_BACKEND") or "tensorflow") != "tensorflow":
    raise ImportError(
        f"ganet_tf runs on Keras's TensorFlow backend, but KERAS_BACKEND is {backend!r}: unset it, or set "
        "KERAS_BACKEND=tensorflow, before Python starts."
    )

from ganet_tf.memory import keep_memory

keep_memory()  # before TensorFlow allocates anything

import keras  # noqa: E402

if keras.backend.backend() != "tensorflow":  # from ~/.keras/keras.json
    raise ImportError(
        f"ganet_tf runs on Keras's TensorFlow backend, but Keras is set to {keras.backend.backend()!r}: set "
        'KERAS_BACKEND=tensorflow before Python starts, or "backend": "tensorflow" in ~/.keras/keras.json.'
    )

from ganet_tf import data, explain, layers, litert, models, ops, optimizers  # noqa: E402
from ganet_tf.version import __version__  # noqa: E402

__all__ = ["__version__", "data", "explain", "keep_memory", "layers", "litert", "models", "ops", "optimizers"]
