"""Section 5: an epoch of each of the paper's rivals against the same network on PyG's layers, and DiffPool's memory."""

from datetime import datetime, timezone
from pathlib import Path

from .goals import at_least
from .quiet import Watch
from .side import SideError
from .statistics import ratios, spread
from .training import CONFIGS, EPOCH_TIMEOUT, QUICK_GRAPHS, in_turns

LAYERS = {
    "graphsage": "SAGEConv",
    "set2set": "SAGEConv, Set2Set",
    "diffpool": "DenseSAGEConv, dense_diff_pool, padded",
    "chebyshev": "ChebConv",
}
PAIRS = (
    *((dataset, model) for dataset in ("PROTEINS", "DD") for model in ("graphsage", "set2set", "diffpool")),
    *((dataset, "chebyshev") for dataset in ("Cora", "Pubmed")),
)
LEVEL, MEMORY_GOAL = 1.0, 5.0


def run(sides, folder, pairs=PAIRS, budget=60.0, least=3, most=12, quick=False, watch=None, note=print):
    """Epochs of both sides in turns for each (data set, model): a list of dicts."""
    rounds = {"budget": budget, "least": least, "most": most, "watch": watch or Watch()}
    return [one(sides, Path(folder), *pair, rounds, quick, note) for pair in pairs]


def one(sides, folder, dataset, model, rounds, quick, note):
    """One model on one data set: both sides train fold 1 in batches of the same size, with the same widths.

    A side's memory is how far it grows in an update on the batch with the largest graph.
    """
    path = folder / f"{dataset}-{model}.npz"
    note(f"{model} on {dataset}: loading and warming up")
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    result = {"dataset": dataset, "model": model, "date": date, "quick": quick}
    result |= {"seconds": {}, "ratios": {}, "bytes": {}, "skipped": {}}
    config = str(CONFIGS / f"{dataset.lower()}_{model}.yaml")
    limit = QUICK_GRAPHS if quick else None
    try:
        settings = sides["ours"].call("prepare_rival", EPOCH_TIMEOUT, config=config, path=str(path), limit=limit)
    except SideError as error:
        return {**result, "skipped": {"ours": str(error)}}
    try:
        sides["pyg"].call("prepare_rival", EPOCH_TIMEOUT, path=str(path), settings=settings)
    except SideError as error:
        result["skipped"]["pyg"] = str(error)
    path.unlink(missing_ok=True)
    teams = {name: (sides[name], {}) for name in ("ours", "pyg") if name not in result["skipped"]}
    epochs = in_turns(teams, **rounds, skipped=result["skipped"], note=note)
    seconds = {name: {n: epoch["seconds"] for n, epoch in epochs[name].items()} for name in teams}
    result["seconds"] = {name: spread(list(found.values())) for name, found in seconds.items() if found}
    if seconds.get("pyg"):
        result["ratios"]["pyg"] = ratios(seconds["pyg"], seconds["ours"])
    for name in teams:
        try:
            result["bytes"][name] = sides[name].call("rival_memory", EPOCH_TIMEOUT)
        except SideError as error:
            result["skipped"][f"{name}, memory"] = str(error)
    return result


def goals(section):
    """Level with PyG everywhere; DiffPool on D&D in a fifth of the padded way's memory."""
    found = []
    for entry in section["models"]:
        text = f"{entry['model']} on {entry['dataset']}: an epoch against PyG"
        found.append(at_least(text, LEVEL, entry["ratios"].get("pyg")))
        if (entry["dataset"], entry["model"]) == ("DD", "diffpool"):
            found.append(at_least("diffpool on DD: memory of the padded way", MEMORY_GOAL, memory_ratio(entry)))
    return found


def memory_ratio(entry):
    """PyG's bytes over ours as a spread of one measurement, or None."""
    if not {"ours", "pyg"} <= set(entry["bytes"]):
        return None
    ratio = entry["bytes"]["pyg"] / max(entry["bytes"]["ours"], 1)
    return {"median": ratio, "low": ratio, "high": ratio, "count": 1}


def lines(section, table, number, seconds):
    """The section as Markdown, written with the report's own forms."""
    rows = []
    for entry in section["models"]:
        for side in entry["seconds"]:
            theirs = side != "ours"
            rows.append(
                [
                    entry["dataset"] + (" (part)" if entry["quick"] else ""),
                    entry["model"],
                    f"PyG: {LAYERS[entry['model']]}" if theirs else "ganet_tf",
                    seconds(entry["seconds"][side]),
                    number(entry["ratios"].get("pyg")) if theirs else "-",
                    f"{entry['bytes'][side] / 1e6:,.0f}" if side in entry["bytes"] else "-",
                ]
            )
    skipped = [
        f"- {e['model']} on {e['dataset']}, {s}: {why}" for e in section["models"] for s, why in e["skipped"].items()
    ]
    return [
        "## The paper's rivals",
        "",
        "Seconds of an epoch on fold 1, as train.py trains, against the same widths on PyG's layers of the same names; "
        "of Chebyshev, of one update on the whole graph, whose features are sparse here and dense there. "
        "Memory is how far the process grows in an update on the batch with the largest graph.",
        "",
        *table(["data set", "model", "side", "seconds an epoch", "theirs / ours", "MB"], rows),
        *skipped,
        *([""] if skipped else []),
    ]
