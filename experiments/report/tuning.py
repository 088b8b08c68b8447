"""Every setting that was tried on validation data, none of them with a look at test figures.

A setting is a run of train.py with `--set` on top of the config; what is compared is the validation accuracy at the
epoch that validation chose, the mean over seeds (nodes) or folds (graphs), and between equals the validation loss.

On nodes the best setting became the config. On graphs the config keeps what the paper says, and the best setting has
cells of its own where it departs from that: `TUNED` in cells.py.
"""

from experiments.report.runs import NODE_SETS, Cell, slug

DECAYS = ("1e-4", "5e-4", "1e-3", "2e-3")  # the first is the paper's
DECAY_1E4, DECAY_5E4, DECAY_1E3, DECAY_2E3 = ((f"optimizer.weight_decay={decay}",) for decay in DECAYS)
SCALED = ("model.scale=sqrt",)
LESS_DROPOUT = ("model.dropout=0.8", "model.attention_dropout=0.8")
SLOWER = ("optimizer.learning_rate=0.005",)
FIRST_LAYER = ("optimizer.no_decay=[gam,out]",)  # L2 on the first layer only, as in GCN's code
COSINE = ("optimizer.schedule=cosine", "epochs=500")
FASTER = ("optimizer.learning_rate=1e-3", "epochs=100")  # ten times the rate, half the epochs: what MUTAG has
RAW = ("normalize_features=null",)
ELU = ("model.activation=elu",)
AROUND_THE_BEST = (("model.k=4",), ("model.k=16",), ("optimizer.no_decay=[key_kernel]",), ELU)

# On graphs: does attention wake up, and does that help? In the pilot weight decay shrank W_K until it was uniform.
GRAPH_GRID = (
    (),
    ("optimizer.no_decay=[key_kernel]",),
    ("optimizer.weight_decay=0",),
    ("model.scale=sqrt",),
    ("model.dropout=0",),
    ("features=labels+degree",),
)
NO_DROPOUT_AND_DEGREES = ("features=labels+degree", "model.dropout=0")

COSTLY = ("IMDB-M", "DD")
FEW_FOLDS = ("folds=3", "splits=stratified")  # of two thirds of the graphs each: a fifth of the time of ten folds

SETTINGS = {
    "Cora": (
        *((), DECAY_1E3, SCALED, LESS_DROPOUT, ("model.attention_dropout=0.5",), SLOWER, DECAY_2E3),
        *(FIRST_LAYER, COSINE, RAW),
        *((*DECAY_1E3, *settings) for settings in AROUND_THE_BEST),
        *((*DECAY_5E4, *ELU), (*DECAY_1E3, *ELU, "model.attention_dropout=0.5")),
        *((*DECAY_1E4, *ELU), (*DECAY_1E3, *ELU, *SCALED)),
    ),
    "Citeseer": (
        *((), SCALED, LESS_DROPOUT, DECAY_2E3, SLOWER, DECAY_5E4),
        *(FIRST_LAYER, COSINE, RAW),
        *((*SCALED, *DECAY_5E4), ("model.attention_dropout=0.5",), ("model.normalization=row",), ("model.skip=gcn",)),
        ("optimizer.learning_rate=0.02",),
        *((*SCALED, *DECAY_5E4, *settings) for settings in AROUND_THE_BEST),
        *((*SCALED, *DECAY_1E4), (*SCALED, *DECAY_5E4, *FIRST_LAYER)),
    ),
    "Pubmed": (
        *((), SCALED, DECAY_1E3, (*SCALED, *ELU)),
        *((*SCALED, *ELU, *settings) for settings in (DECAY_1E4, FIRST_LAYER)),
    ),
    "MUTAG": (*GRAPH_GRID, NO_DROPOUT_AND_DEGREES),
    "PTC": ((), FASTER, (*FASTER, "model.dropout=0"), (*FASTER, "features=labels+degree")),
    "PROTEINS": (*GRAPH_GRID, NO_DROPOUT_AND_DEGREES),
    "IMDB-M": ((), ("model.dropout=0",)),
    "DD": ((), ("model.dropout=0",)),
}


def best_first(rule):
    """Sorts validation figures as the choice goes."""
    return -rule["val_accuracy"], rule["val_loss"]


def tuning_cells():
    """A cell for each setting that was tried."""
    return [tuning_cell(dataset, settings) for dataset, grid in SETTINGS.items() for settings in grid]


def tuning_cell(dataset, settings):
    """The run of one setting, with seeds that the reported runs do not use: three on nodes, three or ten folds."""
    keys_and_values = (setting.split("=") for setting in settings)
    name = ",".join(f"{key.split('.')[-1]}={value}" for key, value in keys_and_values) or "config"
    extra = (*(("--runs", "3") if dataset in NODE_SETS else ()), "--seed", "100")
    settings = (*settings, *(FEW_FOLDS if dataset in COSTLY else ()))
    return Cell(f"tuning/{slug(dataset)}/{name}", dataset, "hganet", "validation", settings, extra)
