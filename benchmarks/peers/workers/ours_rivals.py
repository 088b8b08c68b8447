"""Our side's epochs of the paper's rivals: config, data, model, optimizer and step as in train.py."""

import time

import keras
import numpy as np

from experiments import config as settings
from experiments.tasks import load_dataset, make_task, settle_splits
from experiments.training import compile_model, make_model, make_step
from peers.workers.ours_training import export_graphs
from peers.workers.protocol import memory

FOLD = 1
WARM_UP_STEPS = 5
UPDATES = 20  # of a model for nodes, whose epoch is one


class Rival:
    """A model on fold 1 of graphs, or on one graph's nodes.

    Args:
        config: path of a config of train.py.
        limit: train on the first graphs of the fold only, for quick runs; None for all.
    """

    def __init__(self, config, limit=None):
        self.config = settings.load(config, ["model.implementation=auto"])  # as fast as it goes
        keras.utils.set_random_seed(self.config.seed + FOLD)
        dataset = load_dataset(self.config)
        self.config = settle_splits(self.config, dataset)
        self.task = make_task(self.config, dataset)
        self.graphs = self.training_graphs(limit) if self.config.task == "graph" else None
        self.model = make_model(self.config, self.task.dataset, self.task.arguments)
        spec = self.task.spec()
        self.model.build({name: tuple(tensor.shape) for name, tensor in spec.items()})
        compile_model(self.model, self.config, self.config.epochs, self.task.objective)
        self.step = make_step(self.model, spec, self.task.objective.y_spec)
        self.number = 0

    def training_graphs(self, limit):
        """The training graphs of the fold."""
        config = self.config
        train, _ = self.task.dataset.fold_indices(FOLD, splits=config.splits, seed=0, num_folds=config.folds)
        return self.task.dataset.subset(train)[:limit]

    def batches(self):
        """The (inputs, y) of the next epoch."""
        self.number += 1
        if self.graphs is None:
            return list(self.task.split(FOLD).batches(0)) * UPDATES
        return self.graphs.numpy_batches(self.config.batch_size, shuffle=True, seed=FOLD, epoch=self.number)

    def settings(self):
        """What the other side needs to build the same widths and the same optimizer."""
        sizes = {name: value for name, value in self.task.arguments.items() if isinstance(value, int | float | tuple)}
        optimizer = self.config.optimizer
        return {
            **sizes,
            "name": self.config.model.name,
            "classes": self.task.dataset.num_classes,
            "learning_rate": optimizer.learning_rate,
            "weight_decay": optimizer.weight_decay,
            "global_clipnorm": optimizer.global_clipnorm,
            "batch_size": getattr(self.config, "batch_size", 1),
            "updates": UPDATES,
        }

    def export(self, path):
        """Writes the training graphs, or the graph with its training nodes, for the other side."""
        if self.graphs is not None:
            export_graphs(self.graphs, path)
            return
        ds = self.task.dataset
        x = ds.x.toarray() if hasattr(ds.x, "toarray") else ds.x
        np.savez(path, x=x, edges=ds.edges, y=ds.y, nodes=ds.nodes("train"))

    def warm_up(self):
        """A few updates, so that tracing is not counted."""
        for number, (inputs, y) in enumerate(self.batches()):
            self.step(inputs, y)
            if number == WARM_UP_STEPS:
                break

    def epoch(self):
        """Trains one epoch, of nodes the mean of some: seconds and mean loss."""
        self.model.reset_metrics()
        batches, start = self.batches(), time.perf_counter()
        for inputs, y in batches:
            self.step(inputs, y)
        seconds = time.perf_counter() - start
        loss = float(self.model.get_metrics_result()["cross_entropy"])
        return {"seconds": seconds / (1 if self.graphs is not None else UPDATES), "loss": loss}

    def memory(self):
        """How far the process grows in an update on the batch with the largest graph."""
        if self.graphs is None:
            inputs, y = self.batches()[0]
        else:
            order = largest_first(self.graphs.sizes)[: self.config.batch_size]
            ((inputs, y),) = self.graphs.subset(order).numpy_batches(self.config.batch_size)
        self.step(inputs, y)
        return memory.peak_growth(lambda: self.step(inputs, y))


def largest_first(sizes):
    """The largest graph's number, then the others' in their order."""
    first = int(np.argmax(sizes))
    return [first, *(number for number in range(len(sizes)) if number != first)]
