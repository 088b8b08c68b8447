"""What a terminal of 80 columns shows: one line for a fold, and no words like "1 folds"."""

import io

import pytest

from experiments.console import FoldBar, many, short_values

LOGS = {
    **{f"{part}_loss": 0.51234 for part in ("train", "val", "test")},
    **{f"{part}_accuracy": 0.98765 for part in ("train", "val", "test")},
}


@pytest.mark.parametrize("width", [40, 79, 200])
def test_the_line_of_a_fold_fits(width):
    bar = FoldBar(epochs=1000, steps=50, first=10, out=io.StringIO())
    bar.on_epoch_end(599, LOGS)
    line = bar.line(600 * 50, width)
    assert len(line) <= width
    assert line.startswith("epoch 600/1000")
    if width >= 79:
        assert "train 0.512 98.8%  val 0.512 98.8%  test 0.512 98.8%" in line
    assert ("━" in line) == (width == 200)


def test_the_bar_is_as_long_as_what_is_done():
    bar = FoldBar(epochs=4, steps=10, out=io.StringIO())
    assert bar.line(10, 100).count("━") == 6 and bar.line(10, 100).count("─") == 18
    assert bar.line(40, 100).count("─") == 0


def test_every_epoch_is_drawn_over_the_last_and_the_end_is_a_new_line():
    out = io.StringIO()
    bar = FoldBar(epochs=2, steps=1, out=out)
    bar.on_epoch_end(0, LOGS)
    bar.on_epoch_end(1, LOGS)
    bar.on_train_end()
    assert out.getvalue().count("\r") == 3 and out.getvalue().endswith("\n") and out.getvalue().count("\n") == 1


def test_numbers_without_a_percent_sign():
    assert short_values({"train_loss": 2.0, "test_mae": 12.3456}) == "train 2.000  test 12.3"


def test_one_fold_two_folds():
    assert (many(1, "fold"), many(2, "run")) == ("1 fold", "2 runs")
