"""The operators on `Lists`, each an op of ours with a gradient of ours."""

import tensorflow as tf

from ganet_tf.native.library import library
from ganet_tf.native.lists import SKIP_SELF, Lists, nothing

ALL, BY_NODE, BY_SCORE = range(3)  # kinds of ranking, as in src/kernels.h


def gao(queries, keys, values, lists, heads=1, dropout=0.0, dropout_seed=None):
    """o_i = Σ_j softmax_j(a_ij q_i · k_j) v_j over j in N(i), for each head.

    Args:
        queries, keys: [N, heads · F], head after head; both None for the uniform weights 1/|N(i)|.
        values: [N, heads · U].
        lists: `Lists` of the graph; a_ij are its weights, 1 where it has none.
        heads: number of heads.
        dropout: rate at which weights are dropped after the softmax, the others grow by 1/(1 - rate).
        dropout_seed: [2] ints; None for no dropout.

    Returns:
        [N, heads · U].
    """
    return _attend(queries, keys, values, None, lists, ALL, 0, heads, dropout, dropout_seed)


def hgao(queries, keys, values, scores, lists, k, heads=1, dropout=0.0, dropout_seed=None):
    """Σ_j softmax_j(q_i · k_j) v_j over the k of N(i) with the largest a_ij · scores_j, the same for all heads.

    Equal scores go to the smaller index, NaN ranks last. The weights a_ij rank and do no more. `scores` [N] gets no
    gradient: p learns through the gate. Arguments as in `gao`.
    """
    scores = tf.stop_gradient(scores)
    return _attend(queries, keys, values, scores, lists, BY_NODE, k, heads, dropout, dropout_seed)


def topk_gao(queries, keys, values, lists, k, heads=1, dropout=0.0, dropout_seed=None, uniform=False):
    """As `gao`, over the k of N(i) with the largest a_ij q_i · k_j, chosen for each head on its own.

    If `uniform`, the chosen are averaged: queries and keys rank, and get no gradient. That is for one head.
    """
    if uniform:
        chosen = _ranked(queries, keys, lists, k)
        return _attend(None, None, values, None, chosen, ALL, 0, 1, dropout, dropout_seed)
    if heads == 1:
        return _attend(queries, keys, values, None, lists, BY_SCORE, k, 1, dropout, dropout_seed)
    parts = [tf.split(t, heads, axis=1) for t in (queries, keys, values)]
    seeds = [None if dropout_seed is None else tf.add(tf.cast(dropout_seed, tf.int64), [0, h]) for h in range(heads)]
    outputs = [
        _attend(*qkv, None, lists, BY_SCORE, k, 1, dropout, seed) for *qkv, seed in zip(*parts, seeds, strict=True)
    ]
    return tf.concat(outputs, axis=1)


def _ranked(queries, keys, lists, k):
    """`Lists` of the k columns of each row with the largest scores."""
    queries, keys = tf.stop_gradient(queries), tf.stop_gradient(keys)
    weights, flags = lists.weights_as(keys.dtype)
    made = library().ops.ganet_attend(
        queries, keys, keys[:, :0], lists.row_splits, lists.columns, weights, nothing(keys.dtype), nothing(tf.int64),
        ranking=BY_SCORE, k=k, flags=flags,
    )  # fmt: skip
    return Lists(made.chosen_splits, made.chosen_columns, tf.shape(keys)[0])


def _attend(queries, keys, values, scores, lists, ranking, k, heads, dropout, dropout_seed):
    values = tf.convert_to_tensor(values)
    dtype = values.dtype
    if queries is None:  # no channels: all scores are 0, all weights the same
        queries, keys = tf.zeros([lists.num_rows, 0], dtype), tf.zeros([tf.shape(values)[0], 0], dtype)
    seed = nothing(tf.int64) if dropout_seed is None else tf.cast(dropout_seed, tf.int64)
    scores = nothing(dtype) if scores is None else scores
    options = {"heads": heads, "dropout": 0.0 if dropout_seed is None else dropout}
    ops = library().ops

    @tf.custom_gradient
    def run(queries, keys, values):
        weights, flags = lists.weights_as(dtype)
        made = ops.ganet_attend(
            queries, keys, values, lists.row_splits, lists.columns, weights, scores, seed,
            ranking=ranking, k=k, flags=flags, **options,
        )  # fmt: skip
        made.output.set_shape([queries.shape[0], values.shape[1]])

        def gradient(d_output):
            chosen, chosen_weights = lists, weights
            if ranking != ALL:
                chosen = Lists(made.chosen_splits, made.chosen_columns, tf.shape(values)[0])
                chosen_weights = made.chosen_weights
            weighted = 0 if ranking == BY_NODE else flags
            gradients = ops.ganet_attend_grad(
                queries, keys, values, chosen.row_splits, chosen.columns, chosen_weights, *chosen.transposed(),
                made.alpha, made.output, d_output, seed, flags=weighted, **options,
            )  # fmt: skip
            return _with_shapes(gradients, (queries, keys, values))

        return made.output, gradient

    return run(queries, keys, values)


