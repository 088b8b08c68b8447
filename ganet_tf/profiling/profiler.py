"""`profile`: counts, bytes and times of one layer on one graph, as a `Row`."""

import os
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import tensorflow as tf

from ganet_tf.errors import OutOfMemoryError
from ganet_tf.layers.operators import profiled_operators
from ganet_tf.memory import available_memory, peak_growth
from ganet_tf.ops.implementations import chosen
from ganet_tf.profiling import counts
from ganet_tf.profiling.counts import Size
from ganet_tf.profiling.measuring import TracedRun, time_calls


@dataclass(frozen=True)
class Row:
    """What is known of one layer on one graph; None where nothing is.

    `madd_exact` is our own count, `madd_profiler` the TensorFlow profiler's float operations, halved, without those
    of `madd_uncounted`. `memory_bytes_profiler` is what a traced run holds at its fullest moment, inputs and weights
    included; `memory_bytes_requested` is everything it asks for, one after the other. `peak_rss_bytes` is the growth
    of the process (see `peak_growth`). Times are medians in milliseconds, `_low` and `_high` the quartiles;
    `gradient_time_ms` is forward and backward. `needs_bytes` is set instead of all measurements where the row would
    not fit. Savings, in percent, and `speedup` are against a baseline on the same graph.
    """

    nodes: int
    features: int
    units: int
    edges: int
    operator: str
    implementation: str
    k: int = 0
    threads: int | None = None
    madd_exact: float | None = None
    madd_profiler: float | None = None
    madd_uncounted: list = field(default_factory=list)
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
    cost_saving: float | None = None
    memory_saving: float | None = None
    speedup: float | None = None

    def against(self, baseline: "Row") -> "Row":
        """The same row with its savings and speed-up filled in.

        The cost saving compares exact counts, the memory saving the bytes of the traced runs.
        """
        return replace(
            self,
            cost_saving=_saving(self.madd_exact, baseline.madd_exact),
            memory_saving=_saving(self.memory_bytes_profiler, baseline.memory_bytes_profiler),
            speedup=baseline.time_ms / self.time_ms if self.time_ms and baseline.time_ms else None,
        )

    def as_dict(self) -> dict:
        """The row as a plain dict."""
        return asdict(self)


def profile(
    layer, x, edges=None, gradients=False, budget=2.0, trace=None, memory_limit=None, baseline: Row | None = None
) -> Row:
    """Counts and measures one layer on one graph.

    Args:
        layer: any Keras layer or model that is called as `layer(x, edges)`, or as `layer(x)` without edges.
        x: node features [N, F].
        edges: [E, 2] (source, target), or None.
        gradients: also time forward and backward together, in training mode.
        budget: seconds to spend on repeating the call; slow calls are timed once or twice all the same.
        trace: folder for a `tf.profiler` trace of one call, for TensorBoard or XProf.
        memory_limit: bytes that may be used; the memory at hand when left out.
        baseline: the `Row` to give savings and speed-up against.

    Returns:
        A `Row`. The exact counts are there for the layers of this package; the rest is measured for any.
        A layer of this package that would not fit in memory is not run: its row says `needs_bytes`.

    Example:

    >>> from ganet_tf import layers
    >>> from ganet_tf.profiling import profile, simulated_edges, simulated_features
    >>> x, edges = simulated_features(1000, 48), simulated_edges(1000, degree=8)
    >>> row = profile(layers.HGAO(48, k=8), x, edges)
    >>> row.time_ms, row.madd_exact, row.memory_bytes_profiler
    """
    row, size = _counted(layer, x, edges)
    needed = counts.needed_bytes(row.operator, row.implementation, size, gradients)
    if row.operator in profiled_operators() and needed > (available_memory() if memory_limit is None else memory_limit):
        values = {"needs_bytes": needed}
    else:
        try:
            values = _measured(layer, x, edges, gradients, budget, trace)
        except OutOfMemoryError:  # the operator's own rule: room for three float matrices
            values = {"needs_bytes": max(needed, 12 * size.nodes**2)}
        except tf.errors.ResourceExhaustedError:
            values = {"needs_bytes": needed}
    row = Row(**{**row.as_dict(), **values})
    return row if baseline is None else row.against(baseline)


