"""Every run behind RESULTS.md: its name, which is its folder in results/, and its command."""

import shlex
from dataclasses import dataclass, replace

GRAPH_SETS = ("MUTAG", "PTC", "PROTEINS", "IMDB-M", "DD", "COLLAB")  # by cost
NODE_SETS = ("Cora", "Citeseer", "Pubmed")
HONEST_SETS = ("MUTAG", "PTC", "PROTEINS", "IMDB-M", "DD")  # protocol validation
K_SETS = ("MUTAG", "PROTEINS", "COLLAB")  # Figure 3
K_VALUES = (4, 8, 16, 32, 64)
OPERATOR_SETS = ("MUTAG", "PROTEINS")  # TopKGAO and SampledGAO, which the paper only describes

# What validation preferred to the config, which has the paper's own values: see experiments/report/tuning.py.
TUNED = {
    "MUTAG": ("features=labels+degree", "model.dropout=0"),
    "PTC": ("optimizer.learning_rate=1e-3", "epochs=100", "model.dropout=0"),
    "PROTEINS": ("features=labels+degree",),
}

NETWORKS = ("hganet", "cganet")  # those that the paper proposes
PAPERS_ROWS = (*NETWORKS, "dgcnn")  # those with a line in the paper's Table 5
MODELS = (*NETWORKS, "ganet", "dgcnn")
LINEAR = "linear"  # the control: a plain linear map in the place of attention
GRAPH_MODELS = (*MODELS, LINEAR)
TUNED_MODELS = (*NETWORKS, LINEAR)
NODE_MODELS = ("hganet", LINEAR, "gcn", "gat")

LONGER_SETS = ("PROTEINS", "DD")  # whose configs have fewer epochs than the authors' later code, to save time
LONGER_EPOCHS = 100  # as many as that code has
LONGER_MODELS = ("hganet", LINEAR)

# One thread: with more, how Eigen splits a sum, and with it the last digit, depends on the machine's cores.
COMMON = ("--threads", "1", "--deterministic")


@dataclass(frozen=True)
class Cell:
    """One run of train.py.

    Args:
        name: folder below results/ and runs/.
        dataset: canonical name.
        model: hganet, cganet, ganet, dgcnn, gcn, gat, or an operator that stands in hGANet's place.
        protocol: "paper" or "validation".
        settings: `key=value` words for --set.
        extra: other flags, for example a smaller number of runs.
    """

    name: str
    dataset: str
    model: str
    protocol: str
    settings: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def arguments(self):
        """train.py's flags."""
        task = "node" if self.dataset in NODE_SETS else "graph"
        config = self.model if self.model in (*MODELS, "gcn", "gat") else "hganet"
        words = ["--task", task, "--dataset", self.dataset, "--model", config]
        if self.protocol == "validation" and task == "graph":
            words += ["--protocol", "validation"]
        settings = [*([f"model.operator={self.model}"] if config != self.model else []), *self.settings]
        return [*words, *(["--set", *settings] if settings else []), *self.extra, *COMMON]

    @property
    def command(self):
        """What to type."""
        return shlex.join(["python", "train.py", *self.arguments, "--output", f"runs/{self.name}"])


def graph_cell(dataset, model, protocol="paper", k=None):
    """The cell of a table on graphs; with `k`, of Figure 3, where k = 8 is the table's own."""
    name = f"{slug(dataset)}_{model}" + ("_validation" if protocol == "validation" else "")
    if k in (None, 8):
        return Cell(name, dataset, model, protocol)
    return Cell(f"{name}_k{k}", dataset, model, protocol, (f"model.k={k}",))


def tuned_cell(dataset, model, protocol="paper"):
    """As `graph_cell`, with the setting that validation chose."""
    plain = graph_cell(dataset, model, protocol)
    name = plain.name.replace(f"_{model}", f"_{model}_tuned")
    return replace(plain, name=name, settings=TUNED[dataset])


def tuned_cells(dataset):
    """All of them on one data set."""
    protocols = ("paper", "validation") if dataset in HONEST_SETS else ("paper",)
    return [tuned_cell(dataset, model, protocol) for protocol in protocols for model in TUNED_MODELS]


def longer_cell(dataset, model):
    """As `graph_cell`, with more epochs."""
    plain = graph_cell(dataset, model)
    return replace(plain, name=f"{plain.name}_longer", settings=(f"epochs={LONGER_EPOCHS}",))


def node_cell(dataset, model):
    """The cell of Table 6."""
    return Cell(f"{slug(dataset)}_{model}", dataset, model, "validation")


def slug(dataset):
    """How files spell a data set."""
    return dataset.lower().replace("-", "")


def all_cells():
    """Every cell once, in the order in which to run them: cheap data sets and the paper's tables first."""
    cells = []
    for dataset in ("MUTAG", "PTC", *NODE_SETS, *GRAPH_SETS[2:]):
        if dataset in NODE_SETS:
            cells += [node_cell(dataset, model) for model in NODE_MODELS]
            continue
        cells += [graph_cell(dataset, model) for model in GRAPH_MODELS]
        if dataset in HONEST_SETS:
            cells += [graph_cell(dataset, model, "validation") for model in GRAPH_MODELS]
        if dataset in TUNED:
            cells += tuned_cells(dataset)
        if dataset in K_SETS:
            cells += [graph_cell(dataset, "hganet", k=k) for k in K_VALUES if k != 8]
        if dataset in OPERATOR_SETS:
            cells += [graph_cell(dataset, operator) for operator in ("topk", "sampled")]
    return [*cells, *(longer_cell(dataset, model) for dataset in LONGER_SETS for model in LONGER_MODELS)]
