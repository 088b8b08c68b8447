"""Measuring a call: its time, and what the TensorFlow profiler reads from one traced run of it."""

import contextlib
import logging
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

# Ops that move, make or describe data without arithmetic on floats: the profiler misses nothing there.
_NO_ARITHMETIC = frozenset(
    """
    Assert Bitcast BroadcastArgs BroadcastTo CSRSparseMatrixComponents CSRSparseMatrixToDense Cast ConcatV2 Const
    DynamicStitch EnsureShape Enter Equal Exit ExpandDims Fill Gather GatherNd GatherV2 Greater GreaterEqual
    Identity IdentityN If InvertPermutation Less LessEqual LogicalAnd LogicalNot LogicalOr LoopCond Merge
    NextIteration NoOp NotEqual OneHot OnesLike Pack Pad PadV2 Placeholder PlaceholderWithDefault PreventGradient
    Range Rank ReadVariableOp Reshape ReverseV2 ScatterNd Select SelectV2 Shape ShapeN Size Slice
    SparseMatrixTranspose SparseTensorToCSRSparseMatrix Split SplitV Squeeze StatelessIf StatelessWhile StopGradient
    StridedSlice Switch TensorScatterUpdate Tile Transpose Unique UniqueWithCounts UniqueV2 Unpack Where While
    ZerosLike
    """.split()  # noqa: SIM905 - seventy names read better in a block
)
_LOOPS = ("Enter", "StatelessWhile", "While")
LOOP = "While (body counted once at most)"


@dataclass(frozen=True)
class Timing:
    """Milliseconds a call: the median, the lower and the upper quartile, and how many calls they are from."""

    median: float
    low: float
    high: float
    repeats: int


def time_calls(call, budget=2.0, least=3, most=50, warmup=1):
    """Times a function without arguments.

    Args:
        call: what to time; it must come back only when its work is done (TensorFlow's CPU functions do).
        budget: seconds of timed calls after which no further one is started.
        least: calls to time even when the budget is spent, as long as all calls, the warm-up among them, took
            less than three budgets; one call is timed in any case.
        most: calls to time at most.
        warmup: calls before the first one that counts.

    Returns:
        A `Timing`.
    """
    seconds = []

    def timed():
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)

    for _ in range(warmup):
        timed()
    while len(seconds) < warmup + most and (
        len(seconds) == warmup
        or sum(seconds[warmup:]) < budget
        or (len(seconds) < warmup + least and sum(seconds) < 3 * budget)
    ):
        timed()
    low, median, high = np.percentile(np.array(seconds[warmup:]) * 1e3, [25, 50, 75])
    return Timing(float(median), float(low), float(high), len(seconds) - warmup)


class TracedRun:
    """Runs a concrete function once under `RunOptions.FULL_TRACE` and keeps the graph and the trace.

    The function's variables are frozen into constants and the functions it calls are put in line, because
    `tf.compat.v1.profiler` looks into neither. Shapes that are known only at run time are taken from the trace.

    Args:
        function: a `tf.types.experimental.ConcreteFunction` with fixed input shapes.
        inputs: its inputs, one tensor or array each, in order.
    """

    def __init__(self, function, inputs):
        frozen = convert_variables_to_constants_v2(function)
        feed = {tensor.name: np.asarray(value) for tensor, value in zip(frozen.inputs, inputs, strict=True)}
        fetched = [tensor.name for tensor in frozen.outputs]
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.graph_util.import_graph_def(frozen.graph.as_graph_def(), name="")
        self.metadata = tf.compat.v1.RunMetadata()
        options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
        with tf.compat.v1.Session(graph=self.graph) as session:
            session.run(fetched, feed, options=options, run_metadata=self.metadata)

    def madd(self):
        """Multiply-adds as the profiler sees them: its float operations, halved."""
        return self._float_operations().total_float_ops / 2

    def uncounted(self):
        """Names of the op types that compute floats, some of which the profiler gives no float operations for.

        A loop is named too, because the profiler counts its body once, however often it ran.
        """
        counted = {node.name for node in _nodes(self._float_operations("scope")) if node.float_ops}
        operations = self.graph.get_operations()
        missed = {operation.type for operation in operations if operation.name not in counted and _computes(operation)}
        loops = [LOOP] if any(operation.type in _LOOPS for operation in operations) else []
        return sorted(missed) + loops

    def requested_bytes(self):
        """All bytes that the run asks for, as the profiler adds them up, freed in between or not."""
        return self._profile(tf.compat.v1.profiler.ProfileOptionBuilder.time_and_memory()).total_requested_bytes

    def peak_bytes(self):
        """The most bytes that the run holds at one moment, from the allocations and frees in the trace.

        The inputs and the weights are not among them: the run does not allocate those.
        """
        records = [
            (record.alloc_micros, -record.alloc_bytes)
            for device in self.metadata.step_stats.dev_stats
            for node in device.node_stats
            for memory in node.memory
            for record in memory.allocation_records
        ]
        live = peak = 0
        for _, freed in sorted(records):  # in one microsecond allocations come first: never too low
            live -= freed
            peak = max(peak, live)
        return peak

    def _float_operations(self, view="op"):
        return self._profile(tf.compat.v1.profiler.ProfileOptionBuilder.float_operation(), view)

    def _profile(self, options, view="op"):
        with _quiet():
            return tf.compat.v1.profiler.profile(
                self.graph, run_meta=self.metadata, cmd=view, options={**options, "output": "none"}
            )


def _computes(operation):
    """Whether it does arithmetic on floats, as far as its name and types tell."""
    floats = any(tensor.dtype.is_floating for tensor in [*operation.inputs, *operation.outputs])
    return floats and operation.type not in _NO_ARITHMETIC and not operation.type.startswith("TensorList")


def _nodes(root):
    yield root
    for child in root.children:
        yield from _nodes(child)


@contextlib.contextmanager
def _quiet():
    """Holds back TensorFlow's note that its own profiler calls a deprecated function."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
