"""The learning curves of a run as a picture."""

import io

import numpy as np

from ganet_tf.files import write_whole

COLORS = {"train": "#7f7f7f", "val": "#1f77b4", "test": "#d62728"}


def plot_curves(curves, summary, folder):
    """Draws `curves.png`: every fold thin, the mean thick; accuracy on the left, loss on the right.

    Args:
        curves: {number: history rows}.
        summary: the run's summary, for title and the paper's figure.
        folder: its `RunFolder`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)  # no window system needed, no global state touched
    left, right = figure.subplots(1, 2)
    figure.suptitle(
        f"{summary['label']} on {summary['dataset']}, protocol {summary['protocol']}, "
        f"{len(curves)} {folder.member_word}{'' if len(curves) == 1 else 's'}"
    )
    _draw(left, curves, "accuracy", 100)
    left.set_ylabel("accuracy, %")
    if summary["paper"] is not None:
        left.axhline(summary["paper"], color="black", linestyle=":", label="paper")
    _draw(right, curves, "loss", 1)
    right.set_ylabel("cross-entropy")
    for axes in (left, right):
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)
        axes.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    write_whole(folder.path / "curves.png", buffer.getvalue())


def _draw(axes, curves, what, scale):
    rows = next(iter(curves.values()))
    for split, color in COLORS.items():
        name = f"{split}_{what}"
        if name not in rows[0]:
            continue
        lines = [scale * np.array([row[name] for row in rows]) for rows in curves.values()]
        for line in lines:
            axes.plot(range(1, len(line) + 1), line, color=color, alpha=0.25, linewidth=0.7)
        mean = mean_curve(lines)
        axes.plot(range(1, len(mean) + 1), mean, color=color, linewidth=2, label=f"{split}, mean")


def mean_curve(lines):
    """Mean over those curves that reach an epoch: runs that stopped early are of different length."""
    table = np.full((len(lines), max(map(len, lines))), np.nan)
    for row, line in zip(table, lines, strict=True):
        row[: len(line)] = line
    return np.nanmean(table, axis=0)
