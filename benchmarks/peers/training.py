"""Section 2: an epoch of hGANet against the same widths in PyG, input pipeline included."""

import time
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from .quiet import Watch
from .side import SideError
from .statistics import ratios, spread

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
DATASETS = ("PROTEINS", "DD", "COLLAB")
QUICK_GRAPHS = 200
EPOCH_TIMEOUT = 600
LOADER = "pyg with a loader process"
LOADER_DATASETS = ("PROTEINS", "DD")  # on COLLAB an epoch takes too long for a third team


def run(sides, folder, datasets=DATASETS, budget=60.0, least=3, most=12, quick=False, watch=None, note=print):
    """Epochs of both sides in turns on each data set: a list of dicts."""
    rounds = {"budget": budget, "least": least, "most": most, "watch": watch or Watch()}
    return [one(sides, Path(folder), name, rounds, quick, note) for name in datasets]


def one(sides, folder, name, rounds, quick, note):
    """One data set.

    Both sides train fold 1 with the same batch size, optimizer and widths. PyG has two teams: its default, which
    collates batches in the training process, and one with a loader process of its own.
    """
    path = folder / f"{name}.npz"
    config = CONFIGS / f"{name.lower()}_hganet.yaml"
    note(f"training on {name}: loading and warming up")
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    result = {
        "dataset": name,
        "nodes": 0,
        "date": date,
        "quick": quick,
        "epochs": {},
        "seconds": {},
        "ratios": {},
        "skipped": {},
    }
    try:
        limit = QUICK_GRAPHS if quick else None
        made = sides["ours"].call("prepare_training", EPOCH_TIMEOUT, config=str(config), path=str(path), limit=limit)
    except SideError as error:
        return {**result, "skipped": {"ours": str(error)}}
    settings = made.pop("settings")
    result.update(made, settings=settings)
    try:
        answer = sides["pyg"].call("prepare_training", EPOCH_TIMEOUT, path=str(path), settings=settings)
        result["pyg_parameters"] = answer["parameters"]
    except SideError as error:
        result["skipped"]["pyg"] = str(error)
    path.unlink()
    teams = {"ours": (sides["ours"], {})}
    if not result["skipped"]:
        teams["pyg"] = (sides["pyg"], {})
        if name in LOADER_DATASETS:
            teams[LOADER] = (sides["pyg"], {"loader_workers": 1})
    epochs = in_turns(teams, **rounds, skipped=result["skipped"], note=note)
    for side in teams:
        seconds = {number: epoch["seconds"] for number, epoch in epochs[side].items()}
        result["epochs"][side] = [epoch | {"round": number} for number, epoch in epochs[side].items()]
        result["seconds"][side] = spread(list(seconds.values()))
        if side != "ours":
            mine = {number: epoch["seconds"] for number, epoch in epochs["ours"].items()}
            result["ratios"][side] = ratios(seconds, mine)
    return result


def in_turns(teams, budget, least, most, watch, skipped, note):
    """Epochs of all teams (side, options) in turns until the budget is spent: {team: {round: answer}}."""
    epochs = {name: {} for name in teams}
    start, number, patience = time.monotonic(), 0, watch.patience
    while number < least or (number < most and time.monotonic() - start - (patience - watch.patience) < budget):
        for name, (side, options) in list(teams.items())[:: 1 if number % 2 == 0 else -1]:
            if name in skipped:
                continue
            try:
                call = partial(side.call, "epoch", EPOCH_TIMEOUT, **options)
                answer, disturbed = watch.quietly(side.pid, call)
                epochs[name][number] = {**answer, "disturbed": disturbed}
            except SideError as error:
                skipped[name] = str(error)
        number += 1
        note("  epoch " + str(number) + ": " + ", ".join(told(name, rounds) for name, rounds in epochs.items()))
    return epochs


def told(name, rounds):
    """The last epoch in a few words."""
    if not rounds:
        return f"{name} failed"
    last = rounds[max(rounds)]
    return f"{name} {last['seconds']:.2f} s (loss {last['loss']:.3f})"
