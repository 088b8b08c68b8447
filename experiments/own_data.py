"""Sensible settings for data that no shipped config knows."""

from experiments import config as schema
from ganet_tf import data
from ganet_tf.errors import ConfigError

UPDATES = 3000  # about as many as the shipped graph configs make
GRAPH_OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "amsgrad": True, "weight_decay": 8e-4}
NODE_OPTIMIZER = {"name": "adam", "learning_rate": 0.01, "weight_decay": 5e-4}


def suggest(name, model, arguments):
    """Settings made from the data themselves.

    Args:
        name: a data set's name or folder.
        model: name of the model.
        arguments: the parsed flags, for the data folder.

    Returns:
        A dictionary as a YAML file would give it.

    Raises:
        ConfigError: when data, task and model do not go together.
    """
    dataset = data.load(name, data_dir=arguments.data_dir)
    task = task_of(dataset)
    if arguments.task:
        check_task(dataset, arguments.task)
    if model not in schema.MODELS[task]:
        raise ConfigError(
            f"{model} is not a model for {dataset.name}, whose {task}s are classified; "
            f"there are {', '.join(schema.MODELS[task])}."
        )
    return _graph(name, dataset, model) if task == "graph" else _node(name, model)


def task_of(dataset):
    """ "graph" for many graphs, "node" for one graph with labelled nodes."""
    return "node" if isinstance(dataset, data.NodeDataset) else "graph"


def check_task(dataset, task):
    """The data set itself, if it belongs to the task."""
    if task_of(dataset) != task:
        raise ConfigError(f"{dataset.name} is a data set for the {task_of(dataset)} task, not for --task {task}.")
    return dataset


def _graph(name, dataset, model):
    counts = [count for count in dataset.statistics()["class_counts"] if count]
    if len(counts) < 2 or min(counts) < 2:
        raise ConfigError(f"{dataset.name} needs at least two classes with two graphs each, got {counts}.")
    folds = min(10, *counts)
    batch_size = 20 if len(dataset) >= 200 else 10
    steps = max(1, len(dataset) * (folds - 1) // folds // batch_size)
    return {
        "task": "graph",
        "dataset": name,
        "model": {"name": model, "sort_pooling": 0.6},
        "optimizer": GRAPH_OPTIMIZER,
        "folds": folds,
        "splits": "stratified",
        "batch_size": batch_size,
        "epochs": min(200, max(30, UPDATES // steps)),
    }


def _node(name, model):
    return {"task": "node", "dataset": name, "model": {"name": model}, "optimizer": NODE_OPTIMIZER}
