"""What comes in wrong goes out as a sentence; threads, forks and switches."""

import concurrent.futures
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import native, ops
from ganet_tf.native import library
from tests.graphs import hub
from tests.native.compare import needs_kernels, tensors

ROOT = Path(__file__).parents[2]


def in_new_process(code, **environment):
    """What `code` prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, text=True, capture_output=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def sentence_of(call):
    """The text of the error that `call` ends with, eagerly and compiled."""
    texts = []
    for run in (call, tf.function(call)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)) as error:
            run()
        texts.append(str(error.value))
    return texts


@needs_kernels
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("edge", [[0, 3], [-1, 0], [7, 1]])
def test_an_edge_out_of_range_is_the_layers_sentence(edge, dtype):
    edges = tf.constant([[0, 1], edge, [5, 5]], dtype)
    with pytest.raises(ValueError) as wanted:
        ops.gcn(tf.ones([3, 1]), edges, implementation="sparse")
    for given in (edges, edges[:2]):
        for text in sentence_of(lambda given=given: native.lists(given, 3).columns):
            assert str(wanted.value) in text


@needs_kernels
def test_edges_of_a_wrong_shape_are_the_layers_sentence():
    for shape in [(2, 5), (4,), (3, 3), (1, 2, 2)]:
        edges = tf.zeros(shape, tf.int32)
        with pytest.raises(ValueError) as wanted:
            ops.gcn(tf.ones([3, 1]), edges, implementation="sparse")
        for text in sentence_of(lambda edges=edges: native.lists(edges, 3).columns):
            assert str(wanted.value) in text
    with pytest.raises(TypeError, match="must be integers"):
        native.lists(tf.zeros([2, 2]), 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        native.lists(tf.zeros([0, 2], tf.int32), 2**31 - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`edge_weights` must have 2 entries, but has 3"):
        native.lists(tf.constant([[0, 1], [1, 0]]), 2, tf.ones([3]))


@needs_kernels
def test_graph_ids_are_the_layers_sentence():
    for ids in ([0, 1, 0], [-1, 0, 0], [0, 0]):
        ids = tf.constant(ids)
        with pytest.raises(ValueError) as wanted:
            ops.sort_pooling(tf.ones([3, 1]), ids, 2)
        for text in sentence_of(lambda ids=ids: native.segments(ids, 3).row_splits):
            assert str(wanted.value) in text


@needs_kernels
def test_shapes_that_do_not_fit_are_sentences():
    lists = native.lists(tf.constant([[0, 1], [1, 2]]), 3)
    x, flat = tf.ones([3, 4]), tf.ones([3])
    for call, part in [
        (lambda: native.gao(x, x, flat, lists), "`values` must have 2 axes"),
        (lambda: native.gao(x, tf.ones([3, 5]), x, lists), "`keys` must have shape (3, 4), but has (3, 5)"),
        (lambda: native.gao(tf.ones([2, 4]), x, x, lists), "`row_splits` must have 3 entries, but has 4"),
        (lambda: native.gao(x, x, x, lists, heads=3), "multiples of `heads`"),
        (lambda: native.gao(x, x, x, lists, heads=0), "`heads` must be at least 1"),
        (lambda: native.hgao(x, x, x, tf.ones([2]), lists, 2), "`scores` must have 3 entries, but has 2"),
        (lambda: native.hgao(x, x, x, flat, lists, 0), "`k` must be at least 1"),
        (lambda: native.gao(tf.ones([4, 4]), tf.ones([4, 4]), tf.ones([4, 4]), lists), "`row_splits` must have 5"),
        (lambda: native.gcn(flat[:, None, None], lists), "`x` must have 2 axes"),
        (lambda: native.gcn(tf.ones([2, 4]), lists), "`before` must have 2 entries, but has 3"),
        (lambda: native.gcn(tf.ones([2, 4]), lists, None), "a column that does not exist"),
        (lambda: native.neighbor_max(tf.ones([2, 4]), lists), "a column that does not exist"),
        (
            lambda: native.segment_softmax(tf.ones([5, 1]), native.segments(tf.constant([0, 1]), 2)),
            "end at the entries",
        ),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            call()
        assert part in str(error.value), str(error.value)


@needs_kernels
def test_lists_that_lie_are_sentences():
    """Whatever tensors an op is given, it reads no memory that is not its own."""
    x, seed = tf.ones([3, 4]), tf.zeros([0], tf.int64)
    none, kernels = tf.zeros([0]), library.library().ops
    lies = [([0, 9, 9, 3], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 3]), ([1, 1, 2, 3], [0, 1, 2]), ([0, 2, 1, 3], [0, -1, 2])]
    for splits, columns in lies:
        splits, columns = tf.constant(splits), tf.constant(columns)
        for ranking in range(3):
            scores = x[:, 0] if ranking == 1 else none
            with pytest.raises(tf.errors.InvalidArgumentError):
                kernels.ganet_attend(x, x, x, splits, columns, none, scores, seed, ranking=ranking, k=1)
        with pytest.raises(tf.errors.InvalidArgumentError):
            kernels.ganet_product(x, splits, columns, none, tf.zeros([0], tf.int32), none, none)
        with pytest.raises(tf.errors.InvalidArgumentError):
            kernels.ganet_transpose(splits, columns, 3)
    good = tf.constant([0, 1, 2, 3]), tf.constant([0, 1, 2])
    for t_splits, rows, places in [([0, 1, 2, 3], [0, 1, 9], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 2], [0, 1, -5])]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            kernels.ganet_attend_grad(
                x, x, x, *good, none, *map(tf.constant, (t_splits, rows, places)), tf.ones([3, 1]), x, x, seed
            )


@needs_kernels
def test_any_tensors_give_a_result_or_a_sentence():
    given, refused = map(int, in_new_process("from tests.native.fuzz import main; main(seed=1, calls=2000)").split())
    assert given + refused == 2000 and given > 40, "some calls get through all checks"


@needs_kernels
def test_a_second_derivative_is_refused_with_a_sentence():
    lists, x = native.lists(tf.constant([[0, 1]]), 2), tf.ones([2, 3])
    for function in (lambda x: native.gao(x, x, x, lists), lambda x: native.gcn(x, lists)):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(function(x) ** 2)
            first = inner.gradient(y, x)
        with pytest.raises(LookupError, match='implementation="sparse"'):
            outer.gradient(first, x)


@pytest.fixture
def threads():
    """A function that sets the number of threads, for this test."""
    controls = library.library().controls
    wanted = []

    def set_threads(count):
        wanted[:] = [count]
        monkey.setattr(tf.config.threading, "get_intra_op_parallelism_threads", lambda: count)
        controls.ganet_set_threads(count)
        assert controls.ganet_threads() == count

    with pytest.MonkeyPatch.context() as monkey:
        yield set_threads
    controls.ganet_use_instruction_set(1)


def everything(n=4000, seed=0):
    """Bytes of all that the kernels compute, on a graph with a hub that is split."""
    rng = np.random.default_rng(seed)
    edges = np.concatenate([hub(3000).edges, rng.integers(0, n, (20_000, 2))])
    q, k, v = tensors([(n, 24), (n, 24), (n, 20)], tf.float32)
    results = []
    with tf.GradientTape() as tape:
        tape.watch([q, k, v])
        lists = native.lists(edges, n, tf.constant(rng.random(len(edges)), tf.float32))
        segments = native.segments(np.sort(rng.integers(0, 3, n)), n)
        for out in (
            native.gao(q, k, v, lists, heads=2),
            native.hgao(q, k, v, q[:, 0], lists, 8),
            native.topk_gao(q, k, v, lists, 5),
            native.gcn(v, lists),
            native.neighbor_max(v, lists, loops=False),
            native.segment_mean(v, segments),
            native.segment_softmax(v, segments),
        ):
            results.append(out)
        loss = sum(tf.reduce_sum(r * r) for r in results)
    return [t.numpy() for t in (*results, *tape.gradient(loss, [q, k, v]))]


@needs_kernels
def test_the_same_bits_for_any_number_of_threads(threads):
    threads(1)
    wanted = everything()
    for count in (2, 7):
        threads(count)
        for a, b in zip(everything(), wanted, strict=True):
            np.testing.assert_array_equal(a, b)


@needs_kernels
def test_the_base_instruction_set_gives_the_same_numbers(threads):
    wanted = everything()
    assert library.library().controls.ganet_use_instruction_set(0) == 0
    for a, b in zip(everything(), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-6 * np.abs(b).max())


@needs_kernels
def test_several_callers_at_once(threads):
    threads(3)
    wanted = everything()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for results in pool.map(lambda _: everything(), range(8)):
            for a, b in zip(results, wanted, strict=True):
                np.testing.assert_array_equal(a, b)


@needs_kernels
def test_a_forked_child_has_threads_of_its_own():
    """The child computes what the parent does, though the parent's helpers are not there."""
    printed = in_new_process(
        """
        import os
        import numpy as np, tensorflow as tf
        from ganet_tf import native
        from ganet_tf.native import library
        kernels = library.library()
        kernels.controls.ganet_set_threads(3)
        edges = np.random.default_rng(0).integers(0, 2000, (30000, 2))
        lists = native.lists(edges, 2000)
        x = tf.ones([2000, 64])
        nothing, places = tf.zeros([0]), tf.zeros([0], tf.int32)
        def run():
            return kernels.ops.ganet_product(x, lists.row_splits, lists.columns, nothing, places, nothing, nothing)
        wanted = run().numpy().tobytes()
        child = os.fork()
        if child == 0:
            os._exit(0 if all(run().numpy().tobytes() == wanted for _ in range(20)) else 1)
        print(os.waitpid(child, 0)[1], run().numpy().tobytes() == wanted)
        """
    )
    assert printed == "0 True"


