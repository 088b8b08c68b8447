"""What tables call models, operators and data sets, and the order they stand in."""

from experiments import paper
from experiments.report.runs import LINEAR

DATASETS = tuple(paper.TABLE_5["hGANet"])  # the paper's order of columns
MODELS = {**paper.ROWS, LINEAR: "linear map (control)", "topk": "TopKGAO", "sampled": "SampledGAO"}
OPERATORS = {"hganet": "hGAO", "cganet": "cGAO", "ganet": "GAO", LINEAR: "linear"}


def dataset(name):
    """A data set as the paper spells it."""
    return paper.COLUMNS.get(name, name)
