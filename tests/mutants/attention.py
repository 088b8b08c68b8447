"""Bugs in the attention statistics: entropies, choices, and what is said of them."""

from tests.mutants.run import Mutant

MEASURES = "experiments/attention/measures.py"
TESTS = "tests/experiments/attention"

MUTANTS = [
    Mutant(
        "entropy not divided by its largest value",
        MEASURES,
        "entropies[several] / np.log(counts[several])",
        "entropies[several]",
        f"{TESTS}/test_measures.py::test_entropy_is_1_for_equal_weights_and_0_for_one_of_several",
    ),
    Mutant(
        "entropy of the first head alone",
        MEASURES,
        ".mean(axis=0)\n    several",
        "[0]\n    several",
        f"{TESTS}/test_measures.py::test_entropy_against_a_loop",
    ),
    Mutant(
        "softmax that overflows",
        "ganet_tf/explain/attention.py",
        "scores - np.maximum.reduceat(scores, starts)[rows]",
        "scores",
        f"{TESTS}/test_measures.py::test_softmax_of_each_row",
    ),
    Mutant(
        "a node is no candidate of itself",
        MEASURES,
        "np.concatenate([edges[:, 1], nodes]), np.concatenate([edges[:, 0], nodes])",
        "edges[:, 1], edges[:, 0]",
        f"{TESTS}/test_measures.py::test_candidates_are_neighbours_and_the_node_itself",
    ),
    Mutant(
        "nodes with just k candidates count as active",
        MEASURES,
        "active = candidates.sizes > k",
        "active = candidates.sizes >= k",
        f"{TESTS}/test_measures.py::test_only_nodes_with_more_than_k_candidates_count",
    ),
    Mutant(
        "equal degrees all count as chosen by degree",
        MEASURES,
        "degrees > last, degrees == last",
        "degrees >= last, degrees == last",
        f"{TESTS}/test_measures.py::test_equal_degrees_share_what_is_left",
    ),
    Mutant(
        "ties between chosen nodes count",
        MEASURES,
        "np.where(chosen, -np.inf, scores)",
        "scores",
        f"{TESTS}/test_measures.py::test_a_tie_is_somebody_left_out_with_the_same_score",
    ),
    Mutant(
        "selection counted without the node itself",
        MEASURES,
        "int((degrees + 1 > k).sum())",
        "int((degrees > k).sum())",
        f"{TESTS}/test_selection.py::test_counts_by_hand",
    ),
    Mutant(
        "one module that is uniform is enough",
        "experiments/report/sections/attention.py",
        "min(entropies) > UNIFORM",
        "max(entropies) > UNIFORM",
        "tests/experiments/report/test_attention_section.py::test_uniform_is_uniform_in_every_module",
    ),
    Mutant(
        "TopKGAO said to attend to one more",
        "experiments/attention/layers.py",
        "first < layer.k",
        "first <= layer.k",
        f"{TESTS}/test_layers.py",
    ),
    Mutant(
        "GAT's scores without their slope",
        "experiments/attention/layers.py",
        "np.where(scores > 0, scores, layer.negative_slope * scores)",
        "scores",
        f"{TESTS}/test_layers.py",
    ),
    Mutant(
        "cGAO's scores without their scale",
        "experiments/attention/layers.py",
        "scores *= np.broadcast_to(factor, sizes.shape)[:, None, None]\n",
        "pass\n",
        f"{TESTS}/test_layers.py",
    ),
]
