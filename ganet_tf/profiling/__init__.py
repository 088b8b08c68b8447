"""Counts, bytes and times of any layer on one graph: `profile(layer, x, edges)`."""

from ganet_tf.profiling.graphs import simulated_edges, simulated_features
from ganet_tf.profiling.profiler import make_layer, profile
from ganet_tf.profiling.row import Row
from ganet_tf.profiling.size import Size

__all__ = ["Row", "Size", "make_layer", "profile", "simulated_edges", "simulated_features"]
