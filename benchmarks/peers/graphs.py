"""The graphs that all sides run on, written once to a file that each of them reads."""

from dataclasses import dataclass

import numpy as np

FEATURES = 48
POWER = 2.2  # degrees fall as degree^-POWER, as in many real networks


@dataclass(frozen=True)
class GraphSpec:
    """What a graph is made from.

    Args:
        nodes: number of nodes.
        degree: mean degree, the hub's own edges not counted.
        hub: degree of one extra-large node; 0 gives a random graph of nearly equal degrees, any other number a
            power-law graph whose largest node has this degree.
    """

    nodes: int
    degree: int
    hub: int = 0

    @property
    def name(self):
        """As tables name it."""
        if self.hub:
            return f"power law, {self.nodes:,} nodes, degree {self.degree}, hub of {self.hub:,}"
        return f"{self.nodes:,} nodes, degree {self.degree}"

    @property
    def key(self):
        """As files name it."""
        return f"{'power' if self.hub else 'random'}-{self.nodes}-{self.degree}"

    def edges(self):
        """int32 [E, 2] (source, target), both directions, unique, no self-loops, sorted by (target, source)."""
        rng = np.random.default_rng([self.nodes, self.degree, self.hub])
        pairs = round(self.nodes * self.degree / 2)
        if not self.hub:
            return both_directions(draw_pairs(rng, self.nodes, pairs), self.nodes)
        keys = draw_pairs(rng, self.nodes, pairs, power_law_weights(self.nodes))
        others = rng.choice(np.arange(1, self.nodes, dtype=np.int64), self.hub, replace=False)
        keys = keys[keys >= self.nodes]  # node 0 is the hub: its edges are these and no others
        return both_directions(np.concatenate([keys, others]), self.nodes)

    def features(self):
        """Standard normal features [nodes, 48] float32."""
        rng = np.random.default_rng([self.nodes, FEATURES])
        return rng.standard_normal((self.nodes, FEATURES), dtype=np.float32)

    def write(self, folder):
        """Writes x and edges to an .npz file; returns (path, number of directed edges)."""
        path, edges = folder / f"{self.key}.npz", self.edges()
        np.savez(path, x=self.features(), edges=edges)
        return path, len(edges)


def power_law_weights(nodes):
    """Chung-Lu weights: the expected degrees of nodes 0, 1, ... fall as a power law; the first is the hub."""
    weights = (np.arange(nodes) + 10.0) ** (-1 / (POWER - 1))
    return np.cumsum(weights / weights.sum())


def draw_pairs(rng, nodes, pairs, cumulative=None):
    """Different unordered pairs i < j as keys i * nodes + j, uniformly or by cumulative weights."""
    keys = np.empty(0, np.int64)
    while len(keys) < pairs:
        shape = (2, int(1.1 * (pairs - len(keys))) + 16)
        if cumulative is None:
            ends = rng.integers(0, nodes, size=shape)
        else:
            ends = np.minimum(np.searchsorted(cumulative, rng.random(shape)), nodes - 1)
        low, high = ends.min(0), ends.max(0)
        keys = np.unique(np.concatenate([keys, (low * nodes + high)[low != high]]))
    return rng.permutation(keys)[:pairs]


def both_directions(keys, nodes):
    """Keys of pairs into directed edges, sorted by (target, source)."""
    low, high = keys // nodes, keys % nodes
    both = np.concatenate([low * nodes + high, high * nodes + low])
    both.sort()
    return np.stack([both % nodes, both // nodes], axis=1).astype(np.int32)
