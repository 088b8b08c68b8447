"""Bugs in the operators: each against the layer's NumPy oracle or a graph made for it."""

from tests.mutants.run import Mutant

OPS, LAYERS = "ganet_tf/ops", "tests/layers"

MUTANTS = [
    Mutant(
        "eq. (4) without the absolute value",
        f"{OPS}/hgao.py",
        "tf.abs(tf.linalg.matvec(x, projection))",
        "tf.linalg.matvec(x, projection)",
        f"{LAYERS}/test_hgao.py::TestHGAO::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "eq. (4) without the norm of p",
        f"{OPS}/hgao.py",
        " / tf.norm(safe)",
        "",
        f"{LAYERS}/test_hgao.py::TestHGAO::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "NaN at a zero projection",
        f"{OPS}/hgao.py",
        "tf.norm(safe)",
        "tf.norm(projection)",
        f"{LAYERS}/test_hgao.py::test_zero_projection_gives_no_nan",
    ),
    Mutant(
        "hGAO shows its choice in another order",
        f"{OPS}/hgao.py",
        'direction="DESCENDING", stable=True',
        'direction="ASCENDING", stable=True',
        f"{LAYERS}/test_hgao.py::TestSelected::test_says_what_the_layer_attends_to",
    ),
    Mutant(
        "nodes with k + 1 neighbours keep all of them unranked",
        f"{OPS}/selection.py",
        "nb.degrees > k,",
        "nb.degrees > k + 1,",
        "tests/ops/test_selection.py::test_degrees_of_all_sizes_at_once",
    ),
    Mutant(
        "padding ranks above negative scores",
        f"{OPS}/selection.py",
        'float("-inf")',
        "0.0",
        "tests/ops/test_selection.py::test_negative_scores_rank_above_padding",
    ),
    Mutant(
        "cGAO's softmax over columns",
        f"{OPS}/cgao.py",
        "return tf.nn.softmax(scores)",
        "return tf.nn.softmax(scores, axis=-2)",
        f"{LAYERS}/test_cgao.py::TestCGAO::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "cGAO scaled by all nodes of the batch",
        f"{OPS}/cgao.py",
        "tf.cast(layout.sizes, keys.dtype)[:, None, None]",
        "tf.cast(tf.shape(keys)[0], keys.dtype)",
        f"{LAYERS}/test_cgao.py::test_scale",
    ),
    Mutant(
        "GCN normalized by rows instead of both sides",
        f"{OPS}/gcn.py",
        "return tf.math.rsqrt(degrees), tf.math.rsqrt(degrees)",
        "return 1.0, 1.0 / degrees",
        f"{LAYERS}/test_gcn.py::TestGCN::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "GCN's gradient along the edges instead of against them",
        f"{OPS}/gcn.py",
        "graph.adjacency(h.dtype, transposed=True)",
        "graph.adjacency(h.dtype)",
        f"{LAYERS}/test_gcn.py::TestGCN::test_gradients_on_drawn_graphs",
    ),
    Mutant(
        "sort pooling takes the smallest",
        f"{OPS}/sort_pooling.py",
        'direction="DESCENDING"',
        'direction="ASCENDING"',
        f"{LAYERS}/test_sort_pooling.py::TestSortPooling::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "sort pooling sends a gradient to nodes that it left out",
        f"{OPS}/sort_pooling.py",
        "tf.where(rank < k, layout.graph_ids * k + rank, -1)",
        "layout.graph_ids * k + tf.minimum(rank, k - 1)",
        f"{LAYERS}/test_sort_pooling.py::TestSortPooling::test_gradients_on_drawn_graphs",
    ),
    Mutant(
        "a NaN in one graph changes what sort pooling takes of another",
        f"{OPS}/sort_pooling.py",
        "tf.argsort(rankable(tf.stop_gradient(x[:, -1])), direction",
        "tf.argsort(tf.stop_gradient(x[:, -1]), direction",
        f"{LAYERS}/test_sort_pooling.py::test_nan_comes_last_and_stays_in_its_graph",
    ),
    Mutant(
        "an empty graph divides by zero",
        f"{OPS}/sparse.py",
        "    shape = tf.maximum(shape, 1)\n",
        "",
        f"{LAYERS}/test_gcn.py::TestGCN::test_no_nodes",
    ),
    Mutant(
        "sparse features are read in the order that they come in",
        f"{OPS}/sparse.py",
        "in_order = tf.reduce_all(rows[1:] >= rows[:-1])",
        "in_order = tf.constant(True)",
        "tests/ops/test_sparse.py::test_entries_may_come_in_any_order",
    ),
    Mutant(
        "a compiled step takes edges to nodes that are not there",
        f"{OPS}/checks.py",
        "    return [_assertion((largest < limit) | tf.equal(tf.size(edges), 0), found)]\n",
        "    return []\n",
        f"{LAYERS}/test_hgao.py::TestHGAO::test_edges_out_of_range_in_a_compiled_step",
    ),
    Mutant(
        "a compiled step takes weights below 0",
        f"{OPS}/checks.py",
        "    return [_assertion(tf.reduce_all(fine), found)]\n",
        "    return []\n",
        f"{LAYERS}/test_switches.py::TestEdgeWeights::test_bad_weights_in_a_compiled_step",
    ),
]
