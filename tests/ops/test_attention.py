"""The attention kernel over tables: block by block equals at once, and big graphs stay small in memory."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.ops import attention
from ganet_tf.ops.neighbor_tables import FOLD_WIDTH, all_neighbors, entry_places, first_neighbors
from ganet_tf.ops.neighborhood import neighborhood
from tests.graphs import SPECIAL, hub


def random_graph(num_nodes=60, num_edges=400, num_features=5, seed=0):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, num_nodes, (num_edges, 2)).astype("int32")
    return tf.constant(rng.normal(size=(num_nodes, num_features))), tf.constant(edges)


@pytest.mark.parametrize("function", ["gao", "hgao"])
def test_blocks_give_the_same_bytes_as_one_piece(function, monkeypatch):
    x, edges = random_graph()

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.gao(x, x, x, edges) if function == "gao" else ops.hgao(x, x, x, x[:, 0], edges, 3)
        return y, tape.gradient(y, x)

    whole = run()
    monkeypatch.setattr(attention, "BLOCK_BYTES", 1000)
    blocks = [run(), tf.function(run)()]
    for other in blocks:
        for a, b in zip(whole, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", SPECIAL)
def test_folded_tables_hold_every_entry_once(name):
    batch = SPECIAL[name]
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    table, places = all_neighbors(nb), entry_places(nb).numpy()
    assert table.columns.numpy().ravel()[places].tolist() == nb.columns.numpy().tolist()
    assert np.repeat(table.rows.numpy(), FOLD_WIDTH)[places].tolist() == nb.rows.numpy().tolist()
    unused = ~table.mask.numpy()
    own = np.broadcast_to(table.rows.numpy()[:, None], unused.shape)
    assert (table.columns.numpy()[unused] == own[unused]).all()


def test_a_hub_does_not_widen_the_tables():
    batch = hub(50_000)
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    entries = int(tf.size(nb.columns))
    assert tf.size(all_neighbors(nb).columns) <= entries + FOLD_WIDTH * batch.num_nodes
    assert first_neighbors(nb, 8).columns.shape == (batch.num_nodes, 8)


def test_nan_in_one_graph_stays_there():
    batch = SPECIAL["several_graphs"]
    x = batch.x.copy()
    x[batch.graph_ids == 0] = np.nan
    x, edges, ids = tf.constant(x), tf.constant(batch.edges), tf.constant(batch.graph_ids)
    outputs = [
        ops.gcn(x, edges),
        ops.gao(x, x, x, edges),
        ops.hgao(x, x, x, tf.abs(x[:, 0]), edges, 2),
        ops.topk_gao(x, x, x, edges, 2),
        ops.sampled_gao(x, x, x, edges),
        ops.cgao(x, x, ids),
    ]
    for y in outputs:
        assert np.isfinite(y.numpy()[batch.graph_ids > 0]).all()
    assert np.isfinite(ops.sort_pooling(x, ids, 4).numpy()[1:]).all()
