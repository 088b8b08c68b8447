"""Which epoch counts, rule by rule."""

import pytest

from experiments import selection
from experiments.selection import Selection


def rows(**columns):
    length = len(next(iter(columns.values())))
    return [{"epoch": i + 1, **{k: v[i] for k, v in columns.items()}} for i in range(length)]


CURVE = rows(val_loss=[3, 1, 2, 1], val_accuracy=[0.5, 0.6, 0.7, 0.7], test_accuracy=[0.9, 0.5, 0.6, 0.8])


@pytest.mark.parametrize(("select", "epoch"), [("val_loss", 2), ("val_accuracy", 3), ("val_metric", 3)])
def test_the_first_best_epoch_is_chosen(select, epoch):
    follower = Selection(select)
    news = [follower.update(row) for row in CURVE]
    assert follower.epoch == epoch
    assert [i + 1 for i, new in enumerate(news) if new][-1] == epoch


@pytest.mark.parametrize(("higher", "epoch", "stop"), [(True, 4, 6), (False, 2, 4)])
def test_an_epoch_without_a_metric_is_the_worst(higher, epoch, stop):
    """ROC AUC is not known where all answers are alike."""
    follower = Selection("val_metric", 2, "mae", higher)
    nan = float("nan")
    for row in rows(val_loss=[1, 2, 2, 2, 2, 2], val_mae=[nan, 0.5, nan, 0.6, nan, nan]):
        follower.update(row)
        if follower.exhausted():
            break
    assert (follower.epoch, row["epoch"]) == (epoch, stop)


def test_patience_waits_for_loss_and_accuracy():
    follower = Selection("val_loss", patience=2)
    curve = rows(val_loss=[1, 2, 2, 2, 2], val_accuracy=[0.5, 0.6, 0.6, 0.5, 0.5])
    stops = []
    for row in curve:
        follower.update(row)
        stops.append(follower.exhausted())
    assert stops == [False, False, False, False, True], "a tie of the accuracy counts as reached"


def test_without_patience_it_never_stops():
    follower = Selection()
    for row in rows(val_loss=range(1000), val_accuracy=[0] * 1000):
        follower.update({**row, "val_accuracy": -row["epoch"]})
        assert not follower.exhausted()


def test_test_rules():
    assert selection.last_epoch(CURVE) == {"epoch": 4, "accuracy": 0.8}
    assert selection.best_test_epoch(CURVE) == {"epoch": 1, "accuracy": 0.9}
    assert selection.best_test_epoch(rows(test_accuracy=[0.5, 0.6, 0.6])) == {"epoch": 2, "accuracy": 0.6}


def test_lgcn_looks_at_test_where_validation_ties_or_improves():
    curve = rows(val_accuracy=[0.5, 0.4, 0.5, 0.6], test_accuracy=[0.5, 0.9, 0.7, 0.6])
    assert selection.max_test_lgcn(curve) == {"epoch": 3, "accuracy": 0.7}


def test_best_epoch_of_the_mean_curve():
    curves = [rows(test_accuracy=[0.1, 0.8, 0.2]), rows(test_accuracy=[0.9, 0.4, 1.0])]
    assert selection.best_mean_epoch(curves) == (2, [0.8, 0.4])
