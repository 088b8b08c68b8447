"""The paper's efficiency table: what `profile_ops.py` prints."""

from experiments.efficiency.plan import Request, requests
from experiments.efficiency.table import measure

__all__ = ["Request", "measure", "requests"]
