"""Counts, bytes and times of any layer on one graph: `profile(layer, x, edges)`."""

from ganet_tf.profiling.counts import Size
from ganet_tf.profiling.graphs import simulated_edges, simulated_features
from ganet_tf.profiling.profiler import Row, make_layer, profile, watched_growth

__all__ = ["Row", "Size", "make_layer", "profile", "simulated_edges", "simulated_features", "watched_growth"]
