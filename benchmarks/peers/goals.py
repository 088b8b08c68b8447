"""The goals that this project has set itself, each beside what was measured."""

from dataclasses import dataclass

NODES = 20_000


@dataclass(frozen=True)
class Goal:
    """One goal.

    Args:
        text: what is measured.
        target: what it should reach, in words.
        measured: {"median", "low", "high", "count"}, or None where it was not measured.
        met: whether it was reached; None where it was not measured.
    """

    text: str
    target: str
    measured: dict | None
    met: bool | None


def goals(operators, training, growth):
    """All goals that these sections say something about; each section may be None."""
    found = []
    if operators:
        found += operator_goals(operators["graphs"])
    if training:
        ratio = next((d["ratios"].get("pyg") for d in training["datasets"] if d["dataset"] == "DD"), None)
        found.append(at_least("training epoch on DD against PyG", 2.0, ratio))
    if growth:
        row = next(
            (r for r in growth["series"] if (r["side"], r["operator"]) == ("ours", "hgao") and backward(r)), None
        )
        found.append(exponent_goal(row and row["time"]))
    return found


def backward(row):
    """Whether gradients were measured too."""
    return row["mode"] == "forward+backward"


def operator_goals(graphs):
    """The goals at 20,000 nodes."""
    sparse, dense = graph(graphs, 8), graph(graphs, 32)
    both = "forward+backward"
    return [
        at_least(
            "hGAO, forward + backward, degree 8, against PyG GATConv", 3.0, ratio(sparse, "hgao", "pyg", "gat", both)
        ),
        at_least("the same, degree 32", 8.0, ratio(dense, "hgao", "pyg", "gat", both)),
        at_least("degree 8, against Spektral GATConv", 6.0, ratio(sparse, "hgao", "spektral", "gat", both)),
        at_least("degree 8, against tf_geometric GAT", 6.0, ratio(sparse, "hgao", "tf_geometric", "gat", both)),
        at_least("hGAO forward against dense GAO", 100.0, ratio(sparse, "hgao", "ours", "gao dense", "forward")),
        at_least("cGAO forward against dense GAO", 450.0, ratio(sparse, "cgao", "ours", "gao dense", "forward")),
    ]


def graph(graphs, degree):
    """The random graph of 20,000 nodes with a degree."""
    return next((g for g in graphs if g["nodes"] == NODES and g["degree"] == degree and not g["hub"]), None)


def ratio(measured, ours, side, operator, mode):
    """The ratio of a pair on a graph, or None."""
    wanted = (ours, side, operator, mode)
    rows = [] if measured is None else measured["ratios"]
    return next((r["time_ratio"] for r in rows if (r["ours"], r["side"], r["operator"], r["mode"]) == wanted), None)


def at_least(text, target, measured):
    """A goal for a ratio."""
    return Goal(text, f"{target:g}x", measured, None if measured is None else measured["median"] >= target)


def exponent_goal(fit):
    """The goal for the growth of time."""
    text = "exponent of hGAO's time over nodes, degree 8, forward + backward"
    if fit is None:
        return Goal(text, "1.0 to 1.1", None, None)
    value, error = fit["exponent"], fit["error"]
    spread = {"median": value, "low": value - error, "high": value + error, "count": fit["points"]}
    return Goal(text, "1.0 to 1.1", spread, round(value, 2) <= 1.1)
