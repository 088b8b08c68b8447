"""The summaries that train.py wrote, read back."""

import json

KEPT = ("config.yaml", "summary.json")  # of a run's folder; the checkpoints and curves stay there


def read(folder):
    """The summary.json of a run's folder, or None where there is none."""
    path = folder / "summary.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def finished(folder):
    """The summary of a run that has all its folds, else None."""
    summary = read(folder)
    return summary if summary and summary["complete"] else None
