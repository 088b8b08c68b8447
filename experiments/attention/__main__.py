"""A look inside trained models: `python -m experiments.attention [CELL ...]`.

Writes to results/inside: selection.json (how often the hard selection is active, from the data alone), a JSON file for
each cell (entropy of the attention, gates, choices, module by module) and figures. A cell is a folder below runs/;
without any, all that have attention and are finished so far. `inside_section` makes the report's text of it.
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
from experiments.attention import selection as inside_selection
from experiments.attention.drawings import draw_choice, draw_layers
from experiments.attention.folds import find_runs, load
from experiments.attention.layers import looks
from experiments.attention.measures import candidates_of, choice, entropy_ratios, is_chosen
from experiments.report.sections.attention import read_cells
from ganet_tf.errors import GANetError
from ganet_tf.files import write_whole

ROOT = Path(__file__).resolve().parents[2]
DIGITS = 5
# Cells whose choices are drawn when nothing else is asked for: selection is active there.
DRAWN = ("imdbm_hganet", "proteins_hganet", "cora_hganet")


def main(argv=None):
    """Looks at what is asked for; returns the exit code."""
    arguments = parser().parse_args(argv)
    environment.set_threads(1)  # the same last digit on every machine
    folder = arguments.results / "inside"
    try:
        runs = find_runs(arguments.cells, arguments.runs, arguments.fold)
        inside_selection.write_selection(folder / "selection.json", arguments.data_dir, inside_selection.DATASETS)
        drawn = arguments.draw or to_draw(runs, fallback=not arguments.cells)
        for run in tqdm(runs, "looking inside", unit="cell"):
            write_cell(run, folder, run.cell in drawn, arguments.data_dir)
    except (GANetError, OSError) as error:
        print(f"inside: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    draw_layers(read_cells(folder), folder)
    print(f"{len(runs)} cells in {folder}")
    return 0


def parser():
    """The flags."""
    result = argparse.ArgumentParser(prog="python -m experiments.attention", description=__doc__.split("\n")[0])
    result.add_argument("cells", nargs="*", metavar="CELL", help="folders below runs/; all by default")
    result.add_argument("--runs", type=Path, default=ROOT / "runs", help="where train.py works")
    result.add_argument("--results", type=Path, default=ROOT / "results", help="where inside/ is written")
    result.add_argument("--fold", type=int, default=1, help="which fold's (on nodes: run's) model")
    result.add_argument("--draw", nargs="+", default=[], metavar="CELL", help=f"hGANets to draw: {', '.join(DRAWN)}")
    result.add_argument("--data-dir", help="folder with the data sets' files (default: GANET_DATA)")
    return result


def to_draw(runs, fallback):
    """The cells whose choices are drawn; with `fallback`, any hGANet where there is none of those yet."""
    hganets = [run.cell for run in runs if run.operator == "hgao"]
    return [cell for cell in hganets if cell in DRAWN] or hganets[: int(fallback)]


def write_cell(run, folder, drawn, data_dir=None):
    """Writes <cell>.json and, if asked for, the drawing of its choices."""
    model, start, batches = load(run, data_dir)
    modules = [
        {**now, "start": {key: before[key] for key in ("entropy", "key_norm")}}
        for now, before in zip(look_at(model, batches), look_at(start, batches), strict=True)
    ]
    report = {**describe(run, batches), "modules": modules, "figure": None}
    figure = folder / f"choice_{run.cell.replace('/', '_')}.png"
    figure.unlink(missing_ok=True)  # an older look's
    if drawn and run.operator == "hgao":
        draw_choice(model, batches, report, figure)
        report["figure"] = figure.name
    path = folder / f"{run.cell}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def describe(run, batches):
    """Which model this is, and what it was looked at with."""
    config, graph_task = run.config, run.config.task == "graph"
    return {
        "cell": run.cell,
        "dataset": config.dataset,
        "task": config.task,
        "label": schema.label(config),
        "operator": run.operator,
        "k": config.model.k if run.operator in ("hgao", "topk") else None,
        "scale": getattr(config.model, "scale", None),
        "weight_decay": config.optimizer.weight_decay,
        "no_decay": list(config.optimizer.no_decay),
        "protocol": config.protocol,
        "fold": run.number,
        "seed": config.seed,
        "epoch": run.result.get("model_epoch"),
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
    """{measure: values} of one layer and batch, one value a node."""
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
