"""Every setting that was tried on validation data, none of them with a look at test figures.

A setting is a run of train.py with `--set` on top of the config; what is compared is the validation loss at the
epoch that validation chose, the mean over seeds (nodes) or folds (graphs).
"""

from ganet_tf.report.cells import NODE_SETS, Cell, slug

NODE_GRID = (
    (),
    ("optimizer.weight_decay=1e-3",),
    ("optimizer.weight_decay=2e-3",),
    ("model.attention_dropout=0.5",),
    ("model.dropout=0.8", "model.attention_dropout=0.8"),
    ("model.scale=sqrt",),
    ("optimizer.learning_rate=0.005",),
    ("optimizer.learning_rate=0.02",),
    ("model.skip=gcn",),
    ("model.scale=sqrt", "optimizer.weight_decay=1e-3"),
)

NODE_SETTINGS = {dataset: NODE_GRID for dataset in NODE_SETS}


def tuning_cells():
    """A cell for each setting that was tried."""
    return [
        tuning_cell(dataset, settings) for dataset, grid in NODE_SETTINGS.items() for settings in grid
    ]


def tuning_cell(dataset, settings):
    """The run of one setting, with three seeds that the reported runs do not use."""
    name = ",".join(setting.split(".")[-1] for setting in settings) or "config"
    extra = ("--runs", "3", "--seed", "100")
    return Cell(f"tuning/{slug(dataset)}/{name}", dataset, "hganet", "validation", settings, extra)
