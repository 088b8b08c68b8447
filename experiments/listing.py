"""`train.py --list`: what can be run."""

from rich import box
from rich.console import Console
from rich.table import Table

from experiments import config_loader, paper
from experiments.resolve import CONFIGS
from ganet_tf import data
from ganet_tf.layers import operator_names


def rows():
    """[(task, data set, model, file, the paper's figure)] of all shipped configs."""
    found = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        config = config_loader.load(path)
        cell = paper.cell(config.dataset, config.model.name, getattr(config.model, "operator", None))
        found.append((config.task, config.dataset, config.model.name, path.name, cell.text if cell else "-"))
    return sorted(found, key=lambda row: (row[0], row[1].lower()))


def show_list():
    """Prints the table of shipped configs; returns the exit code."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("--task", "--dataset", "--model", "configs/", "paper, %"):
        table.add_column(column)
    for row in rows():
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table)
    others = sorted(set(data.names()) - {row[1] for row in rows()})
    if others:
        console.print(f"Also, with settings made from the data: {', '.join(others)}, and your own TU folders.")
    console.print(f"Operators for --set model.operator=: {', '.join(operator_names())}.")
    return 0
