"""The summaries that train.py wrote, read back."""

import json

KEPT = ("config.yaml", "summary.json")  # of a run's folder; the checkpoints and curves stay there


def read(folder):
    """The summary.json of a run's folder, or None where there is none."""
    path = folder / "summary.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def is_finished(folder):
    """Whether all folds of a run are in its summary."""
    summary = read(folder)
    return bool(summary and summary["complete"])
