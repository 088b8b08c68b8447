"""The attention explorer for a fold of a run: what explore.py does."""

import re
from pathlib import Path

from experiments.command_line import Parser
from experiments.predict import load_model, open_run
from experiments.tasks import load_dataset, make_task
from ganet_tf import explain
from ganet_tf.errors import ConfigError


def parse(argv):
    """The parsed flags.

    Raises:
        ConfigError: for a flag that is not known, or missing.
    """
    parser = Parser("explore.py", "Writes a page that shows what a trained model attends to in its test graphs.")
    add = parser.add_argument
    add("fold", metavar="FOLD", help="the folder of a finished fold: RUN_FOLDER/fold-01, on nodes RUN_FOLDER/run-01")
    add("--html", metavar="FILE", help="the page (default: attention.html in FOLD)")
    add("--graphs", metavar="N", type=int, default=50, help="at most so many test graphs (default: 50)")
    add("--data-dir", metavar="DIR", help="folder with the data sets' files (default: GANET_DATA)")
    return parser.parse_args(list(argv))


def run(arguments):
    """One page; returns the exit code.

    Raises:
        ConfigError: for a folder that is no fold's, or a model without attention between nodes.
        ImportError: without Bokeh.
    """
    folder = Path(arguments.fold)
    number = re.fullmatch(r"(?:fold|run)-(\d+)", folder.resolve().name)
    if not number or arguments.graphs < 1:
        what = f"{folder} is not the folder of a fold" if not number else f"--graphs is {arguments.graphs}"
        raise ConfigError(f"{what}: give RUN_FOLDER/fold-01, as train.py wrote it, and at least one graph.")
    run = open_run(folder.resolve().parent, str(int(number[1])))
    model = load_model(run, int(number[1]))
    task = make_task(run.config, load_dataset(run.config, arguments.data_dir))
    dataset = task.dataset
    if run.config.task == "graph":
        dataset = dataset.subset(dataset.fold_indices(int(number[1]), run.config.splits, 0, run.config.folds)[1])
    path = arguments.html or folder / "attention.html"
    try:
        explain.explore(model, dataset, path, graphs=arguments.graphs, title=f"{run.folder.path.name}, {folder.name}")
    except ValueError as error:
        raise ConfigError(f"{folder}: {error} See explain.plot_attention for cGAO.") from error
    print(f"{path}: open it in a browser.")
    return 0
