"""Graph classification: folds, protocols, and what each of them reports."""

from experiments import selection
from experiments.member import Member
from ganet_tf.errors import ConfigError

VALIDATION_SHARE = 0.1


class GraphTask:
    """The folds of a `GraphDataset` under one protocol.

    *paper*: trains on nine folds, evaluates the tenth after every epoch, and reports the last epoch
    and the best one; the second is selected on test. *validation*: a stratified tenth of the training
    graphs chooses the epoch, and the test fold is evaluated once, with that epoch's weights.

    Args:
        config: a `GraphConfig`.
        dataset: the whole `GraphDataset`.
    """

    def __init__(self, config, dataset):
        self.config = config
        self.dataset = dataset
        smallest = len(dataset) // config.folds
        if smallest < 1:
            raise ConfigError(f"folds is {config.folds}, but {dataset.name} has only {len(dataset)} graphs.")

    def spec(self):
        """What a model's inputs look like: {name: TensorSpec}."""
        return self.dataset[:1].batches(1).element_spec[0]

    def member(self, number):
        """The data of one fold."""
        config = self.config
        # The folds belong to the data: --seed varies the training, never what is tested on what.
        train, test = self.dataset.fold(number, splits=config.splits, seed=0, num_folds=config.folds)
        if config.protocol == "paper":
            held_out, parts, final = test, {"test": slice(None)}, None
        else:
            train, held_out = train.split(VALIDATION_SHARE, seed=config.seed + number)
            parts, final = {"val": slice(None)}, test.batches(config.eval_batch_size)

        def batches(epoch):
            return train.numpy_batches(config.batch_size, shuffle=True, seed=config.seed + number, epoch=epoch)

        return Member(
            batches=batches,
            steps=-(-len(train) // config.batch_size),
            held_out=held_out.batches(config.eval_batch_size),
            parts=parts,
            final=final,
            sizes={"train": len(train), **({"val": len(held_out)} if final else {}), "test": len(test)},
        )

    def rules(self, rows, chosen, final):
        """{rule: {"epoch", "accuracy", ...}} of a finished fold.

        Args:
            rows: its history.
            chosen: the epoch that validation chose, or None.
            final: held-out test values with the chosen weights, or None.
        """
        if self.config.protocol == "paper":
            return {
                "last_epoch": selection.last_epoch(rows),
                "best_test_epoch": selection.best_test_epoch(rows),
            }
        row = rows[chosen - 1]
        return {
            "validation": {
                "epoch": chosen,
                "accuracy": final["test_accuracy"],
                "loss": final["test_loss"],
                "val_loss": row["val_loss"],
                "val_accuracy": row["val_accuracy"],
            }
        }