def test_the_switch_says_why():
    printed = in_new_process(
        "from ganet_tf import native; print(bool(native.available()), native.available(), native.usable())",
        GANET_NATIVE="0",
    )
    assert printed == "False GANET_NATIVE=0 switches the native kernels off. False"


def test_without_a_library_the_reason_names_the_way_to_one(monkeypatch, tmp_path):
    monkeypatch.setattr(library.importlib.resources, "files", lambda package: tmp_path)
    library._load.cache_clear()
    try:
        reason = native.available()
        assert not reason and "pip install" in str(reason)
        with pytest.raises(RuntimeError, match="pip install"):
            native.lists([[0, 1]], 2)
        library._load.cache_clear()
        (tmp_path / "_kernels.so").write_text("not a library")
        assert "_kernels.so does not load" in str(native.available())
    finally:
        library._load.cache_clear()


@needs_kernels
def test_not_usable_where_something_else_compiles_or_saves():
    assert native.usable()
    assert native.usable(tf.ones([1])) and not native.usable(tf.ones([1], tf.float16))
    seen = []

    def trace(x):
        seen.append(native.usable())
        return x + 1

    tf.function(trace)(1.0)
    tf.function(trace, jit_compile=True)(1.0)
    with native.disabled():
        tf.function(trace)(1.0)
        with native.disabled():
            pass
        seen.append(native.usable())
        with concurrent.futures.ThreadPoolExecutor(1) as other:
            seen.append(other.submit(native.usable).result())
    seen.append(native.usable())
    assert seen == [True, False, False, False, True, True]


@needs_kernels
def test_an_exported_model_without_native_kernels_is_plain(tmp_path):
    class Layer(keras.layers.Layer):
        def call(self, x):
            return native.segment_sum(x, native.segments(tf.range(2), 2)) if native.usable() else x * 1.0

    model = keras.Sequential([keras.Input((3,)), Layer()])
    with native.disabled():
        model.export(tmp_path / "served", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "served")
    graph = loaded.signatures["serving_default"].graph.as_graph_def()
    kinds = {node.op for function in graph.library.function for node in function.node_def}
    assert not any(kind.startswith("Ganet") for kind in kinds)
