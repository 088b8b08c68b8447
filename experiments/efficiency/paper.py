"""The paper's efficiency table (Gao and Ji, KDD 2019, "Comparison of Computational Efficiency").

Its columns MAdd and memory are closed forms, not readings of a profiler: the functions here give the nine
MAdd cells to every printed digit (9.21 is 9.216 cut off). Its times are single CPU readings on a machine
that the paper does not describe, so only their order and ratios can be compared.
"""

import math
from dataclasses import asdict, dataclass

FEATURES = 48
K = 8


@dataclass(frozen=True)
class Cell:
    """What the paper prints for one operator and size: counts, bytes, milliseconds, percent, times."""

    madd: float
    cost_saving: float
    memory_bytes: float
    memory_saving: float
    time_ms: float
    speedup: float


TABLE = {
    ("gao", 1000): Cell(100.61e6, 0.0, 4.98e6, 0.0, 8.19, 1.0),
    ("hgao", 1000): Cell(37.89e6, 62.34, 4.98e6, 0.0, 5.61, 1.46),
    ("cgao", 1000): Cell(9.21e6, 90.84, 0.99e6, 80.12, 0.82, 9.99),
    ("gao", 10000): Cell(9646.08e6, 0.0, 409.6e6, 0.0, 947.24, 1.0),
    ("hgao", 10000): Cell(468.96e6, 95.14, 409.6e6, 0.0, 371.12, 2.55),
    ("cgao", 10000): Cell(92.16e6, 99.04, 9.61e6, 97.65, 17.96, 52.74),
    ("gao", 20000): Cell(38492.16e6, 0.0, 1619.2e6, 0.0, 12784.45, 1.0),
    ("hgao", 20000): Cell(1137.97e6, 97.04, 1619.2e6, 0.0, 4548.62, 2.81),
    ("cgao", 20000): Cell(184.32e6, 99.52, 19.2e6, 98.81, 29.71, 430.31),
}


def cell(operator, nodes, features=FEATURES, k=K):
    """The paper's cell as a dict, or None where the paper has none for this operator and size."""
    found = TABLE.get((operator, nodes)) if features == FEATURES else None
    if found is None or (operator == "hgao" and k != K):
        return None
    return asdict(found)


def gao_madd(n, d, k=K):
    """2 N²d + 2 N d²: scores and output, and the transforms W_K and W_V."""
    return 2 * n * n * d + 2 * n * d * d


def hgao_madd(n, d, k=K):
    """N² + 2 k N d² + k N log10 N: the mask, both transforms on k gathered nodes a query, the heap.

    The attention itself (2 N k d) and the projection (N d) are not in the paper's count.
    """
    return n * n + 2 * k * n * d * d + k * n * math.log10(max(n, 1))


def cgao_madd(n, d, k=K):
    """4 N d²: scores and output, and the transforms W_K and W_V."""
    return 4 * n * d * d


def gao_memory(n, d):
    """4 (N² + 5 N d + 2 d²) bytes: one score matrix, five node arrays, two weights."""
    return 4 * (n * n + 5 * n * d + 2 * d * d)


def hgao_memory(n, d):
    """As GAO: the gathered [N, k, d] keys and values are not in the paper's count."""
    return gao_memory(n, d)


def cgao_memory(n, d):
    """About 4 · 5 N d bytes; no count of d² arrays gives all three printed cells at once."""
    return 4 * 5 * n * d


_MADD = {"gao": gao_madd, "hgao": hgao_madd, "cgao": cgao_madd}
_MEMORY = {"gao": gao_memory, "hgao": hgao_memory, "cgao": cgao_memory}


def madd(operator, nodes, features=FEATURES, k=K):
    """The paper's closed form for the multiply-adds of a call, None for an operator it does not count."""
    form = _MADD.get(operator)
    return None if form is None else round(form(nodes, features, k))


def memory_bytes(operator, nodes, features=FEATURES):
    """The paper's closed form for the bytes of a call, None for an operator it does not count."""
    form = _MEMORY.get(operator)
    return None if form is None else form(nodes, features)
