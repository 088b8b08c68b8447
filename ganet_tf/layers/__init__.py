"""The paper's operators as Keras layers: layer(x, edges, graph_ids=None, edge_weights=None)."""

from ganet_tf.layers.cgao import CGAO
from ganet_tf.layers.cheb_conv import ChebConv
from ganet_tf.layers.dense_sage_conv import DenseSAGEConv
from ganet_tf.layers.diff_pool import DiffPool
from ganet_tf.layers.dropout import Dropout
from ganet_tf.layers.gam import GAM
from ganet_tf.layers.gao import GAO
from ganet_tf.layers.gat import GAT
from ganet_tf.layers.gcn import GCN
from ganet_tf.layers.hgao import HGAO, Selection
from ganet_tf.layers.linear import Linear
from ganet_tf.layers.operators import get_operator, operator_names
from ganet_tf.layers.pooling import MaxPooling, MeanPooling, SumPooling
from ganet_tf.layers.sage_conv import SAGEConv
from ganet_tf.layers.sampled_gao import SampledGAO
from ganet_tf.layers.set2set import Set2Set
from ganet_tf.layers.sort_pooling import SortPooling
from ganet_tf.layers.topk_gao import TopKGAO

__all__ = [
    "CGAO",
    "GAM",
    "GAO",
    "GAT",
    "GCN",
    "HGAO",
    "ChebConv",
    "DenseSAGEConv",
    "DiffPool",
    "Dropout",
    "Linear",
    "MaxPooling",
    "MeanPooling",
    "SAGEConv",
    "SampledGAO",
    "Selection",
    "Set2Set",
    "SortPooling",
    "SumPooling",
    "TopKGAO",
    "get_operator",
    "operator_names",
]
