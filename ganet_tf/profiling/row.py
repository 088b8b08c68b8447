"""One row of the efficiency table: an operator at a size, counted, measured and compared."""

from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True)
class Row:
    """What is known of one operator and implementation at one size; None where nothing is.

    `madd_formula` and `memory_bytes_formula` are the paper's closed forms, `madd_exact` our own count,
    `madd_profiler` the TensorFlow profiler's float operations, halved, without those of `madd_uncounted`.
    `memory_bytes_profiler` is what a traced run holds at its fullest moment, inputs and weights included;
    `memory_bytes_requested` is everything it asks for, one after the other. `peak_rss_bytes` is the growth of
    the process. Times are medians in milliseconds, `_low` and `_high` the quartiles; `gradient_time_ms` is
    forward and backward. `needs_bytes` is set instead of all measurements where the row would not fit.
    Savings, in percent, and `speedup` are against dense GAO of the same size; `paper` is the paper's cell.
    """

    nodes: int
    features: int
    units: int
    edges: int
    operator: str
    implementation: str
    k: int = 0
    degree: float | None = None
    threads: int | None = None
    madd_formula: float | None = None
    madd_exact: float | None = None
    madd_profiler: float | None = None
    madd_uncounted: list = field(default_factory=list)
    memory_bytes_formula: int | None = None
    memory_bytes_profiler: int | None = None
    memory_bytes_requested: int | None = None
    peak_rss_bytes: int | None = None
    time_ms: float | None = None
    time_ms_low: float | None = None
    time_ms_high: float | None = None
    repeats: int | None = None
    gradient_time_ms: float | None = None
    gradient_time_ms_low: float | None = None
    gradient_time_ms_high: float | None = None
    needs_bytes: int | None = None
    error: str | None = None
    cost_saving: float | None = None
    memory_saving: float | None = None
    speedup: float | None = None
    paper: dict | None = None

    def against(self, baseline):
        """The same row with its savings and speed-up filled in, as in the paper: against dense GAO.

        The cost saving compares exact counts, the memory saving the bytes of the traced runs.
        """
        return replace(
            self,
            cost_saving=_saving(self.madd_exact, baseline.madd_exact),
            memory_saving=_saving(self.memory_bytes_profiler, baseline.memory_bytes_profiler),
            speedup=baseline.time_ms / self.time_ms if self.time_ms and baseline.time_ms else None,
        )

    def as_dict(self):
        """The row as the JSON file has it."""
        return asdict(self)


def _saving(ours, theirs):
    """Percent less than `theirs`."""
    return None if ours is None or not theirs else 100.0 * (1.0 - ours / theirs)
