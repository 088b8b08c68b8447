"""Skip-gram with negative sampling on random walks, and the logistic regression on what it learns."""

import keras
import numpy as np
import tensorflow as tf

from ganet_tf.models.pretraining import Pretraining
from ganet_tf.models.random_walks import RandomWalks
from ganet_tf.ops import sparse

WALKS_AT_ONCE = 256  # in a step; of small graphs a tenth of the nodes, so that there are enough steps
NEGATIVES_AT_ONCE = 32  # drawn for a walk, and shared by its nodes
LAST_RATE = 0.004  # of the first one: word2vec's 0.025 to 0.0001


class SkipGram(Pretraining):
    """DeepWalk's first part: vectors u that tell which nodes c are near a node i on walks.

        loss = - Σ_(i,c) [ log σ(u_i · v_c) + K E_{n ~ P} log σ(- u_i · v_n) ],    P(n) ~ visits^¾

    The pairs are those within a window of each other on a walk, its size drawn from 1 to `window` for each place as
    word2vec does. A walk's pairs are one product of matrices; the negatives of a walk are drawn once for all of its
    places and weighed so that the expectation is that of K for each pair.

    Args:
        model: A `DeepWalk`.
        dataset: A `NodeDataset`.
        seed: Decides walks, windows and negatives.
    """

    def __init__(self, model, dataset, seed):
        super().__init__(model, seed)
        self.walks = RandomWalks(dataset.edges, dataset.num_nodes)
        self.at_once = min(WALKS_AT_ONCE, max(4, dataset.num_nodes // 10))
        self.per_round = self.walks.batches_per_round(self.at_once)
        self.corpus = model.walks * self.per_round  # batches of walks, gone through `passes` times
        self.steps = model.passes * self.corpus if len(self.walks.starts) else 0
        rate = keras.optimizers.schedules.PolynomialDecay(
            model.learning_rate, max(self.steps, 1), LAST_RATE * model.learning_rate
        )
        self.optimizer = keras.optimizers.Adam(rate)
        self.tables = [model.embedding.embeddings, model.context.embeddings]
        self.optimizer.build(self.tables)
        self._noise = tf.constant(np.cumsum(self._noise_shares()), tf.float32)
        self._update = tf.function(self._one_update, reduce_retracing=True)

    @property
    def variables(self):
        return [*super().variables, *self.optimizer.variables]

    def step(self, number):
        walks = self._batch(number % self.corpus)
        return self._update(tf.constant(walks), tf.constant([self.seed, number], tf.int32))

    def _batch(self, number):
        starts = self.walks.starts_of(number, self.at_once, self.seed)
        rng = np.random.default_rng([self.seed, number, 1])
        return self.walks.draw(starts, self.model.walk_length - 1, rng)

    def _noise_shares(self):
        """P, from one walk of each node."""
        visits = np.zeros(self.model.num_nodes)
        for number in range(self.per_round if self.steps else 0):
            walks = self._batch(number)
            visits += np.bincount(walks[walks >= 0], minlength=len(visits))
        return visits**0.75 / max(np.sum(visits**0.75), 1)

    def _one_update(self, walks, seed):
        places, model = tf.reshape(tf.maximum(walks, 0), [-1]), self.model
        chances = tf.random.stateless_uniform([tf.shape(walks)[0], NEGATIVES_AT_ONCE], seed)
        noise = tf.minimum(tf.searchsorted(self._noise, tf.reshape(chances, [-1])), model.num_nodes - 1)
        u, v = (table.value for table in self.tables)
        parts = [tf.gather(u, places), tf.gather(v, places), tf.gather(v, noise)]
        near = near_on_walks(walks, model.window, seed + 1)
        with tf.GradientTape() as tape:
            tape.watch(parts)
            loss = skip_gram_loss(*parts, near, model.negatives)
        d_u, d_v, d_noise = tape.gradient(loss, parts)
        gradients = [summed(d_u, places, model.num_nodes)]
        gradients += [summed(tf.concat([d_v, d_noise], 0), tf.concat([places, noise], 0), model.num_nodes)]
        self.optimizer.apply(gradients, self.tables)
        return loss / tf.maximum(tf.reduce_sum(near), 1)


def near_on_walks(walks, window, seed):
    """[W, L, L]: 1 where the place j is within the window of place i of the same walk, and is not i."""
    length = walks.shape[1]
    sizes = tf.random.stateless_uniform(tf.shape(walks), seed, 1, window + 1, tf.int32)
    distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    visited = walks >= 0
    near = (distance > 0) & (distance <= sizes[:, :, None]) & visited[:, :, None] & visited[:, None, :]
    return tf.cast(near, tf.float32)


def skip_gram_loss(u, v, noise, near, negatives):
    """The sum over the pairs in `near` [W, L, L] of what `SkipGram` says; u, v [W·L, d], noise [W·M, d]."""
    shape = tf.shape(near)
    u, v, noise = (tf.reshape(rows, [shape[0], -1, u.shape[1]]) for rows in (u, v, noise))
    found = near * tf.nn.softplus(-tf.matmul(u, v, transpose_b=True))
    not_found = tf.nn.softplus(tf.matmul(u, noise, transpose_b=True))  # [W, L, M]
    pairs = tf.reduce_sum(near, axis=2)
    share = negatives / tf.cast(tf.shape(noise)[1], tf.float32)
    return tf.reduce_sum(found) + share * tf.reduce_sum(pairs * tf.reduce_sum(not_found, axis=2))


def summed(rows, nodes, num_nodes):
    """The sum of the rows [M, d] of each node: [N, d], as a CSR product, in the same order every time."""
    order = tf.argsort(nodes, stable=True)
    shape = tf.cast(tf.stack([num_nodes, tf.size(nodes)]), tf.int64)
    places = sparse.indices(tf.gather(nodes, order), order)
    matrix = sparse.csr_matrix(places, tf.ones_like(order, rows.dtype), shape)
    return sparse.matmul(matrix, rows, num_nodes)


def logistic_regression(x, y, num_classes, strength):
    """Multinomial logistic regression to convergence.

    Minimises ½ ‖W‖² + C Σ_i cross-entropy(softmax(x_i W + b), y_i), as scikit-learn does; b is free.

    Args:
        x: [n, d].
        y: [n] classes.
        num_classes: Number of classes.
        strength: C.

    Returns:
        W [d, num_classes] and b [num_classes], float32.
    """
    from scipy.optimize import minimize  # here, because it is slow to import

    x = np.concatenate([x, np.ones((len(x), 1))], axis=1).astype(np.float64)
    target = np.eye(num_classes)[y]

    def loss(flat):
        theta = flat.reshape(-1, num_classes)
        scores = x @ theta
        scores = scores - scores.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(scores).sum(axis=1, keepdims=True))
        free = np.concatenate([theta[:-1], np.zeros((1, num_classes))])
        gradient = strength * (x.T @ (np.exp(scores - log_sum) - target)) + free
        return 0.5 * np.sum(free**2) - strength * np.sum(target * (scores - log_sum)), gradient.ravel()

    start = np.zeros(x.shape[1] * num_classes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "gtol": 1e-6, "ftol": 1e-12})
    theta = found.x.reshape(-1, num_classes).astype(np.float32)
    return theta[:-1], theta[-1]
