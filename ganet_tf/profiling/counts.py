"""What our own code really computes: exact multiply-adds of a call, and the memory it must find free.

One multiply-add counts 1, and so does a product of floats without an addition (the gate, GCN's weights).
Exponentials, divisions, comparisons, ranking and copies are not counted, as in the paper. Neighbour tables are
counted with their padding, because the kernels compute it.
"""

OPERATORS = ("gao", "hgao", "cgao", "topk", "sampled", "gcn")
IMPLEMENTATIONS = ("dense", "sparse")


def transforms(s):
    """X W_K and X W_V: N F² + N F U."""
    return s.nodes * s.features * (s.features + s.units)


def attention(s, places):
    """Scores q · k and the weighted sum of values over `places` pairs of nodes: places (F + U)."""
    return places * (s.features + s.units)


def gao_dense(s):
    """All N² pairs: N² (F + U), and the transforms."""
    return transforms(s) + attention(s, s.nodes**2)


def gao_sparse(s):
    """The transforms, a score a place of the neighbour table, and a value an entry: (E + N) U."""
    return transforms(s) + s.table * s.features + s.neighbours * s.units


def hgao_dense(s):
    """Projection and gate N F each, the transforms once a node, k places a node; ranking N x N is no MAdd."""
    return 2 * s.nodes * s.features + transforms(s) + attention(s, s.nodes * min(s.k, s.nodes))


def hgao_sparse(s):
    """As dense, with min(k, longest list) places a node."""
    return 2 * s.nodes * s.features + transforms(s) + attention(s, s.nodes * min(s.k, s.longest))


def cgao_dense(s):
    """X W_K and X W_V, 2 N F U; Kᵀ K and V softmax(E)ᵀ, 2 N U²."""
    return 2 * s.nodes * s.features * s.units + 2 * s.nodes * s.units**2


def topk_dense(s):
    """The transforms, all N² scores to rank by, then k places a node."""
    return transforms(s) + s.nodes**2 * s.features + attention(s, s.nodes * min(s.k, s.nodes))


def topk_sparse(s):
    """The transforms, a score a place of the neighbour table, then min(k, longest list) places a node."""
    return transforms(s) + s.table * s.features + attention(s, s.nodes * min(s.k, s.longest))


def sampled_dense(s):
    """As GAO: the chosen neighbour is a one-hot row of an [N, N] matrix."""
    return gao_dense(s)


def sampled_sparse(s):
    """The transforms and, in inference, a score a place of the neighbour table; the chosen value is copied."""
    return transforms(s) + s.table * s.features


def gcn_dense(s):
    """X W, the product with Â, N² U, and one with D̂^-½ before and after it, N U each."""
    return s.nodes * s.features * s.units + (s.nodes + 2) * s.nodes * s.units


def gcn_sparse(s):
    """As dense, with E + N entries in Â."""
    return s.nodes * s.features * s.units + (s.neighbours + 2 * s.nodes) * s.units


_EXACT = {
    ("gao", "dense"): gao_dense,
    ("gao", "sparse"): gao_sparse,
    ("hgao", "dense"): hgao_dense,
    ("hgao", "sparse"): hgao_sparse,
    ("cgao", "dense"): cgao_dense,
    ("topk", "dense"): topk_dense,
    ("topk", "sparse"): topk_sparse,
    ("sampled", "dense"): sampled_dense,
    ("sampled", "sparse"): sampled_sparse,
    ("gcn", "dense"): gcn_dense,
    ("gcn", "sparse"): gcn_sparse,
}


def exact_madd(operator, implementation, size):
    """Multiply-adds of one inference call as our code computes it; None for a layer we do not know.

    Args:
        operator: one of `OPERATORS`.
        implementation: "dense" or "sparse"; cGAO, which uses no graph, has "dense" only.
        size: the call's `Size`.
    """
    count = _EXACT.get((operator, implementation))
    return None if count is None else count(size)


def needed_bytes(operator, implementation, size, gradients=False):
    """Bytes that a call must find free, from above: what is refused in advance when it is not there.

    Dense operators hold a bool and a float [N, N] matrix at once, sampling three floats; sparse ones the
    lists (a few integers an entry) and the gathered [places, F] keys. A backward pass holds three times that.
    """
    s = size
    width = 4 * max(s.features, s.units)
    needed = 6 * s.nodes * width
    if implementation == "dense" and operator != "cgao":
        needed += (12 if operator == "sampled" else 5) * s.nodes**2
    elif operator != "cgao":
        places = {"gcn": 0, "hgao": s.nodes * min(s.k, s.longest)}.get(operator, s.table)
        needed += 40 * s.neighbours + (width + 40) * places
    return 3 * needed if gradients else needed
