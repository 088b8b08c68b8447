"""The paper's networks and its baselines as Keras models: model({"x": ..., "edges": ..., ...})."""

from ganet_tf.models.chebyshev import Chebyshev
from ganet_tf.models.deep_walk import DeepWalk
from ganet_tf.models.dgcnn import DGCNN
from ganet_tf.models.dgcnn_head import DGCNNHead
from ganet_tf.models.diff_pool_net import DiffPoolNet
from ganet_tf.models.ganet import GANet
from ganet_tf.models.gat import GAT
from ganet_tf.models.gcn import GCN
from ganet_tf.models.graph_classifier import GraphClassifier
from ganet_tf.models.graph_sage import GraphSAGE
from ganet_tf.models.layerwise import predict_layerwise, receptive_hops
from ganet_tf.models.mean_teacher import MeanTeacher
from ganet_tf.models.node_classifier import NodeClassifier
from ganet_tf.models.planetoid import Planetoid
from ganet_tf.models.pretraining import Pretraining
from ganet_tf.models.pscn import PSCN
from ganet_tf.models.set2set_net import Set2SetNet

__all__ = [
    "DGCNN",
    "GAT",
    "GCN",
    "PSCN",
    "Chebyshev",
    "DGCNNHead",
    "DeepWalk",
    "DiffPoolNet",
    "GANet",
    "GraphClassifier",
    "GraphSAGE",
    "MeanTeacher",
    "NodeClassifier",
    "Planetoid",
    "Pretraining",
    "Set2SetNet",
    "predict_layerwise",
    "receptive_hops",
]