def make_layer(operator: str, implementation: str, units: int, k: int):
    """The layer of an operator's name, as the efficiency table measures it."""
    row = profiled_operators()[operator]
    options = {"k": k, "implementation": implementation}
    return row.layer(units, **{key: value for key, value in options.items() if key in row.options})


def watched_growth(layer, x, edges=None) -> int:
    """Bytes by which this process grows, at its highest, in an inference call after the first; see `peak_growth`."""
    return _watched(*_inference(layer, x, edges))


def _watched(function, inputs):
    function(*inputs)  # optimises the graph and starts the threads
    return peak_growth(lambda: function(*inputs))


def _counted(layer, x, edges):
    """The row as far as it follows from the sizes, and the sizes."""
    nodes, features = np.shape(x)
    known = {row.layer: (name, row) for name, row in profiled_operators().items()}
    operator, row = known.get(type(layer), (type(layer).__name__.lower(), None))
    one_way = row is not None and "implementation" not in row.options
    implementation = "dense" if one_way else chosen(getattr(layer, "implementation", "dense"))
    if implementation == "native" and not getattr(layer, "has_native", True):
        implementation = "sparse"
    k = getattr(layer, "k", 0)
    size = Size.of(edges, nodes, features, getattr(layer, "units", None), k)
    row = Row(
        nodes=nodes,
        features=features,
        units=size.units,
        edges=size.edges,
        operator=operator,
        implementation=implementation,
        k=k,
        threads=_threads(),
        madd_exact=counts.exact_madd(operator, implementation, size),
    )
    return row, size


def _measured(layer, x, edges, gradients, budget, trace):
    function, inputs = _inference(layer, x, edges)

    def forward_backward(*args):
        with tf.GradientTape() as tape:
            tape.watch(args[0])
            outputs = layer(*args, training=True)
        return tape.gradient(outputs, [args[0], *layer.trainable_variables])

    growth = _watched(function, inputs)
    time = time_calls(lambda: function(*inputs), budget, warmup=0)
    values = {"time_ms": time.median, "time_ms_low": time.low, "time_ms_high": time.high, "repeats": time.repeats}
    if gradients:
        both = _concrete(forward_backward, inputs)
        time = time_calls(lambda: both(*inputs), budget)
        names = ("gradient_time_ms", "gradient_time_ms_low", "gradient_time_ms_high")
        values |= dict(zip(names, (time.median, time.low, time.high), strict=True))
    if trace is not None:
        with tf.profiler.experimental.Profile(str(trace)):
            function(*inputs)
    return {"peak_rss_bytes": growth, **values, **_traced(function, inputs, layer)}


def _inference(layer, x, edges):
    """The layer as a compiled function without training, and its inputs as tensors."""
    inputs = [tf.convert_to_tensor(value) for value in (x, edges) if value is not None]
    return _concrete(lambda *args: layer(*args, training=False), inputs), inputs


def _concrete(function, inputs):
    """The function traced for exactly these shapes: with free ones, the profiler could count nothing."""
    return tf.function(function).get_concrete_function(*[tf.TensorSpec(t.shape, t.dtype) for t in inputs])


def _traced(function, inputs, layer):
    run = TracedRun(function, inputs)
    given = sum(tf.as_dtype(t.dtype).size * int(np.prod(t.shape)) for t in [*inputs, *layer.weights])
    return {
        "madd_profiler": run.madd(),
        "madd_uncounted": run.uncounted(),
        "memory_bytes_profiler": given + run.peak_bytes(),
        "memory_bytes_requested": run.requested_bytes(),
    }


def _threads():
    """Threads that one op may use: what TensorFlow was told, or one a core that this process may run on."""
    told = tf.config.threading.get_intra_op_parallelism_threads()
    return told or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


def _saving(ours, theirs):
    """Percent less than `theirs`."""
    return None if ours is None or not theirs else 100.0 * (1.0 - ours / theirs)
