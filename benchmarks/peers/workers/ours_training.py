"""Our side's epochs: the config, the batches, the model and the optimizer that train.py uses, through `fit`."""

import time

import keras
import numpy as np

from experiments import config as settings
from experiments.objective import objective_of
from experiments.training import compile_model, make_model
from ganet_tf import data

FOLD = 1
WARM_UP_GRAPHS = 100


class Training:
    """hGANet on fold 1 of a data set.

    Args:
        config: path of a config of train.py.
        limit: train on the first graphs of the fold only, for quick runs; None for all.
    """

    def __init__(self, config, limit=None):
        self.config = settings.load(config, ["model.implementation=auto"])  # the file's is that of results/
        keras.utils.set_random_seed(self.config.seed + FOLD)
        self.dataset = data.load(self.config.dataset, features=self.config.features)
        train, _ = self.dataset.fold(FOLD, splits=self.config.splits, seed=0, num_folds=self.config.folds)
        self.train = train[:limit]
        self.model = make_model(self.config, self.dataset)
        self.model(next(iter(self.train[:2].batches(2)))[0])  # makes the weights
        objective = objective_of(self.dataset.target)
        compile_model(self.model, self.config, self.config.epochs * len(self.train), objective)
        self.batches = self.train.batches(self.config.batch_size, shuffle=True, seed=self.config.seed)

    def settings(self):
        """What the other side needs to build the same widths and the same optimizer."""
        model, optimizer = self.config.model, self.config.optimizer
        sizes = ("units", "module_units", "num_modules", "out_units", "dropout", "head_dropout")
        return {
            **{name: getattr(model, name) for name in sizes},
            "sort_pooling_k": int(self.model.sort_pooling_k),
            "classes": self.dataset.num_classes,
            "learning_rate": optimizer.learning_rate,
            "weight_decay": optimizer.weight_decay,
            "batch_size": self.config.batch_size,
        }

    def export(self, path):
        """Writes the training graphs for the other side."""
        export_graphs(self.train, path)

    def warm_up(self):
        """A few batches, so that tracing is not counted; returns what was made."""
        few = self.train[:WARM_UP_GRAPHS].batches(self.config.batch_size)
        self.model.fit(few, epochs=1, verbose=0)
        return {
            "parameters": self.model.count_params(),
            "graphs": len(self.train),
            "nodes": int(self.train.sizes.sum()),
            "edges": int(self.train.edge_counts.sum()),
            "features": self.dataset.num_features,
        }

    def epoch(self):
        """Trains one epoch: seconds and mean loss."""
        start = time.perf_counter()
        history = self.model.fit(self.batches, epochs=1, verbose=0).history
        return {"seconds": time.perf_counter() - start, "loss": history["cross_entropy"][-1]}


def export_graphs(train, path):
    """Writes graphs as flat arrays: one-hot features as codes, others as they are."""
    arrays = train.arrays()
    x = arrays["x"]
    one_hot = x.shape[1] > 1 and bool(((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all())
    np.savez(
        path,
        x=x.argmax(1).astype(np.int32) if one_hot else x,
        edges=arrays["edges"],
        y=train.y,
        node_offsets=np.concatenate([[0], np.cumsum(train.sizes)]),
        edge_offsets=np.concatenate([[0], np.cumsum(train.edge_counts)]),
        width=x.shape[1],
    )
