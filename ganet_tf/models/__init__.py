"""The paper's networks and its baselines as Keras models: model({"x": ..., "edges": ..., ...})."""

from ganet_tf.models.dgcnn import DGCNN
from ganet_tf.models.dgcnn_head import DGCNNHead
from ganet_tf.models.ganet import GANet
from ganet_tf.models.gat import GAT
from ganet_tf.models.gcn import GCN
from ganet_tf.models.graph_classifier import GraphClassifier
from ganet_tf.models.layerwise import predict_layerwise, receptive_hops
from ganet_tf.models.node_classifier import NodeClassifier

__all__ = [
    "DGCNN",
    "GAT",
    "GCN",
    "DGCNNHead",
    "GANet",
    "GraphClassifier",
    "NodeClassifier",
    "predict_layerwise",
    "receptive_hops",
]
