"""Which rows the efficiency table has, and in which order they are measured."""

from dataclasses import asdict, dataclass
from itertools import product

from ganet_tf.errors import ConfigError
from ganet_tf.profiling.counts import OPERATORS

WITH_K = ("hgao", "topk")
SIZES = (1000, 10000, 20000)


@dataclass(frozen=True)
class Request:
    """One row to measure. `k` is 0 for the operators that have none."""

    nodes: int
    features: int
    degree: float
    operator: str
    implementation: str
    k: int = 0
    seed: int = 0
    threads: int | None = None
    gradients: bool = False
    budget: float = 2.0
    trace: str | None = None
    memory_limit: int | None = None

    @property
    def group(self):
        """Rows of one group are compared with each other: same graph, same features."""
        return self.nodes, self.features, self.degree

    @property
    def edges(self):
        """Edges of the simulated graph, each direction counted."""
        return 2 * round(self.nodes * self.degree / 2)

    @property
    def slug(self):
        """A folder name for what belongs to this row alone."""
        k = f"-k{self.k}" if self.k else ""
        return f"{self.nodes}x{self.features}-degree{self.degree:g}-{self.operator}-{self.implementation}{k}"

    def as_dict(self):
        """The request as it goes to the measuring process."""
        return asdict(self)


def requests(nodes=SIZES, features=(48,), degrees=(8,), ks=(8,), operators=OPERATORS, implementation="both", **options):
    """All rows of a table, group after group, operators in the order asked for, dense before sparse.

    cGAO uses no graph and is made of dense products alone: it is one row, "dense", whatever is asked for.
    Operators without k are measured once, not once a k.

    Args:
        nodes, features, degrees, ks: the sizes; every combination is a group, with one row a `k` in it.
        operators: names out of `OPERATORS`.
        implementation: "dense", "sparse" or "both".
        **options: the other fields of `Request`.

    Raises:
        ConfigError: for a degree that no simple graph of that size has.
    """
    for n, degree in product(nodes, degrees):
        if degree > n - 1:
            raise ConfigError(
                f"a graph of {n} nodes cannot have mean degree {degree:g}: expected at most {n - 1}, "
                "so ask for more nodes or a smaller degree."
            )
    ways = ("dense", "sparse") if implementation == "both" else (implementation,)
    found = {}
    for n, f, degree, operator in product(nodes, features, degrees, operators):
        for way in ("dense",) if operator == "cgao" else ways:
            for k in ks if operator in WITH_K else (0,):
                found[Request(n, f, degree, operator, way, k, **options)] = None
    return list(found)


def baseline(request):
    """Dense GAO on the same graph: what savings and speed-ups are against."""
    options = {**request.as_dict(), "operator": "gao", "implementation": "dense", "k": 0}
    return Request(**{**options, "gradients": False, "trace": None})
