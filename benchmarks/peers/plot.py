"""The saved sections as plots."""

import textwrap
from pathlib import Path

from .environments import LIBRARIES
from .record import read

# Okabe and Ito's, which colour-blind eyes can tell apart.
COLORS = {
    "ours": "#d55e00",
    "pyg": "#0072b2",
    "spektral": "#009e73",
    "tf_geometric": "#cc79a7",
    "dgl": "#e69f00",
    "k3_node": "#56b4e9",
}
STYLES = {"hgao": "o-", "gao": "s--", "cgao": "^:", "gcn": "v-.", "gat": "D-"}
HATCHES = {"gatv2": "//", "transformer": "..", "dotgat": "//", "hgao by hand": "xx"}
BOTH = "forward+backward"


def write_plots(folder):
    """Writes growth.png, ratios.png and training.png for the sections that are there; returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    made = []
    for name, section, draw in (
        ("growth", "growth", draw_growth),
        ("ratios", "operators", draw_ratios),
        ("training", "training", draw_training),
    ):
        content = read(folder, section)
        if content is not None:
            figure = draw(content)
            made.append(Path(folder) / f"{name}.png")
            figure.savefig(made[-1], dpi=110, bbox_inches="tight", metadata={"Software": None})
    return made


def draw_growth(section):
    """Time and memory over nodes, forward + backward."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.8), layout="constrained")
    times, memory = figure.subplots(1, 2)
    for row in section["series"]:
        if row["mode"] != BOTH or row["operator"] not in STYLES or "dense" in row["operator"]:
            continue
        label = f"{LIBRARIES[row['side']].title} {row['operator']}, n^{row['time']['exponent']:.2f}"
        line = {"color": COLORS[row["side"]], "label": label, "markersize": 4}
        times.plot(row["nodes"], [s * 1e3 for s in row["seconds"]], STYLES[row["operator"]], **line)
        if all(row["peak_bytes"]):
            memory.plot(row["nodes"], [b / 1e6 for b in row["peak_bytes"]], STYLES[row["operator"]], **line)
    for axes, what in ((times, "milliseconds"), (memory, "MB of peak memory")):
        axes.set(xscale="log", yscale="log", xlabel="nodes (degree 8)", ylabel=f"{what}, forward + backward")
        axes.grid(alpha=0.3)
    times.set_title("Time, and by which power of the nodes it grows")
    memory.set_title("Memory: by how much the process grows")
    figure.legend(*times.get_legend_handles_labels(), loc="outside right upper", fontsize=8, frameon=False)
    return figure


def draw_ratios(section):
    """How many times faster hGAO is than the peers' attention, graph by graph, forward + backward."""
    from matplotlib.figure import Figure

    graphs = [graph for graph in section["graphs"] if any(against_hgao(r) for r in graph["ratios"])]
    figure = Figure(figsize=(1.05 * len(graphs) + 3, 5), layout="constrained")
    axes = figure.subplots()
    rivals = {}
    for place, graph in enumerate(graphs):
        for r in graph["ratios"]:
            if against_hgao(r):
                rivals.setdefault((r["side"], r["operator"]), []).append((place, r["time_ratio"]))
    width = 0.8 / max(len(rivals), 1)
    for i, ((side, operator), bars) in enumerate(rivals.items()):
        places = [place + (i - len(rivals) / 2 + 0.5) * width for place, _ in bars]
        medians = [spread["median"] for _, spread in bars]
        errors = [[s["median"] - s["low"] for _, s in bars], [s["high"] - s["median"] for _, s in bars]]
        shade = {"gat": 1.0, "transformer": 0.65}.get(operator, 0.4)
        axes.bar(
            places,
            medians,
            width,
            yerr=errors,
            color=COLORS[side],
            alpha=shade,
            hatch=HATCHES.get(operator),  # bars of one library are told apart without its colour, too
            edgecolor="white",
            linewidth=0.3,
            label=f"{LIBRARIES[side].title} {operator}",
            error_kw={"lw": 0.7},
        )
    axes.axhline(1, color="black", lw=0.8)
    labels = ["\n".join(textwrap.wrap(graph["graph"].replace(" nodes", ""), 11)) for graph in graphs]
    axes.set_xticks(range(len(graphs)), labels, fontsize=8)
    axes.set(yscale="log", yticks=[0.5, 1, 2, 5, 10, 20, 50, 100], ylim=(0.5, None))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set(ylabel="their time / hGAO's, forward + backward", xlabel="graph: nodes, degree")
    axes.set_title("How many times faster is hGAO? Above the line it is faster; bars are medians, lines the spread")
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def against_hgao(ratio):
    """Whether a ratio is one of a peer's attention to hGAO, forward + backward."""
    return ratio["ours"] == "hgao" and ratio["mode"] == BOTH and ratio["side"] != "ours"


def draw_training(section):
    """Seconds of an epoch."""
    from matplotlib.figure import Figure

    datasets = [d for d in section["datasets"] if d["seconds"]]
    figure = Figure(figsize=(3 * max(len(datasets), 1), 3.2))
    for axes, d in zip(figure.subplots(1, max(len(datasets), 1), squeeze=False)[0], datasets, strict=False):
        sides = [side for side, spread in d["seconds"].items() if spread]
        titles = [LIBRARIES[side.partition(" ")[0]].title + side.removeprefix(side.partition(" ")[0]) for side in sides]
        colors = [COLORS[side.partition(" ")[0]] for side in sides]
        axes.bar(
            ["\n".join(textwrap.wrap(title, 10)) for title in titles],
            [d["seconds"][side]["median"] for side in sides],
            color=colors,
        )
        axes.set_title(d["dataset"], fontsize=9)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_ylabel("seconds an epoch", fontsize=8)
    figure.tight_layout()
    return figure
