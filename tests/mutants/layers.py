"""Bugs in the layers, each against the oracle, the contract or a test made for it; more of the operators are in ops."""

from tests.mutants.run import Mutant

LAYERS, OPS, TESTS = "ganet_tf/layers", "ganet_tf/ops", "tests/layers"

MUTANTS = [
    Mutant(
        "dropout is never active",
        f"{LAYERS}/dropout.py",
        "if not training or self.rate == 0:",
        "if True:",
        f"{TESTS}/test_dropout.py::test_drops_in_training_only",
    ),
    Mutant(
        "dropout is active outside of training",
        f"{LAYERS}/dropout.py",
        "if not training or self.rate == 0:",
        "if self.rate == 0:",
        f"{TESTS}/test_dropout.py::test_drops_in_training_only",
    ),
    Mutant(
        "what dropout leaves is not rescaled",
        f"{LAYERS}/dropout.py",
        "LEVELS / (LEVELS - dropped)",
        "1.0",
        f"{TESTS}/test_dropout.py::test_share_and_mean_are_those_that_the_rate_asks_for",
    ),
    Mutant(
        "dropout's random state is not saved",
        f"{LAYERS}/dropout.py",
        '            generator.state.assign(store["seed"])\n',
        "            pass\n",
        f"{TESTS}/test_dropout.py::test_a_loaded_model_goes_on_with_the_same_random_numbers",
    ),
    Mutant(
        "GAM without dropout before its operator",
        f"{LAYERS}/gam.py",
        "self.attention(self.attention_drop(x, training=training), edges",
        "self.attention(x, edges",
        f"{TESTS}/test_gam.py::test_where_the_dropout_is",
    ),
    Mutant(
        "GAM without dropout before its GCN",
        f"{LAYERS}/gam.py",
        "normalization=normalization, dropout=dropout, **shared)",
        "normalization=normalization, **shared)",
        f"{TESTS}/test_gam.py::test_where_the_dropout_is",
    ),
    Mutant(
        "GAM's skip from the operator instead of the input",
        f"{LAYERS}/gam.py",
        '{"module": [x, g],',
        '{"module": [h, g],',
        f"{TESTS}/test_gam.py::TestGAM::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "GAM's k is not the operator's",
        f"{LAYERS}/gam.py",
        "get_operator(self.operator, units, k=k, scale=scale,",
        "get_operator(self.operator, units, k=k + 1, scale=scale,",
        f"{TESTS}/test_gam.py::TestGAM::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "keys and values of features without their gate",
        f"{LAYERS}/hgao.py",
        "return self.project(x * gates[:, None])",
        "return self.project(x)",
        f"{TESTS}/test_hgao.py::TestHGAO::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "HGAO takes one neighbour too many",
        f"{LAYERS}/hgao.py",
        "values, scores, edges, self.k, **options)",
        "values, scores, edges, self.k + 1, **options)",
        f"{TESTS}/test_hgao.py::TestHGAO::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "HGAO forgets its k in a saved model",
        f"{LAYERS}/hgao.py",
        '            "k": self.k,\n',
        "",
        f"{TESTS}/test_hgao.py::TestHGAO::test_config_round_trip",
    ),
    Mutant(
        "the kernel on the wide side with the neighbours' order lost",
        f"{LAYERS}/gcn.py",
        "return self.finish(tf.matmul(self.propagate(x, edges, edge_weights), self.kernel))",
        "return self.finish(tf.matmul(x, self.kernel))",
        f"{TESTS}/test_gcn.py::TestGCN::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "GCN ignores its normalization",
        f"{LAYERS}/gcn.py",
        "ops.gcn(h, edges, self.normalization,",
        'ops.gcn(h, edges, "sym",',
        f"{TESTS}/test_gcn.py::TestSum::test_oracle_on_drawn_graphs",
    ),
    Mutant(
        "cGAO mixes the graphs of a batch",
        f"{LAYERS}/cgao.py",
        "ops.cgao(keys, values, graph_ids, scale",
        "ops.cgao(keys, values, None, scale",
        f"{TESTS}/test_cgao.py::TestCGAO::test_what_else_is_in_the_batch_does_not_matter",
    ),
    Mutant(
        "cGAO ignores its scale",
        f"{LAYERS}/cgao.py",
        "scale=self.scale, heads",
        "scale=None, heads",
        f"{TESTS}/test_cgao.py::test_scale",
    ),
    Mutant(
        "sampled attention is not drawn in training",
        f"{LAYERS}/sampled_gao.py",
        "next_seed(self.seed_generator) if training else None",
        "None",
        f"{TESTS}/test_sampled_gao.py::test_training_draws_with_the_softmax_probabilities",
    ),
    Mutant(
        "the softmax's mean is missing in the sampled gradient",
        f"{OPS}/sampled_gao.py",
        "soft * (d_soft - per_row(mean, table)[:, None]) / temperature",
        "soft * d_soft / temperature",
        f"{TESTS}/test_sampled_gao.py::TestSampledGAO::test_gradients_on_drawn_graphs",
    ),
    Mutant(
        "the temperature is missing in the sampled gradient",
        f"{OPS}/sampled_gao.py",
        "per_row(mean, table)[:, None]) / temperature",
        "per_row(mean, table)[:, None])",
        f"{TESTS}/test_sampled_gao.py::TestSampledGAO::test_gradients_on_drawn_graphs",
    ),
]
