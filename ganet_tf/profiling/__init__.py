"""Counts, bytes and times of the operators: what `profile_ops.py` prints, importable.

`profile(layer, x, edges)` gives one row for any layer, `requests` and `measure` a whole table.
"""

from ganet_tf.profiling import report
from ganet_tf.profiling.graphs import simulated_edges, simulated_features
from ganet_tf.profiling.plan import Request, requests
from ganet_tf.profiling.profiler import make_layer, profile
from ganet_tf.profiling.row import Row
from ganet_tf.profiling.size import Size
from ganet_tf.profiling.table import measure

__all__ = [
    "Request",
    "Row",
    "Size",
    "make_layer",
    "measure",
    "profile",
    "report",
    "requests",
    "simulated_edges",
    "simulated_features",
]