def gcn(h, lists, normalization="sym"):
    """Σ_j Â_ij h_j over j in N(i), Â being the lists' weights normalised: see `Lists.factors`.

    Args:
        h: [N, F].
        lists: `Lists` of the graph.
        normalization: "sym", 1/√(d̂_i d̂_j); "row", 1/d̂_i; or None.

    Returns:
        [N, F].
    """
    return neighbor_sum(h, lists, normalization)


def neighbor_sum(x, lists, normalization=None, loops=True):
    """Σ_j a_ij x_j over the entries of each row, normalised.

    Args:
        x: [columns, F].
        lists: `Lists`.
        normalization: None for the sum, "row" for the mean (0 where there is nothing), "sym" as in `gcn`.
        loops: whether entries (i, i) count; without them the neighbours of i do not include i.

    Returns:
        [rows, F].
    """
    x = tf.convert_to_tensor(x)
    ops = library().ops
    before, after = lists.factors(normalization, x.dtype, loops)
    weights, flags = lists.weights_as(x.dtype)
    flags |= 0 if loops else SKIP_SELF

    @tf.custom_gradient
    def run(x):
        none = nothing(tf.int32)
        y = ops.ganet_product(x, lists.row_splits, lists.columns, weights, none, before, after, flags=flags)
        y.set_shape([None, x.shape[1]])

        def gradient(d_y):
            column_splits, rows, places = lists.transposed()
            d_x = ops.ganet_product(d_y, column_splits, rows, weights, places, after, before, flags=flags)
            return _with_shapes([d_x], [x])[0]

        return y, gradient

    return run(x)


def neighbor_max(x, lists, loops=True):
    """max_j x_j over the entries of each row, channel by channel; 0 where there is nothing. Weights are not used.

    The gradient is shared evenly by all that reach the maximum, as TensorFlow does. Arguments as in `neighbor_sum`.
    """
    x = tf.convert_to_tensor(x)
    ops, flags = library().ops, 0 if loops else SKIP_SELF

    @tf.custom_gradient
    def run(x):
        made = ops.ganet_maximum(x, lists.row_splits, lists.columns, flags=flags)
        made.y.set_shape([None, x.shape[1]])

        def gradient(d_y):
            column_splits, rows, _ = lists.transposed()
            d_x = ops.ganet_maximum_grad(x, made.y, made.count, d_y, column_splits, rows, flags=flags)
            return _with_shapes([d_x], [x])[0]

        return made.y, gradient

    return run(x)


def segment_sum(x, segments):
    """Σ x_n over the nodes n of each graph: x [N, F], `segments` from `native.segments`; [graphs, F]."""
    return neighbor_sum(x, segments)


def segment_mean(x, segments):
    """The mean over the nodes of each graph; 0 for a graph without nodes."""
    return neighbor_sum(x, segments, "row")


def segment_max(x, segments):
    """The largest of each channel over the nodes of each graph; 0 for a graph without nodes."""
    return neighbor_max(x, segments)


def segment_softmax(x, segments):
    """The softmax of each channel of x [N, F] over the nodes of each graph; [N, F]."""
    ops = library().ops

    @tf.custom_gradient
    def run(x):
        y = ops.ganet_softmax(x, segments.row_splits)
        y.set_shape(x.shape)

        def gradient(d_y):
            return _with_shapes([ops.ganet_softmax_grad(y, d_y, segments.row_splits)], [x])[0]

        return y, gradient

    return run(tf.convert_to_tensor(x))


def _with_shapes(results, like):
    """`results` with the static shapes of the tensors that they are gradients of."""
    for result, tensor in zip(results, like, strict=True):
        result.set_shape(tensor.shape)
    return list(results)


def _no_second_derivative(op, *_):
    raise LookupError(f'native kernels have no second derivatives ({op.type}): use implementation="sparse".')


for _op in ("GanetAttendGrad", "GanetMaximumGrad", "GanetProduct", "GanetSoftmaxGrad"):
    tf.RegisterGradient(_op)(_no_second_derivative)
