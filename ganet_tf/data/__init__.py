"""Data sets of graphs, and the batches that Keras models take."""

from ganet_tf.data.graph import Graph
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.loading import load
from ganet_tf.data.node_dataset import NodeDataset
from ganet_tf.data.registry import names

__all__ = ["Graph", "GraphDataset", "NodeDataset", "load", "names"]
