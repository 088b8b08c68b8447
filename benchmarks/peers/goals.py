"""The goals that this project has set itself, each beside what was measured."""

from dataclasses import dataclass

NODES = 20_000
FORWARD, BOTH = "forward", "forward+backward"


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
        found += training_goals(training["datasets"])
    if growth:
        row = next(
            (r for r in growth["series"] if (r["side"], r["operator"]) == ("ours", "hgao") and backward(r)), None
        )
        found.append(exponent_goal(row and row["time"]))
    return found


def training_goals(datasets):
    """Epochs against PyG."""
    ratios = {d["dataset"]: d["ratios"].get("pyg") for d in datasets}
    targets = {"PROTEINS": 2.5, "DD": 2.5, "COLLAB": 8.0}
    return [
        at_least(f"training epoch on {name} against PyG", target, ratios[name])
        for name, target in targets.items()
        if name in ratios
    ]


def backward(row):
    """Whether gradients were measured too."""
    return row["mode"] == BOTH


# What is compared, the operators' names, and the target at degree 8 and 32, with gradients unless it says "forward".
PAIRS = (
    ("hGAO against our own sparse implementation", ("hgao", "ours", "hgao sparse"), (2.5, 2.5), BOTH),
    ("hGAO against DGL GATConv", ("hgao", "dgl", "gat"), (2.5, 5.0), BOTH),
    ("hGAO against PyG GATConv", ("hgao", "pyg", "gat"), (8.0, 20.0), BOTH),
    ("GAO against DGL GATConv", ("gao", "dgl", "gat"), (2.5, 3.0), BOTH),
    ("GCN against DGL GraphConv", ("gcn", "dgl", "gcn"), (2.0, 1.5), BOTH),
    ("hGAO forward against DGL GATConv", ("hgao", "dgl", "gat"), (2.5, 5.0), FORWARD),
)


def operator_goals(graphs):
    """The goals at 20,000 nodes, at a thousand and at a million."""
    found = [
        at_least(f"{text}, degree {degree}", target, ratio(graph(graphs, degree), *names, mode))
        for text, names, targets, mode in PAIRS
        for degree, target in zip((8, 32), targets, strict=True)
    ]
    small, large = graph(graphs, 8, 1_000), graph(graphs, 8, 1_000_000)
    for ours in ("hgao", "gcn"):
        found.append(at_least(f"1,000 nodes: {ours} against the best peer", 2.0, worst(small, ours)))
    dense = ratio(graph(graphs, 8), "hgao", "ours", "gao dense", FORWARD)
    found.append(at_least("hGAO forward against dense GAO", 250.0, dense))
    names = ("hgao", "pyg", "gat", BOTH)
    found.append(at_least("a million nodes: hGAO against PyG GATConv, time", 6.0, ratio(large, *names)))
    found.append(at_least("the same, memory", 8.0, memory(large, *names)))
    return found


def worst(measured, ours):
    """The smallest ratio of any other library's operators to one of ours, with gradients; None if not measured."""
    rows = [] if measured is None else measured["ratios"]
    peers = [r["time_ratio"] for r in rows if r["ours"] == ours and r["side"] != "ours" and r["mode"] == BOTH]
    return min(peers, key=lambda found: found["median"], default=None)


def memory(measured, *names):
    """The ratio of two peak memories as `ratio` gives that of times, or None."""
    rows = [] if measured is None else measured["ratios"]
    keys = ("ours", "side", "operator", "mode")
    value = next((r["memory_ratio"] for r in rows if tuple(r[key] for key in keys) == names), None)
    return None if value is None else {"median": value, "low": value, "high": value, "count": 1}


def graph(graphs, degree, nodes=NODES):
    """The random graph of a size with a degree."""
    return next((g for g in graphs if g["nodes"] == nodes and g["degree"] == degree and not g["hub"]), None)


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
        return Goal(text, "at most 1.05", None, None)
    value, error = fit["exponent"], fit["error"]
    spread = {"median": value, "low": value - error, "high": value + error, "count": fit["points"]}
    return Goal(text, "at most 1.05", spread, round(value, 2) <= 1.05)
