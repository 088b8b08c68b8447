"""The paper's efficiency table: what `profile_ops.py` prints."""

from experiments.efficiency.table import Request, TableRow, measure, requests

__all__ = ["Request", "TableRow", "measure", "requests"]
