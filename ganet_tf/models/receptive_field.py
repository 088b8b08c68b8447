"""How far a model looks, for `NodeDataset.sampled_batches`."""

from ganet_tf import layers
from ganet_tf.models.layerwise import layer_sequence, parts


def receptive_hops(model):
    """How many hops around a node decide its output: so many, with all neighbours, make a sample exact.

    Every layer that looks at neighbours adds one: 2 for the two GCNs of a GANet, and for each of its modules 1 for the
    GCN and 1 for the operator, unless that is `"cgao"` or `"linear"`. One more is for `normalization="sym"`: it divides
    by the degrees of the neighbours, too, and a node has its true degree only where its neighbours are in the sample.

    Args:
        model: A `NodeClassifier`, `GANet`, `GCN` or `GAT`.

    Returns:
        The number of hops. With cGAO, which looks at the whole graph, the number for all else.

    Raises:
        TypeError: For a model of another kind.

    Example:

    >>> receptive_hops(NodeClassifier(num_classes=7, operator="hgao", num_modules=2))
    7
    """
    looking = [layer for layer in parts(layer_sequence(model)) if getattr(layer, "needs_edges", True)]
    first = looking[0]
    return len(looking) + (isinstance(first, layers.GCN) and first.normalization == "sym")
