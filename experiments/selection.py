"""Which epoch counts. All rules are here, each with the label that the summary gives it."""

LABELS = {
    "last_epoch": "last epoch (no selection)",
    "best_test_epoch": "best test epoch of each fold (selected on test)",
    "best_mean_epoch": "best epoch of the mean test curve (selected on test)",
    "validation": "epoch chosen on validation",
    "max_test_lgcn": "LGCN's rule: best test value among validation's best epochs so far (selected on test)",
}


class Selection:
    """Follows one validation value; keeps its best epoch, the first one on ties.

    Training stops after `patience` epochs in which neither the validation loss nor the validation
    accuracy reached its best so far (GAT's rule); which epoch is used is decided by `select` alone.

    Args:
        select: "val_loss" (lowest), or "val_metric" (best), which is "val_accuracy" for classes.
        patience: epochs, or None for no stop.
        metric: the metric that is watched beside the loss.
        higher: whether more of it is better.
    """

    def __init__(self, select="val_loss", patience=None, metric="accuracy", higher=True):
        self.select = select
        self.patience = patience
        self.metric = f"val_{metric}"
        self._higher = higher
        self.epoch = None
        self._best = None
        self._loss = float("inf")
        self._value = float("-inf")
        self._waited = 0

    def update(self, row):
        """Takes in an epoch's row; returns whether it is the new best."""
        watched = _rank(row[self.metric], self._higher)
        reached = row["val_loss"] <= self._loss or float("-inf") < watched >= self._value
        self._loss = min(self._loss, row["val_loss"])
        self._value = max(self._value, watched)
        self._waited = 0 if reached else self._waited + 1
        value = -row["val_loss"] if self.select == "val_loss" else watched
        if self._best is not None and value <= self._best:
            return False
        self._best, self.epoch = value, row["epoch"]
        return True

    def exhausted(self):
        """Whether patience has run out."""
        return self.patience is not None and self._waited >= self.patience


def last_epoch(rows, metrics=("accuracy",)):
    """The last epoch's test values."""
    return _found(rows[-1], metrics)


def best_test_epoch(rows, metrics=("accuracy",), higher=True):
    """The epoch with the best test value of the first metric, the first one on ties."""
    return _found(max(rows, key=lambda row: (_rank(row[f"test_{metrics[0]}"], higher), -row["epoch"])), metrics)


def max_test_lgcn(rows):
    """LGCN's: the running maximum of test accuracy where validation accuracy ties or improves."""
    reached, best = float("-inf"), None
    for row in rows:
        if row["val_accuracy"] >= reached:
            reached = row["val_accuracy"]
            if best is None or row["test_accuracy"] > best["test_accuracy"]:
                best = row
    return _found(best, ("accuracy",))


def best_mean_epoch(curves, metric="accuracy", higher=True):
    """The epoch at which the mean of all folds' test curves is best, and each fold's value there."""
    length = min(len(rows) for rows in curves)
    columns = [[rows[i][f"test_{metric}"] for rows in curves] for i in range(length)]
    best = max(range(length), key=lambda i: (_rank(sum(columns[i]), higher), -i))
    return curves[0][best]["epoch"], columns[best]


def _found(row, metrics):
    return {"epoch": row["epoch"], **{metric: row[f"test_{metric}"] for metric in metrics}}


def _rank(value, higher):
    """What is the greater the better a value is; NaN, which is not known, is worst."""
    return float("-inf") if value != value else value if higher else -value
