"""What a model weighs and takes as SavedModel and on LiteRT, and what quantisation costs in accuracy.

    python train.py --dataset MUTAG --model cganet
    python benchmarks/mobile.py runs/mutag_cganet runs/proteins_cganet

For every finished fold of a run: its test graphs, one at a time, through Keras, the SavedModel and LiteRT with float32,
float16 and int8 weights. Writes results/benchmarks/mobile.json and prints the table of docs/mobile.md.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.environment import hardware, versions  # noqa: E402
from experiments.predict import load_model, open_run  # noqa: E402
from experiments.tasks import load_dataset, make_task  # noqa: E402
from ganet_tf import litert  # noqa: E402

KINDS = {"LiteRT float32": None, "LiteRT float16": "float16", "LiteRT int8": "int8"}
TIMED = 20  # graphs
REPEATS = 3


def main():
    """Measures the runs that are named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="RUN_FOLDER")
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "benchmarks" / "mobile.json")
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    rows = [row for run in arguments.runs for row in measure(open_run(run), arguments.data_dir)]
    arguments.json.write_text(
        json.dumps({"rows": rows, "hardware": hardware(), "versions": versions()}, indent=1) + "\n"
    )
    print(table(rows))


def measure(run, data_dir):
    """The rows of one run: a form of the model each, means over folds."""
    task = make_task(run.config, load_dataset(run.config, data_dir))
    most = int(task.dataset.sizes.max()), int(task.dataset.edge_counts.max())
    found = {}
    for number in run.results:
        model = load_model(run, number)
        test = task.dataset.subset(task.dataset.fold_indices(number, run.config.splits, 0, run.config.folds)[1])
        for name, (size, predict) in forms(model, *most).items():
            right = [int(np.argmax(predict(graph))) == graph.y for graph in test]
            timed = name not in found  # the first fold's model: they are all alike
            found.setdefault(name, []).append((size, 100 * np.mean(right), seconds(predict, test) if timed else 0.0))
    for name, folds in found.items():
        sizes, accuracies, times = zip(*folds, strict=True)
        yield {
            "dataset": run.config.dataset,
            "model": run.config.model.name,
            "form": name,
            "folds": len(folds),
            "max_nodes": most[0],
            "bytes": int(statistics.mean(sizes)),
            "accuracy": round(statistics.mean(accuracies), 2),
            "milliseconds": round(1000 * times[0], 3),
        }


def forms(model, max_nodes, max_edges):
    """{form: (bytes, function from a graph to logits)}."""

    def inputs(graph):
        parts = {"x": graph.x, "edges": graph.edges, "graph_ids": np.zeros(len(graph.x), np.int32)}
        return {name: tf.constant(parts[name]) for name in model.required}

    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        saved = tf.saved_model.load(folder)
    made = {
        "Keras": (0, lambda graph: model(inputs(graph), training=False)),
        "SavedModel": (size, lambda graph: saved.serve(inputs(graph))),
    }
    for name, quantization in KINDS.items():
        content = litert.convert(model, max_nodes, max_edges, quantization=quantization)
        made[name] = (len(content), litert.Runner(content).predict)
    return made


def seconds(predict, graphs):
    """Median time of one graph, the best of some rounds: other work on the machine only adds to it."""
    graphs = [graphs[i] for i in range(min(TIMED, len(graphs)))]
    rounds = []
    for _ in range(REPEATS):
        times = []
        for graph in graphs:
            start = time.perf_counter()
            predict(graph)
            times.append(time.perf_counter() - start)
        rounds.append(statistics.median(times))
    return min(rounds)


def table(rows):
    """Markdown."""
    lines = ["| | form | size, kB | ms per graph | test accuracy, % |", "|---|---|--:|--:|--:|"]
    for row in rows:
        what = f"{row['dataset']}, up to {row['max_nodes']} nodes, {row['folds']} folds"
        size = f"{row['bytes'] / 1000:.0f}" if row["bytes"] else "–"
        lines.append(f"| {what} | {row['form']} | {size} | {row['milliseconds']:.2f} | {row['accuracy']:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
