"""Simulated graphs, made from a seed in vectorised NumPy: a million nodes take seconds."""

import numpy as np

from ganet_tf.errors import ConfigError


def simulated_edges(nodes: int, degree: float, seed: int = 0) -> np.ndarray:
    """A random undirected graph with a given mean degree (Erdős-Rényi with a fixed number of edges).

    Args:
        nodes: number of nodes.
        degree: mean number of neighbours, the node itself not counted.
        seed: any integer; the same seed gives the same graph.

    Returns:
        int32 array [E, 2] of (source, target), both directions of every edge, unique, without self-loops,
        sorted by (target, source).

    Raises:
        ConfigError: if no simple graph on so many nodes has that degree.
    """
    if nodes < 1 or not 0 <= degree <= nodes - 1:
        raise ConfigError(
            f"no simple graph has {nodes} nodes of mean degree {degree}: expected at least one node and a degree "
            f"from 0 to nodes - 1 = {max(nodes - 1, 0)}; use more nodes or a smaller degree."
        )
    pairs = round(nodes * degree / 2)
    keys = _distinct_pairs(nodes, pairs, np.random.default_rng([seed, nodes]))
    low, high = keys // nodes, keys % nodes
    both = np.concatenate([low * nodes + high, high * nodes + low])
    both.sort()  # key = target * nodes + source, so this is the order (target, source)
    return np.stack([both % nodes, both // nodes], axis=1).astype(np.int32)


def simulated_features(nodes: int, features: int, seed: int = 0) -> np.ndarray:
    """Standard normal node features [nodes, features], float32."""
    return np.random.default_rng([seed, nodes, features]).standard_normal((nodes, features), dtype=np.float32)


def _distinct_pairs(nodes, pairs, rng):
    """Draws `pairs` different unordered pairs i < j, each as the key i * nodes + j."""
    if pairs > nodes * (nodes - 1) // 4:
        # Dense: drawing with repetition would hardly ever finish, so choose among all pairs.
        low, high = np.triu_indices(nodes, 1)
        return rng.permutation(low.astype(np.int64) * nodes + high)[:pairs]
    keys = np.empty(0, np.int64)
    while len(keys) < pairs:
        ends = rng.integers(0, nodes, size=(2, int(1.1 * (pairs - len(keys))) + 16))
        low, high = ends.min(0), ends.max(0)
        keys = np.unique(np.concatenate([keys, (low * nodes + high)[low != high]]))
    return rng.permutation(keys)[:pairs]
