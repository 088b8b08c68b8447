"""The operators as compiled kernels for CPUs: the numbers of `ganet_tf.ops`, in a third to a half of the time.

A call makes the neighbour lists of a batch once and hands them to every operator on it:

>>> if native.available():
...     lists = native.lists(edges, num_nodes)
...     out = native.hgao(queries, keys, values, scores, lists, k=8)
...     h = native.gcn(h, lists, normalization="sym")

Every function has a gradient. Results do not depend on the number of threads, to the bit; threads are as many as
TensorFlow's setting of intra-op threads says. Nothing is of size [entries, channels]: neither forward nor backward.
Second derivatives are not there: the pure path has them.

`available` says whether the kernels are there at all, `usable` whether they can be part of what is being traced or run
right now, and `disabled` keeps them out of it (an exported model must not contain them).
"""

from ganet_tf.native.library import available, disabled, unwelcome, usable
from ganet_tf.native.lists import Lists, lists, segments
from ganet_tf.native.operators import (
    gao,
    gcn,
    hgao,
    neighbor_max,
    neighbor_sum,
    segment_max,
    segment_mean,
    segment_softmax,
    segment_sum,
    topk_gao,
)

__all__ = [
    "Lists",
    "available",
    "disabled",
    "gao",
    "gcn",
    "hgao",
    "lists",
    "neighbor_max",
    "neighbor_sum",
    "segment_max",
    "segment_mean",
    "segment_softmax",
    "segment_sum",
    "segments",
    "topk_gao",
    "unwelcome",
    "usable",
]
