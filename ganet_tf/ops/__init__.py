"""The operators as pure functions of tensors, each in the file of its name.

`neighborhood`, `neighbor_tables` and `selection` turn `edges` into what the kernels need, `attention` and `sparse` are
the kernels, `dense` is the paper's [N, N] way, `implementations` chooses between these and the native kernels, `checks`
holds the messages for bad input.
"""

from ganet_tf.ops import checks
from ganet_tf.ops.cgao import cgao
from ganet_tf.ops.chebyshev import chebyshev, largest_eigenvalue
from ganet_tf.ops.checks import debug_checks
from ganet_tf.ops.diff_pool import diff_pool
from ganet_tf.ops.gao import gao
from ganet_tf.ops.gat import gat
from ganet_tf.ops.gcn import gcn
from ganet_tf.ops.hgao import gate, hgao, projection_scores, selected
from ganet_tf.ops.implementations import IMPLEMENTATIONS, WITHOUT_DENSE, check_implementation
from ganet_tf.ops.pooling import max_pooling, mean_pooling, sum_pooling
from ganet_tf.ops.sage import AGGREGATORS, aggregate_neighbors, unit_rows
from ganet_tf.ops.sampled_gao import sampled_gao
from ganet_tf.ops.set2set import set2set
from ganet_tf.ops.sort_pooling import sort_pooling
from ganet_tf.ops.sparse import features_matmul, is_sparse
from ganet_tf.ops.topk_gao import topk_gao

__all__ = [
    "AGGREGATORS",
    "IMPLEMENTATIONS",
    "WITHOUT_DENSE",
    "aggregate_neighbors",
    "cgao",
    "chebyshev",
    "check_implementation",
    "checks",
    "debug_checks",
    "diff_pool",
    "features_matmul",
    "gao",
    "gat",
    "gate",
    "gcn",
    "hgao",
    "is_sparse",
    "largest_eigenvalue",
    "max_pooling",
    "mean_pooling",
    "projection_scores",
    "sampled_gao",
    "selected",
    "set2set",
    "sort_pooling",
    "sum_pooling",
    "topk_gao",
    "unit_rows",
]
