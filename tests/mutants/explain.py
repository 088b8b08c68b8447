"""Bugs in looking inside, in the explorer's page, and in the models for LiteRT."""

from tests.mutants.run import Mutant

ATTENTION = "ganet_tf/explain/attention.py"
EXPLORER = "ganet_tf/explain/explorer.py"
LITERT = "ganet_tf/litert.py"

MUTANTS = [
    Mutant(
        "ties go to the larger index",
        ATTENTION,
        "np.lexsort((self.columns, -self.ranks, self.rows))",
        "np.lexsort((-self.columns, -self.ranks, self.rows))",
        "tests/explain/test_attention.py::test_ties_go_to_the_smaller_index",
    ),
    Mutant(
        "keys without the gate",
        ATTENTION,
        "layer.project_gated(x, layer.gates(x)[1])",
        "layer.project(x)",
        "tests/explain/test_attention.py::test_the_weights_give_the_layers_output",
    ),
    Mutant(
        "the page has the candidates of one node too few",
        EXPLORER,
        "for node in nodes])",
        "for node in nodes[1:]])",
        "tests/explain/test_explorer.py::test_candidates_probabilities_and_other_k",
    ),
    Mutant(
        "k stays changed after the page was made",
        EXPLORER,
        "layer.k = before",
        "layer.k = layer.k",
        "tests/explain/test_explorer.py::test_candidates_probabilities_and_other_k",
    ),
    Mutant(
        "edges in the other direction on LiteRT",
        LITERT,
        "tf.reverse(edges, axis=[1])",
        "edges",
        "tests/test_litert.py::test_padding_edges_are_self_loops_and_count_once",
    ),
    Mutant(
        "padded nodes are pooled",
        LITERT,
        "tf.where(graph.mask > 0, x[:, -1], NOTHING)",
        "x[:, -1]",
        "tests/test_litert.py::test_graph_classifiers",
    ),
    Mutant(
        "padded nodes are counted in a mean",
        LITERT,
        "count = tf.reduce_sum(graph.mask)",
        "count = float(graph.mask.shape[0])",
        "tests/test_litert.py::test_graph_classifiers",
    ),
]
