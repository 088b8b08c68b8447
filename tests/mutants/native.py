"""Bugs in the native kernels, which are built with each of them, and in the way to them."""

from tests.mutants.run import Mutant

LIBRARY, TESTS = "ganet_tf/native/library.py", "tests/native/test_safety.py"

KERNELS, LISTS, OPS, REMEMBERED = (
    f"ganet_tf/native/src/{name}" for name in ("kernels.inc", "lists.h", "ops.cc", "remembered.h")
)
WAYS = "ganet_tf/ops/implementations.py"
OPERATORS, SAFETY = "tests/native/test_operators.py", "tests/native/test_safety.py"

MUTANTS = [
    Mutant(
        "equal scores go to the larger index",
        KERNELS,
        "const bool tie = (keys[e] == limit.key) & (ties > 0);",
        "const bool tie = (keys[e] == limit.key) & (e >= n - ties);",
        f"{OPERATORS}::test_equal_scores_of_pairs_go_to_the_smaller_index",
    ),
    Mutant(
        "equal scores go to the larger index in short rows",
        KERNELS,
        "rank -= keys[e] >= mine;",
        "rank -= keys[e] > mine;",
        f"{OPERATORS}::test_the_best_are_chosen_whatever_the_length_of_a_row",
    ),
    Mutant(
        "a graph of the same size gets another's lists",
        REMEMBERED,
        "if (!same_bytes(graph->edges.data(), source.edges, source.edge_bytes)) continue;",
        "",
        "tests/native/test_remembered.py::test_another_edge_anywhere_is_noticed",
    ),
    Mutant(
        "edges with other weights get the weights of before",
        REMEMBERED,
        "if (!same_bytes(graph->weights.data(), source.weights, source.weight_bytes)) continue;",
        "",
        "tests/native/test_remembered.py::test_numbers_of_nodes_weights_and_types_are_told_apart",
    ),
    Mutant(
        "undirected lists name their own places",
        LISTS,
        "places[there] = e;",
        "places[there] = there;",
        "tests/native/test_lists.py::test_transposed_lists_name_the_same_entries",
    ),
    Mutant(
        "the softmax's gradient without its mean",
        KERNELS,
        "T d_score = alpha * (mask * d_alpha - delta[row * a.heads + h]);",
        "T d_score = alpha * (mask * d_alpha);",
        f"{OPERATORS}::test_gao_is_the_sparse_one",
    ),
    Mutant(
        "the first weight of a repeated edge is all of it",
        LISTS,
        "          weight += weights[same->edge];",
        "          weight += 0;",
        "tests/native/test_lists.py::test_weights_stay_with_their_edges",
    ),
    Mutant(
        "an edge from beyond the last node is taken",
        LISTS,
        "good &= (static_cast<Unsigned>(s) < limit) & (static_cast<Unsigned>(t) < limit);",
        "good &= (static_cast<Unsigned>(s) <= limit) & (static_cast<Unsigned>(t) <= limit);",
        f"{SAFETY}::test_an_edge_out_of_range_is_the_layers_sentence",
    ),
    Mutant(
        "the parts of a hub keep largest scores of their own",
        KERNELS,
        "return count == 1 ? T(1) : std::exp(part_largest - largest);",
        "return T(1);",
        f"{OPERATORS}::test_gao_is_the_sparse_one",
    ),
    Mutant(
        "rows that do not fit are read",
        OPS,
        '  keys.with_shape(values.dim(0), queries.dim(1), "keys");\n',
        "",
        f"{SAFETY}::test_shapes_that_do_not_fit_are_sentences",
    ),
    Mutant(
        "weights of edges are in the softmax of hGAO",
        "ganet_tf/native/operators.py",
        "weighted = 0 if ranking == BY_NODE else flags",
        "weighted = flags",
        "tests/layers/test_switches.py::test_native_is_sparse",
        kernels=True,
    ),
    Mutant(
        "native kernels are exported",
        "ganet_tf/native/library.py",
        'if getattr(_state, "disabled", 0) or _saving():',
        "if False:",
        "tests/ops/test_implementations.py::test_what_is_exported_serves_without_native_kernels",
        kernels=True,
    ),
    Mutant(
        "native is taken for auto where it is switched off",
        WAYS,
        'return "native" if native.usable(*tensors) else "sparse"',
        'return "native"',
        "tests/ops/test_implementations.py::test_native_that_is_not_there_says_why_and_auto_does_without",
    ),
    Mutant(
        "GANET_NATIVE=0 is not heard",
        LIBRARY,
        'if os.environ.get(ENVIRONMENT, "1") == "0":',
        "if False:",
        f"{TESTS}::test_the_switch_says_why",
    ),
    Mutant(
        "a reason counts as a yes",
        LIBRARY,
        "    def __bool__(self):\n        return False\n",
        "    def __bool__(self):\n        return True\n",
        f"{TESTS}::test_the_switch_says_why",
    ),
    Mutant(
        "a damaged library is an error instead of a reason",
        LIBRARY,
        "except (OSError, tf.errors.OpError, AttributeError) as error:",
        "except AttributeError as error:",
        f"{TESTS}::test_without_a_library_the_reason_names_the_way_to_one",
    ),
]
