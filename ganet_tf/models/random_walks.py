"""Random walks on a graph, all of them at once, for DeepWalk and Planetoid."""

import numpy as np


class RandomWalks:
    """Walks that go to a uniformly drawn neighbour at each step.

    Args:
        edges: array [E, 2], rows (source, target); a walk goes from source to target.
        num_nodes: N.
        allowed: boolean [N], nodes that walks may visit; all by default.

    Example:

    >>> walks = RandomWalks(np.array([[0, 1], [1, 0]]), num_nodes=3)
    >>> walks.draw([0], steps=3, rng=np.random.default_rng(0)).tolist()
    [[0, 1, 0, 1]]
    """

    def __init__(self, edges, num_nodes, allowed=None):
        edges = np.asarray(edges)
        if allowed is not None:
            edges = edges[allowed[edges].all(axis=1)]
        self._targets = edges[np.argsort(edges[:, 0], kind="stable"), 1].astype(np.int32)
        self.degrees = np.bincount(edges[:, 0], minlength=num_nodes)
        self._first = np.cumsum(self.degrees) - self.degrees
        self.starts = np.flatnonzero(self.degrees).astype(np.int32)  # nodes that a walk can leave

    def draw(self, starts, steps, rng):
        """One walk from each of `starts`: int32 [len(starts), steps + 1], -1 after a node without a way out."""
        walks = np.full((len(starts), steps + 1), -1, np.int32)
        walks[:, 0] = starts
        for step in range(steps):
            here, chance = walks[:, step], rng.random(len(starts))
            degree = np.where(here < 0, 0, self.degrees[here])
            on = degree > 0
            chosen = self._first[here[on]] + (chance[on] * degree[on]).astype(np.int64)
            walks[on, step + 1] = self._targets[chosen]
        return walks

    def starts_of(self, number, count, seed):
        """The `count` nodes that walks of batch `number` start from: every node once, in random order, then again."""
        per_round = self.batches_per_round(count)
        order = np.random.default_rng([seed, number // per_round]).permutation(self.starts)
        part = number % per_round
        return order[part * count : (part + 1) * count]

    def batches_per_round(self, count):
        """How many batches of `count` walks it takes to start from every node once."""
        return max(1, -(-len(self.starts) // count))
