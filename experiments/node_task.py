"""Node classification: one split, repeated runs, the epoch chosen on the validation nodes."""

import functools

import numpy as np
import tensorflow as tf

from experiments import selection
from experiments.member import Member

SPARSE_SHARE = 0.2  # features of which a smaller share is not 0 go through the network as a sparse matrix


class NodeTask:
    """Runs with different seeds on one `NodeDataset`.

    Validation and test values come from one forward pass an epoch. The test curve is only written
    down: the reported figure is taken at the epoch that validation chose; what LGCN's code would have
    reported, with a look at test, stands under its own label.

    Args:
        config: a `NodeConfig`.
        dataset: a `NodeDataset` with train, validation and test nodes.
    """

    def __init__(self, config, dataset):
        self.config = config
        self.dataset = dataset

    def spec(self):
        """What a model's inputs look like, for any number of nodes asked for: {name: TensorSpec}."""
        spec = self._batches["train"].element_spec[0]
        return {name: type(part)([None, *part.shape[1:]], part.dtype) for name, part in spec.items()}

    @functools.cached_property
    def _batches(self):
        """{split: dataset of one batch}; made once, since finding what is not 0 takes a pass over all features."""
        sparse = np.count_nonzero(self.dataset.x) < SPARSE_SHARE * self.dataset.x.size
        return {split: self.dataset.batches(split, sparse=sparse) for split in ("train", "all")}

    def member(self, number):
        """The data of one run: the same for all of them."""
        ds = self.dataset
        val, test = ds.nodes("val"), ds.nodes("test")
        nodes = np.concatenate([val, test])
        train = list(self._batches["train"])
        held_out = self._batches["all"].map(lambda inputs, y: ({**inputs, "nodes": nodes}, tf.gather(y, nodes)))
        return Member(
            batches=lambda epoch: train,
            steps=1,
            held_out=held_out,
            parts={"val": slice(0, len(val)), "test": slice(len(val), None)},
            final=None,
            sizes={"train": int(ds.train_mask.sum()), "val": len(val), "test": len(test)},
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished run; see `GraphTask.rules`."""
        row = rows[chosen - 1]
        return {
            "validation": {
                "epoch": chosen,
                "accuracy": row["test_accuracy"],
                "loss": row["test_loss"],
                "val_loss": row["val_loss"],
                "val_accuracy": row["val_accuracy"],
            },
            "max_test_lgcn": selection.max_test_lgcn(rows),
        }
