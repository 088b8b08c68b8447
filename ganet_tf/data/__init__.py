"""Data sets of graphs, and the batches that Keras models take.

`load` gets a data set by name or path, from wherever it can be found. A `GraphDataset` holds many graphs with a target
each, a `NodeDataset` one graph whose nodes have targets; both are NumPy arrays, and `batches` makes a `tf.data.Dataset`
of them. Nothing here needs TensorFlow before that.
"""

from ganet_tf.data.features import Encoder
from ganet_tf.data.graph import Graph
from ganet_tf.data.graph_dataset import GraphDataset
from ganet_tf.data.loading import load
from ganet_tf.data.node_dataset import NodeDataset
from ganet_tf.data.receptive_fields import pscn_width, receptive_fields
from ganet_tf.data.registry import names
from ganet_tf.data.targets import Target

__all__ = [
    "Encoder",
    "Graph",
    "GraphDataset",
    "NodeDataset",
    "Target",
    "load",
    "names",
    "pscn_width",
    "receptive_fields",
]
