"""Section 1 and 3: operators over graphs of many sizes, and how time and memory grow."""

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from ganet_tf.memory import available_memory

from .graphs import GraphSpec
from .rounds import MODES, Contender, measure
from .statistics import exponent, ratios

OURS = ("hgao", "gao", "topk", "cgao", "gcn", "gat", "hgao sparse", "gao sparse", "gcn sparse")
DENSE = "gao dense"
PEERS = {
    "pyg": ("gat", "gatv2", "transformer", "gcn", "gcn csr"),
    "spektral": ("gat", "gcn"),
    "tf_geometric": ("gat", "gcn"),
    "k3_node": ("gat", "gcn"),
    "dgl": ("gat", "dotgat", "gcn", "hgao by hand"),
}
# Which of ours a peer's operator is set against: attention against attention, convolution against convolution.
OPPONENTS = {"gcn": ("gcn",), "gcn csr": ("gcn",)}
# The same among ours: other implementations of an operator against the one that is chosen by itself.
OWN_OPPONENTS = {DENSE: ("hgao", "cgao", "gao"), **{f"{name} sparse": (name,) for name in ("hgao", "gao", "gcn")}}
ATTENTION = ("hgao", "gao", "topk", "gat")

MEDIUM = 100_000  # nodes from which each contender is warmed up with one call only
LARGE = 300_000  # nodes from which only the main operators take part
CORE = {"ours": ("hgao", "gao", "cgao", "gcn"), "pyg": ("gat", "gcn"), "dgl": ("gat", "gcn")}
GROWTH_SIDES = ("ours", "pyg", "dgl")
DENSE_LIMIT = 20_000
DENSE_GRADIENT_LIMIT = 10_000
MEMORY_SHARE = 0.75


@dataclass(frozen=True)
class Plan:
    """Which graphs, and how long each.

    Args:
        graphs: `GraphSpec`s of the operator section.
        growth: `GraphSpec`s of the growth section, measured unless the first section did.
        budget: seconds of rounds a graph; half of it where nodes are few and rounds are short.
        least, most: rounds a graph.
    """

    graphs: tuple
    growth: tuple
    budget: float
    least: int
    most: int

    def only(self, nodes):
        """The same plan with graphs of some sizes only."""
        graphs, growth = ([g for g in specs if g.nodes in nodes] for specs in (self.graphs, self.growth))
        return replace(self, graphs=tuple(graphs), growth=tuple(growth))


