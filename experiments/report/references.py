"""Figures of others that stand beside ours, apart from the paper's own (`experiments.paper`)."""

# Errica et al., A Fair Comparison of Graph Neural Networks for Graph Classification (ICLR 2020), as printed in the
# README of their code: ten stratified outer folds, settings and epoch chosen on an inner hold-out, the mean of three
# final runs a fold. IMDB-M with degrees as features. They have neither MUTAG nor PTC.
HONEST = {
    "structure-agnostic baseline": {"DD": (78.4, 4.5), "PROTEINS": (75.8, 3.7), "IMDB-M": (49.1, 3.5)},
    "DGCNN": {"DD": (76.6, 4.3), "PROTEINS": (72.9, 3.5), "IMDB-M": (45.6, 3.4)},
    "DiffPool": {"DD": (75.0, 3.5), "PROTEINS": (73.7, 3.5), "IMDB-M": (45.6, 3.4)},
    "GraphSAGE": {"DD": (72.9, 2.0), "PROTEINS": (73.0, 4.5), "IMDB-M": (47.6, 3.5)},
    "GIN": {"DD": (75.3, 2.9), "PROTEINS": (73.3, 4.0), "IMDB-M": (48.5, 3.3)},
}

# The most nodes that any node may attend to, itself included: counted in the data files.
MOST_CANDIDATES = {"MUTAG": 5}


def honest(model, dataset):
    """`76.6 ± 4.3`, or None where they have no figure."""
    found = HONEST[model].get(dataset)
    return f"{found[0]} ± {found[1]}" if found else None
