"""How large a call is, and what our own code computes in it: exact multiply-adds, and the memory it must find free.

One multiply-add counts 1, and so does a product of floats without an addition (the gate, GCN's weights).
Exponentials, divisions, comparisons, ranking and copies are not counted, as in the paper. Neighbour tables are
counted with their padding, because the kernels compute it.

The function `<operator>_<implementation>` counts an operator's multiply-adds, and `<operator>_<implementation>_bytes`
its memory where that is not what others need; an operator without functions is measured all the same.
"""

from dataclasses import dataclass

import numpy as np

from ganet_tf.layers.operators import profiled_operators
from ganet_tf.ops.neighbor_tables import FOLD_WIDTH


@dataclass(frozen=True)
class Size:
    """How large one call of an operator is.

    Args:
        nodes: N, rows of `x`.
        edges: E, rows of `edges`, without the self-loops that every operator adds.
        features: F, channels of `x`.
        units: U, channels that come out.
        k: neighbours that the hard operators keep.
        longest: neighbours of the node that has most of them, itself included.
        table: places of the neighbour table: each node's list, filled up to whole rows.
    """

    nodes: int
    edges: int
    features: int
    units: int
    k: int = 0
    longest: int = 0
    table: int = 0

    @property
    def neighbours(self):
        """All pairs (i, j) with j in N(i): the edges and a self-loop a node."""
        return self.edges + self.nodes

    @classmethod
    def of(cls, edges, nodes: int, features: int, units: int | None = None, k: int = 0) -> "Size":
        """Reads the size off an edge list.

        Args:
            edges: array [E, 2] of (source, target), or None for an operator without a graph.
            nodes: number of nodes.
            features: channels that go in.
            units: channels that come out; as many as go in when left out.
            k: neighbours that a hard operator keeps; 0 for the others.
        """
        units = features if units is None else units
        if edges is None:
            return cls(nodes, 0, features, units, k, 0, 0)
        degrees = np.bincount(np.asarray(edges)[:, 1], minlength=nodes) + 1
        table = int((-(-degrees // FOLD_WIDTH)).sum()) * FOLD_WIDTH
        return cls(nodes, len(edges), features, units, k, int(degrees.max(initial=0)), table)


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


def exact_madd(operator: str, implementation: str, size: Size) -> int | None:
    """Multiply-adds of one inference call as our code computes it; None for a layer that has no count here.

    Args:
        operator: a name of `layers.operators.profiled_operators()`.
        implementation: "dense", "sparse" or "native", which computes what the sparse one does, but no padding: for it
            the count is one from above. cGAO, which uses no graph, has "dense" only.
        size: the call's `Size`.
    """
    count = globals().get(f"{operator}_{_counted_as(implementation)}")
    return None if count is None else count(size)


def needed_bytes(operator: str, implementation: str, size: Size, gradients: bool = False) -> int:
    """Bytes that a call must find free, from above: what is refused in advance when it is not there.

    Six node arrays, and what the neighbours take where the operator looks at them. A backward pass holds three times
    that.
    """
    needed = 6 * size.nodes * _row_bytes(size)
    row = profiled_operators().get(operator)
    if row is None or "implementation" in row.options:
        name = f"{_counted_as(implementation)}_bytes"
        needed += globals().get(f"{operator}_{name}", globals()[name])(size)
    return 3 * needed if gradients else needed


def _counted_as(implementation):
    return "sparse" if implementation == "native" else implementation


def dense_bytes(s):
    """A bool and a float [N, N] matrix at once."""
    return 5 * s.nodes**2


def topk_dense_bytes(s):
    """As above, and a bool [N, N] matrix more for scores that cannot be ranked."""
    return 6.5 * s.nodes**2


def sampled_dense_bytes(s):
    """Three float [N, N] matrices, scores, noise and the softmax, and two bool ones."""
    return 14 * s.nodes**2


def sparse_bytes(s, places=None):
    """The lists, a few integers an entry, and the gathered keys: a row a place of the neighbour table."""
    places = s.table if places is None else places
    return 40 * s.neighbours + (_row_bytes(s) + 40) * places


def hgao_sparse_bytes(s):
    """k places a node at most."""
    return sparse_bytes(s, s.nodes * min(s.k, s.longest))


def gcn_sparse_bytes(s):
    """Nothing is gathered."""
    return sparse_bytes(s, 0)


def _row_bytes(s):
    return 4 * max(s.features, s.units)