def full_plan(budget=25.0):
    """All sizes of the issue: 1,000 to 1,000,000 nodes, degree 8 and 32, and a hub of 50,000."""
    sizes = (1_000, 10_000, 20_000, 100_000, 1_000_000)
    graphs = [GraphSpec(nodes, degree) for nodes in sizes for degree in (8, 32)]
    graphs.insert(-2, GraphSpec(100_000, 16, hub=50_000))
    growth = [GraphSpec(nodes, 8) for nodes in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    return Plan(tuple(graphs), tuple(growth), budget, least=3, most=25)


def quick_plan():
    """A smoke run: seconds, not figures."""
    graphs = (GraphSpec(1_000, 8), GraphSpec(2_000, 8, hub=1_000))
    return Plan(graphs, (GraphSpec(1_000, 8), GraphSpec(4_000, 8)), budget=1.0, least=2, most=3)


class OperatorBenchmark:
    """Measures graphs one after another and remembers what each contender needed.

    Args:
        sides: {name: `Side`} of those that could be started.
        folder: where the graphs' files go.
        plan: the `Plan`.
        watch: the `Watch` over who else is running.
        note: called with a line of progress.
    """

    def __init__(self, sides, folder, plan, watch=None, note=print):
        self.sides = sides
        self.folder = Path(folder)
        self.plan = plan
        self.watch = watch
        self.note = note
        self.measured = {}  # GraphSpec -> dict for JSON
        self.per_entry = {}  # contender's key -> bytes an entry of the neighbour lists, from the largest graph yet

    def keep(self, graphs):
        """Takes over graphs that an earlier run has measured: dicts of `graph`."""
        for graph in graphs:
            spec = GraphSpec(graph["nodes"], graph["degree"], graph["hub"])
            self.measured[spec] = graph
            entries = graph["edges"] + spec.nodes
            for row in graph["rows"]:
                self.remember(spec, entries, (row["side"], row["operator"], row["mode"]), row["peak_bytes"])

    def remember(self, spec, entries, key, peak_bytes):
        """Notes what a contender needed, to tell what it would need on a larger graph."""
        if peak_bytes and spec.nodes >= 10_000 and key[1] != DENSE:
            self.per_entry[key] = peak_bytes / entries

    def run(self, graphs, main_only=False):
        """Measures graphs that have not been yet; yields, after each of them, all so far as a list of dicts."""
        done = []
        for spec in graphs:
            if spec not in self.measured:
                self.measured[spec] = self.graph(spec, main_only)
            done.append(self.measured[spec])
            yield done

    def all(self):
        """All graphs measured so far that belong in the operator tables, small ones first."""
        wanted = sorted(self.measured, key=lambda spec: (spec.nodes, spec.degree))
        return [self.measured[spec] for spec in wanted]

    def same_results(self):
        """Whether all sides' GCN, with an identity kernel, gives our numbers on a small graph: {side: bool}."""
        path, _ = GraphSpec(1_000, 8).write(self.folder)
        probes = {}
        for name, side in self.sides.items():
            side.call("graph", path=str(path))
            probes[name] = side.call("probe")
        path.unlink()
        return {name: bool(np.allclose(flat(probe), flat(probes["ours"]), rtol=1e-4)) for name, probe in probes.items()}

    def graph(self, spec, main_only=False):
        """One graph: the rows of all contenders, and their ratios to ours."""
        path, edges = spec.write(self.folder)
        entries = edges + spec.nodes
        contenders = self.contenders(spec, main_only)
        for contender in contenders:
            contender.skipped = self.too_large(contender, entries)
        self.note(f"{spec.name}: {sum(c.skipped is None for c in contenders)} contenders in turns")
        least = 2 if spec.nodes >= LARGE else self.plan.least
        budget = self.plan.budget / (2 if spec.nodes < DENSE_LIMIT else 1)
        measure(contenders, path, budget, least, self.plan.most, brief=spec.nodes >= MEDIUM, watch=self.watch)
        path.unlink()
        for contender in contenders:
            self.remember(spec, entries, contender.key, contender.peak_bytes)
        return {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "graph": spec.name,
            "nodes": spec.nodes,
            "degree": spec.degree,
            "hub": spec.hub,
            "edges": edges,
            "rows": [contender.row() for contender in contenders],
            "ratios": compare(contenders),
        }

    def contenders(self, spec, main_only=False):
        """Who takes part on a graph; with `main_only` those whose growth is followed."""
        found = []
        for mode in MODES:
            for name, side in self.sides.items():
                operators = OURS if name == "ours" else PEERS[name]
                if main_only or spec.nodes >= LARGE:
                    operators = CORE.get(name, ("gat",))
                if name == "ours" and spec.nodes <= dense_limit(mode) and not main_only:
                    operators = (*operators, DENSE)
                if not main_only or name in GROWTH_SIDES:
                    found += [Contender(side, operator, mode) for operator in operators]
        return found

    def too_large(self, contender, entries):
        """Why a contender had better not be run here, going by what it needed on a smaller graph."""
        needed = self.per_entry.get(contender.key, 0) * entries
        free = available_memory()
        if needed <= MEMORY_SHARE * free:
            return None
        return f"would need about {needed / 1e9:.0f} GB, going by a smaller graph; {free / 1e9:.0f} GB are free"


def flat(probe):
    """A probe's figures in one list."""
    return [*np.ravel(probe["rows"]), probe["squares"]]


def dense_limit(mode):
    """Up to how many nodes the paper's [N, N] way takes part."""
    return DENSE_LIMIT if mode == "forward" else DENSE_GRADIENT_LIMIT


def opponents(side, operator):
    """Which of our operators a contender is compared with."""
    if side == "ours":
        return OWN_OPPONENTS.get(operator, ())
    return OPPONENTS.get(operator, ATTENTION)


def compare(contenders):
    """Ratios of all contenders to ours, in the same rounds: a list of dicts, above 1 = we are faster."""
    ours = {(c.operator, c.mode): c for c in contenders if c.side.name == "ours"}
    found = []
    for contender in contenders:
        for operator in opponents(contender.side.name, contender.operator):
            mine = ours.get((operator, contender.mode))
            ratio = None if mine is None else ratios(contender.seconds, mine.seconds)
            if ratio is not None:
                memory = contender.peak_bytes and mine.peak_bytes and contender.peak_bytes / mine.peak_bytes
                found.append(
                    {
                        "ours": operator,
                        "side": contender.side.name,
                        "operator": contender.operator,
                        "mode": contender.mode,
                        "time_ratio": ratio,
                        "processor_ratio": ratios(contender.processor_seconds, mine.processor_seconds),
                        "memory_ratio": memory or None,
                    }
                )
    return found


def growth(graphs):
    """Exponents of time and memory over nodes, for each contender that ran on all the graphs.

    Args:
        graphs: dicts of `OperatorBenchmark.graph`, of one degree.
    """
    series = {}
    for graph in graphs:
        for row in graph["rows"]:
            if row["seconds"]:
                key = row["side"], row["operator"], row["mode"]
                series.setdefault(key, []).append((graph["nodes"], row["seconds"]["median"], row["peak_bytes"]))
    found = []
    for (side, operator, mode), points in series.items():
        if len(points) < 2:
            continue
        nodes, seconds, memory = zip(*points, strict=True)
        found.append(
            {
                "side": side,
                "operator": operator,
                "mode": mode,
                "nodes": nodes,
                "seconds": seconds,
                "peak_bytes": memory,
                "time": exponent(nodes, seconds),
                "memory": exponent(nodes, memory) if all(memory) else None,
            }
        )
    return found
