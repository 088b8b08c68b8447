"""What the attention of trained networks does: `python -m experiments.attention [RUN ...]`.

Writes to results/attention: selection.json (how often the hard selection is active, from the data alone), a JSON file
for each run (entropy of the attention, gates, choices, module by module) and drawings. A run is a folder below runs/;
without any, all that have attention and are finished so far. The report makes docs/results/attention.md of it.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from tqdm import tqdm

from experiments import config as schema
from experiments import environment
from experiments.attention import measures
from experiments.attention.drawings import draw_choice, draw_layers
from experiments.attention.folds import find_folds, load
from experiments.attention.layers import looks
from experiments.attention.measures import candidates_of, choice, entropy_ratios, is_chosen, write_selection
from experiments.report.results import ATTENTION, SELECTION, Results
from ganet_tf.errors import GANetError
from ganet_tf.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
DIGITS = 5
# Runs whose choices are drawn when nothing else is asked for: there the selection leaves somebody out.
DRAWN = ("imdbm/hganet", "proteins/hganet_k4", "cora/hganet")


def main(argv=None):
    """Looks at what is asked for; returns the exit code."""
    arguments = parser().parse_args(argv)
    environment.set_threads(1)  # the same last digit on every machine
    folder = arguments.results / ATTENTION
    try:
        folds = find_folds(arguments.runs_asked, arguments.runs, arguments.fold)
        write_selection(folder / SELECTION, arguments.data_dir, measures.DATASETS)
        for fold in tqdm(folds, "attention", unit="run"):
            write_entry(fold, folder, fold.run in (arguments.draw or DRAWN), arguments.data_dir)
    except (GANetError, OSError) as error:
        print(f"attention: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    draw_layers(Results(arguments.results).attention(), folder)
    print(f"{len(folds)} runs in {folder}")
    return 0


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m experiments.attention", description=__doc__.split("\n")[0])
    result.add_argument("runs_asked", nargs="*", metavar="RUN", help="folders below runs/; all by default")
    result.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    result.add_argument("--results", type=Path, default=ROOT / "results", help="where attention/ is written")
    result.add_argument("--fold", type=int, default=1, help="the model of which fold (on nodes: seed)")
    result.add_argument("--draw", nargs="+", default=[], metavar="RUN", help=f"hGANets to draw: {', '.join(DRAWN)}")
    result.add_argument("--data-dir", help="folder with the data sets' files (default: GANET_DATA)")
    return result


def write_entry(fold, folder, drawn, data_dir=None):
    """Writes <run>.json and, if asked for, the drawing of its choices."""
    model, start, batches = load(fold, data_dir)
    modules = [
        {**now, "start": {key: before[key] for key in ("entropy", "key_norm")}}
        for now, before in zip(look_at(model, batches), look_at(start, batches), strict=True)
    ]
    entry = {**describe(fold, batches), "modules": modules, "figure": None}
    figure = folder / f"choice_{fold.run.replace('/', '_')}.png"
    figure.unlink(missing_ok=True)  # an older look's
    if drawn and fold.operator == "hgao":
        draw_choice(model, batches, entry, figure)
        entry["figure"] = figure.name
    path = folder / f"{fold.run}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(entry, indent=2, ensure_ascii=False) + "\n")


def describe(fold, batches):
    """Which model this is, and what it was looked at with."""
    config, graph_task = fold.config, fold.config.task == "graph"
    return {
        "run": fold.run,
        "dataset": config.dataset,
        "task": config.task,
        "label": schema.label(config),
        "operator": fold.operator,
        "k": config.model.k if fold.operator in ("hgao", "topk") else None,
        "scale": getattr(config.model, "scale", None),
        "weight_decay": config.optimizer.weight_decay,
        "no_decay": list(config.optimizer.no_decay),
        "protocol": config.protocol,
        "fold": fold.number,
        "seed": config.seed,
        "epoch": fold.result.get("model_epoch"),
        "graphs": sum(int(batch["graph_ids"][-1]) + 1 for batch in batches) if graph_task else 1,
        "nodes": sum(int(batch["x"].shape[0]) for batch in batches),
    }


def look_at(model, batches):
    """The measures of each module over all batches."""
    values, modules = defaultdict(lambda: defaultdict(list)), {}
    for inputs in batches:
        candidates = candidates_of(np.asarray(inputs["edges"]), int(inputs["x"].shape[0]))
        for look in looks(model, inputs):
            modules[look.name] = look.layer
            for key, found in measure(look, candidates).items():
                values[look.name][key].append(found)
    return [summarize(name, layer, joined(values[name])) for name, layer in modules.items()]


def joined(parts):
    """{measure: the values of all batches}."""
    return {key: np.concatenate(found) for key, found in parts.items()}


def measure(look, candidates):
    """{measure: values} of one layer and batch, one value per node."""
    found = {"entropy": entropy_ratios(look.rows, look.weights)}
    if look.gates is not None:
        found["gate"] = look.gates
    k = getattr(look.layer, "k", None)
    if k is not None:
        found["active"] = candidates.sizes > k
        chosen = is_chosen(candidates, look.rows, look.columns)
        found.update(choice(candidates, chosen, k, look.scores))
    return found


def summarize(name, layer, values):
    """A module's entry in the JSON file; null for what it does not have."""
    key_kernel = getattr(layer, "key_kernel", None)
    chosen = {key: mean(values[key]) for key in ("degree", "degree_most", "random", "tied") if key in values}
    active = values.get("active")
    return {
        "name": name,
        "entropy": spread(values["entropy"]),
        "gate": spread(values["gate"]) if "gate" in values else None,
        "active": mean(active) if active is not None else None,
        "choice": {"nodes": int(active.sum()), **chosen} if active is not None and active.any() else None,
        "key_norm": None if key_kernel is None else rounded(np.linalg.norm(key_kernel.numpy())),
    }


def spread(values):
    """Mean, standard deviation and percentiles, or None of nothing."""
    if not len(values):
        return None
    low, high = np.percentile(values, (5, 95))
    facts = {"mean": values.mean(dtype=np.float64), "sd": values.std(dtype=np.float64), "p5": low, "p95": high}
    return {"nodes": len(values), **{key: rounded(value) for key, value in facts.items()}}


def mean(values):
    """The rounded mean."""
    return rounded(np.mean(values, dtype=np.float64)) if len(values) else None


def rounded(value):
    """A plain number of few digits."""
    return round(float(value), DIGITS)


if __name__ == "__main__":
    sys.exit(main())
