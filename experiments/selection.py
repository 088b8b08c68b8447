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
        select: "val_loss" (lowest) or "val_accuracy" (highest).
        patience: epochs, or None for no stop.
    """

    def __init__(self, select="val_loss", patience=None):
        self.select = select
        self.patience = patience
        self.epoch = None
        self._best = None
        self._loss = float("inf")
        self._accuracy = float("-inf")
        self._waited = 0

    def update(self, row):
        """Takes in an epoch's row; returns whether it is the new best."""
        reached = row["val_loss"] <= self._loss or row["val_accuracy"] >= self._accuracy
        self._loss = min(self._loss, row["val_loss"])
        self._accuracy = max(self._accuracy, row["val_accuracy"])
        self._waited = 0 if reached else self._waited + 1
        value = -row["val_loss"] if self.select == "val_loss" else row["val_accuracy"]
        if self._best is not None and value <= self._best:
            return False
        self._best, self.epoch = value, row["epoch"]
        return True

    def exhausted(self):
        """Whether patience has run out."""
        return self.patience is not None and self._waited >= self.patience


def last_epoch(rows):
    """The last epoch's test accuracy."""
    return {"epoch": rows[-1]["epoch"], "accuracy": rows[-1]["test_accuracy"]}


def best_test_epoch(rows):
    """The highest test accuracy of any epoch, the first one on ties."""
    best = max(rows, key=lambda row: (row["test_accuracy"], -row["epoch"]))
    return {"epoch": best["epoch"], "accuracy": best["test_accuracy"]}


def max_test_lgcn(rows):
    """LGCN's: the running maximum of test accuracy where validation accuracy ties or improves."""
    reached, best = float("-inf"), None
    for row in rows:
        if row["val_accuracy"] >= reached:
            reached = row["val_accuracy"]
            if best is None or row["test_accuracy"] > best["test_accuracy"]:
                best = row
    return {"epoch": best["epoch"], "accuracy": best["test_accuracy"]}


def best_mean_epoch(curves):
    """The epoch at which the mean of all folds' test curves is highest, and each fold's value there."""
    length = min(len(rows) for rows in curves)
    columns = [[rows[i]["test_accuracy"] for rows in curves] for i in range(length)]
    best = max(range(length), key=lambda i: (sum(columns[i]), -i))
    return curves[0][best]["epoch"], columns[best]
