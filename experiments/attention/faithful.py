"""Are the neighbours that hGAO chooses those that matter? `python -m experiments.attention.faithful`.

Trains small networks on generated data, where it is known which edges matter, and compares attention with saliency,
degree and chance (`ganet_tf.explain.faithfulness`). Writes results/attention/faithfulness.json and prints the table of
docs/explain.md.
"""

import argparse
import json
import sys
from pathlib import Path

import keras
import numpy as np

from experiments import environment
from ganet_tf import data, explain, models
from ganet_tf.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
MEASURES = ("auc", "auc_within", "fidelity")
LOSS = {"loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True), "metrics": ["accuracy"]}


def ba2motifs(seed, epochs):
    """A network for houses and five-cycles; the edges within the motif matter."""
    dataset = data.load("BA2Motifs")
    train, test = dataset.fold(1 + seed % 10)
    test = test[:40]
    keras.utils.set_random_seed(seed)
    model = models.GraphClassifier(2, k=3, num_modules=2, sort_pooling_k=dataset.sort_pooling_k(0.6))
    model.compile(keras.optimizers.Adam(0.001), **LOSS)
    model.fit(train.batches(32, shuffle=True, seed=seed), epochs=epochs, verbose=0)
    accuracy = model.evaluate(test.batches(40), verbose=0, return_dict=True)["accuracy"]
    truth = [(graph.edges >= 20).all(axis=1) for graph in test]
    return accuracy, explain.faithfulness(model, test, truth, seed=seed)


def experts(seed, epochs):
    """A network that has to find the few neighbours that know; the edges from experts matter."""
    dataset = data.load("Experts", seed=seed)
    keras.utils.set_random_seed(seed)
    wiring = {"embedding": "dense", "out": "dense", "skip": "both"}  # no GCN before the choice: it would blur the mark
    model = models.NodeClassifier(4, k=8, num_modules=1, dropout=0.2, attention_dropout=0.0, score="cosine", **wiring)
    model.compile(keras.optimizers.Adam(0.01), **LOSS)
    best = keras.callbacks.EarlyStopping("val_loss", patience=40, restore_best_weights=True)
    model.fit(
        dataset.batches("train"), validation_data=dataset.batches("val"), epochs=epochs, callbacks=[best], verbose=0
    )
    accuracy = model.evaluate(dataset.batches("test"), verbose=0, return_dict=True)["accuracy"]
    ordinary = dataset.nodes("test")
    known = (dataset.edges[:, 0] >= 1000) & (dataset.edges[:, 1] < 1000)  # the last 200 nodes are the experts
    return accuracy, explain.faithfulness(model, dataset, known, nodes=ordinary, seed=seed)


TASKS = {"BA2Motifs": (ba2motifs, 12), "Experts": (experts, 300)}


def main(argv=None):
    """Trains, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--json", type=Path, default=ROOT / "results" / "attention" / "faithfulness.json")
    arguments = parser.parse_args(argv)
    # Tasks that are not asked for stay as they were measured.
    found = json.loads(arguments.json.read_text(encoding="utf-8"))["tasks"] if arguments.json.exists() else {}
    for name in arguments.tasks:
        task, epochs = TASKS[name]
        runs = [task(seed, epochs) for seed in range(arguments.seeds)]
        methods = runs[0][1]
        found[name] = {
            "seeds": arguments.seeds,
            "epochs": epochs,
            "accuracy": [round(float(accuracy), 4) for accuracy, _ in runs],
            "methods": {
                method: {m: [round(float(run[method][m]), 4) for _, run in runs] for m in MEASURES}
                for method in methods
            },
        }
    facts = {"tasks": found, "versions": environment.versions(), "hardware": environment.hardware()}
    write_whole(arguments.json, json.dumps(facts, indent=1) + "\n")
    print(table(found))
    return 0


def table(found):
    """Markdown: a row for each task and method, means over seeds."""
    lines = ["| | method | ROC AUC | among a node's neighbours | fidelity |", "|---|---|--:|--:|--:|"]
    for name, task in found.items():
        what = f"{name}, {task['seeds']} networks of {100 * np.mean(task['accuracy']):.1f} % accuracy"
        for method, measures in task["methods"].items():
            values = " | ".join(f"{np.mean(measures[m]):.2f}" for m in MEASURES)
            lines.append(f"| {what} | {method} | {values} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
