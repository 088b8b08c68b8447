"""Planetoid's unsupervised part: predict which nodes are near a node, by class and by random walks."""

import numpy as np
import tensorflow as tf

from ganet_tf.models.pretraining import Pretraining
from ganet_tf.models.random_walks import RandomWalks


class ContextTraining(Pretraining):
    """SGD on the context loss: first on pairs of labelled nodes of one class, then on pairs from random walks.

        loss = - Σ_(i,c) log softmax_c(e_i G + g)    over all N nodes c

    The pairs of a batch are grouped by i, which changes nothing but the time: the gradient by the scores of i is
    n_i softmax_i - counts_i, with n_i pairs of i.

    Args:
        model: A `Planetoid`.
        dataset: A `NodeDataset`; its training nodes' classes are looked at.
        seed: Decides pairs and walks.
    """

    def __init__(self, model, dataset, seed):
        super().__init__(model, seed)
        plan = model.plan
        self.label_steps, self.steps = plan["label_steps"], plan["label_steps"] + plan["graph_steps"]
        self.dataset = dataset
        # The inductive variant must not see test nodes before it is asked about them.
        allowed = ~dataset.test_mask if model.variant == "I" else None
        self.walks = RandomWalks(dataset.edges, dataset.num_nodes, allowed)
        labelled = dataset.nodes("train")
        self._labelled = labelled[np.argsort(dataset.y[labelled], kind="stable")]  # those of a class side by side
        self._update = tf.function(self._one_update, reduce_retracing=True)

    def step(self, number):
        pairs = self._label_pairs(number) if number < self.label_steps else self._walk_pairs(number)
        rows, counts, places, weights = grouped(pairs, self.dataset.num_nodes)
        source = self.dataset.x[rows] if self.model.variant == "I" else rows
        return self._update(tf.constant(source), *map(tf.constant, (counts, places, weights)))

    def beside(self, epoch):
        """A step on walks with a share `joint` of the epochs."""
        rng = np.random.default_rng([self.seed, epoch, 2])
        return (self.steps + epoch,) if rng.random() < self.model.plan["joint"] else ()

    def _label_pairs(self, number):
        """Random labelled nodes, each with one of the same class."""
        rng, classes = np.random.default_rng([self.seed, number, 3]), self.dataset.y[self._labelled]
        first = rng.integers(len(classes), size=self.model.plan["label_batch"])
        begin, end = (np.searchsorted(classes, classes[first], side) for side in ("left", "right"))
        return self._labelled[np.stack([first, rng.integers(begin, end)], axis=1)]

    def _walk_pairs(self, number):
        plan = self.model.plan
        starts = self.walks.starts_of(number - self.label_steps, plan["graph_batch"], self.seed)
        rng = np.random.default_rng([self.seed, number, 4])
        return window_pairs(self.walks.draw(starts, self.model.walk_length, rng), self.model.window)

    def _one_update(self, source, counts, places, weights):
        """One SGD step; `source` is what the vectors of R nodes come from: their numbers, or their features."""
        model, rate = self.model, self.model.plan["context_rate"]
        kernel, bias = model.context.kernel, model.context.bias
        vectors = model.context_vectors(source)
        log_shares = tf.nn.log_softmax(vectors @ kernel + bias)  # [R, N]
        d_scores = counts[:, None] * tf.exp(log_shares) - tf.scatter_nd(places, weights, tf.shape(log_shares))
        d_vectors = tf.matmul(d_scores, kernel, transpose_b=True)
        d_kernel = tf.matmul(vectors, d_scores, transpose_a=True)
        model.move_vectors(source, vectors, -rate * d_vectors)
        kernel.assign_sub(rate * d_kernel)
        bias.assign_sub(rate * tf.reduce_sum(d_scores, axis=0))
        return -tf.reduce_sum(weights * tf.gather_nd(log_shares, places)) / tf.maximum(tf.reduce_sum(weights), 1)


def window_pairs(walks, window):
    """All (node, context) within `window` places on a walk, a node with itself included: [P, 2]."""
    length = walks.shape[1]
    pairs = []
    for shift in range(-window, window + 1):
        first = walks[:, max(0, -shift) : length - max(0, shift)]
        second = walks[:, max(0, shift) : length - max(0, -shift)]
        pairs.append(np.stack([first.ravel(), second.ravel()], axis=1))
    pairs = np.concatenate(pairs)
    return pairs[(pairs >= 0).all(axis=1)]


def grouped(pairs, num_nodes):
    """Pairs [P, 2] by their first node.

    Returns:
        The nodes int32 [R], the number of pairs of each float32 [R], and, for every pair that occurs, its place
        (row of the node, context) int32 [D, 2] and how often it does float32 [D].
    """
    keys, times = np.unique(pairs[:, 0].astype(np.int64) * num_nodes + pairs[:, 1], return_counts=True)
    rows, place = np.unique(keys // num_nodes, return_inverse=True)
    counts = np.bincount(place, times, minlength=len(rows)).astype(np.float32)
    places = np.stack([place, keys % num_nodes], axis=1).astype(np.int32)
    return rows.astype(np.int32), counts, places, times.astype(np.float32)
