"""Random walks follow edges, visit nodes as often as they should, and start everywhere."""

import numpy as np

from ganet_tf.models.random_walks import RandomWalks
from tests.graphs import both_ways

PATH = both_ways([[0, 1], [1, 2], [2, 3]])


def rng():
    return np.random.default_rng(0)


def test_every_step_is_an_edge():
    walks = RandomWalks(PATH, 4).draw([0, 3, 1], steps=20, rng=rng())
    assert walks.shape == (3, 21)
    assert walks[:, 0].tolist() == [0, 3, 1]
    assert (np.abs(np.diff(walks, axis=1)) == 1).all()


def test_long_walks_visit_a_node_by_its_degree():
    edges = both_ways([[0, 1], [0, 2], [0, 3], [1, 2]])  # a triangle with a tail: degrees 3, 2, 2, 1
    walks = RandomWalks(edges, 4).draw(np.repeat(np.arange(4), 50), steps=400, rng=rng())
    shares = np.bincount(walks[:, 100:].ravel()) / walks[:, 100:].size
    np.testing.assert_allclose(shares, np.array([3, 2, 2, 1]) / 8, atol=0.01)


def test_a_walk_ends_where_there_is_no_way_out():
    walks = RandomWalks(np.array([[0, 1], [1, 2]]), 3).draw([0, 2], steps=4, rng=rng())
    assert walks.tolist() == [[0, 1, 2, -1, -1], [2, -1, -1, -1, -1]]


def test_only_allowed_nodes_are_visited():
    walks = RandomWalks(PATH, 4, allowed=np.array([True, True, True, False]))
    assert walks.starts.tolist() == [0, 1, 2]
    assert walks.draw([2] * 50, steps=9, rng=rng()).max() == 2


def test_starts_are_every_node_once_in_each_round_and_never_a_lone_one():
    edges = both_ways(np.stack([np.arange(9), np.arange(1, 10)], axis=1))
    walks = RandomWalks(edges, 12)  # 10 and 11 are alone
    assert walks.batches_per_round(4) == 3
    rounds = [np.concatenate([walks.starts_of(3 * r + b, 4, seed=5) for b in range(3)]) for r in range(2)]
    assert all(sorted(nodes) == list(range(10)) for nodes in rounds)
    assert rounds[0].tolist() != rounds[1].tolist()
    assert walks.starts_of(1, 4, seed=5).tolist() == rounds[0][4:8].tolist()
