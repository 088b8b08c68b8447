"""Hard and channel-wise graph attention (Gao and Ji, KDD 2019) for TensorFlow and Keras 3."""

from ganet_tf import data, layers, models, ops
from ganet_tf.version import __version__

__all__ = ["__version__", "data", "layers", "models", "ops"]
