"""`profile`: counts, bytes and times of one layer on one graph, as a row of the efficiency table."""

import os

import numpy as np
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.errors import OutOfMemoryError
from ganet_tf.memory import available_memory, peak_growth
from ganet_tf.profiling import counts, timing
from ganet_tf.profiling.measuring import TracedRun
from ganet_tf.profiling.row import Row
from ganet_tf.profiling.size import Size

LAYERS = {
    "gao": layers.GAO,
    "hgao": layers.HGAO,
    "cgao": layers.CGAO,
    "topk": layers.TopKGAO,
    "sampled": layers.SampledGAO,
    "gcn": layers.GCN,
}


def profile(layer, x, edges=None, gradients=False, budget=2.0, trace=None, memory_limit=None, baseline=None):
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
        A `Row`. The counts by formula are there for the layers of this package; the rest is measured for any.
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
    if row.operator in LAYERS and needed > (available_memory() if memory_limit is None else memory_limit):
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


def make_layer(operator, implementation, units, k):
    """The layer of an operator's name, as the table measures it."""
    options = {"k": k} if operator in ("hgao", "topk") else {}
    if operator != "cgao":
        options["implementation"] = implementation
    return LAYERS[operator](units, **options)


def _counted(layer, x, edges):
    """The row as far as it follows from the sizes, and the sizes."""
    nodes, features = np.shape(x)
    operator = next((name for name, kind in LAYERS.items() if type(layer) is kind), type(layer).__name__.lower())
    # cGAO uses no graph: it has one implementation, of dense products.
    implementation = "dense" if operator == "cgao" else getattr(layer, "implementation", "dense")
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
    inputs = [tf.convert_to_tensor(value) for value in (x, edges) if value is not None]

    def forward(*args):
        return layer(*args, training=False)

    def forward_backward(*args):
        with tf.GradientTape() as tape:
            tape.watch(args[0])
            outputs = layer(*args, training=True)
        return tape.gradient(outputs, [args[0], *layer.trainable_variables])

    function = _concrete(forward, inputs)
    growth = []
    # The warm-up call also optimises the graph and starts the threads; the next one is watched and timed.
    time = timing.measure(lambda: function(*inputs), budget, around_first=lambda call: growth.append(peak_growth(call)))
    values = {"time_ms": time.median, "time_ms_low": time.low, "time_ms_high": time.high, "repeats": time.repeats}
    if gradients:
        both = _concrete(forward_backward, inputs)
        time = timing.measure(lambda: both(*inputs), budget)
        names = ("gradient_time_ms", "gradient_time_ms_low", "gradient_time_ms_high")
        values |= dict(zip(names, (time.median, time.low, time.high), strict=True))
    if trace is not None:
        with tf.profiler.experimental.Profile(str(trace)):
            function(*inputs)
    return {"peak_rss_bytes": growth[0], **values, **_traced(function, inputs, layer)}


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
