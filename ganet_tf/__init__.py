"""Hard and channel-wise graph attention (Gao and Ji, KDD 2019) for TensorFlow and Keras 3."""

from ganet_tf.memory import keep_memory

keep_memory()  # before TensorFlow allocates anything

from ganet_tf import data, layers, models, ops, optimizers  # noqa: E402
from ganet_tf.version import __version__  # noqa: E402

__all__ = ["__version__", "data", "keep_memory", "layers", "models", "ops", "optimizers"]
