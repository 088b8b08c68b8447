"""Sparse matrices in TensorFlow's CSR form, the fastest sparse product there is on CPU.

`SparseMatrixMatMul` on a CSR matrix is some ten times faster than `tf.sparse.sparse_dense_matmul`
and than the scatter that the gradient of `tf.gather` runs. The attention weights of a graph are such a matrix, and so
are a network's first features where they are bags of words or one-hot labels.
"""

import tensorflow as tf

from ganet_tf.ops.checks import check_entries
from ganet_tf.ops.tensor_cache import current_graph


def indices(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """[M, 2] int64 places of a matrix from two [M] int32 tensors."""
    return tf.cast(tf.transpose(tf.stack([rows, columns])), tf.int64)


def csr_matrix(places: tf.Tensor, values: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
    """The CSR matrix of `shape` [2] int64 with `values` [M] at `places` [M, 2].

    `places` must be sorted by row; zeros and repeated columns may be among them. A side of 0 becomes 1: see `matmul`.
    """
    shape = tf.maximum(shape, 1)
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=places, values=values, dense_shape=shape)


def square_matrix(places: tf.Tensor, values: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """The [size, size] CSR matrix with `values` [M] at `places` [M, 2]; see `csr_matrix`."""
    return csr_matrix(places, values, tf.cast(tf.stack([size, size]), tf.int64))


def transpose(matrix: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """The transposed CSR matrix. Transposing, then multiplying, is twice as fast as `transpose_a`."""
    return tf.raw_ops.SparseMatrixTranspose(input=matrix, type=dtype)


def matmul(matrix: tf.Tensor, dense: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """`matrix @ dense` of a matrix with so many rows; the static width of `dense` is kept.

    For a matrix without rows TensorFlow's kernel divides by zero, which ends the process: no exception, nothing to
    catch. So no matrix here is without, `dense` gets a row of zeros where it has none, and the row too many is cut off.
    """
    product = tf.raw_ops.SparseMatrixMatMul(a=matrix, b=_if_empty(dense, dense.shape[0], _a_row))
    product = _if_empty(product, rows, lambda product: product[:0])
    product.set_shape([None, dense.shape[1]])
    return product


def _a_row(dense):
    return tf.zeros([1, dense.shape[1]], dense.dtype)


def _if_empty(tensor, rows, replace):
    """`tensor`, or `replace(tensor)` where there are no rows.

    By a condition, which leaves the tensor as it is: a pad would copy it, and a plain slice changes the last digit of
    what TensorFlow's graph optimiser makes of the products behind it.
    """
    rows = tf.shape(tensor)[0] if rows is None else rows
    known = tf.get_static_value(rows)
    if known is not None:
        return tensor if known > 0 else replace(tensor)
    return tf.cond(rows > 0, lambda: tensor, lambda: replace(tensor))


def features_matmul(x: tf.Tensor | tf.SparseTensor, kernel: tf.Tensor) -> tf.Tensor:
    """x [N, F] @ kernel [F, U], x a dense tensor or a `tf.SparseTensor` with its entries in any order.

    A sparse x costs its entries · U instead of N · F · U, also in the gradient of the kernel. No gradient flows into
    a sparse x: it is data.
    """
    if not is_sparse(x):
        return tf.matmul(x, kernel)
    compute = tf.float32 if kernel.dtype in (tf.float16, tf.bfloat16) else kernel.dtype  # CSR has no half precision
    with tf.control_dependencies(check_entries(x)):
        places, values = _by_row(x.indices, tf.cast(x.values, compute))
    matrix, graph = csr_matrix(places, values, x.dense_shape), current_graph()

    @tf.custom_gradient
    def run(kernel):
        def gradient(d_output):
            # A backward function of its own cannot be handed a CSR matrix, only what it is made from.
            again = matrix if current_graph() is graph else csr_matrix(places, values, x.dense_shape)
            return matmul(transpose(again, compute), _dense(d_output), tf.shape(kernel)[0])

        return matmul(matrix, kernel, x.dense_shape[0]), gradient

    return tf.cast(run(tf.cast(kernel, compute)), kernel.dtype)


def _dense(gradient):
    """A gradient as a tensor: that of a `tf.gather` comes as some of its rows."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, gradient.dense_shape[0])
    return gradient


def _by_row(places, values):
    """Entries sorted by row, as `csr_matrix` needs them; it would silently make another matrix of them otherwise."""
    rows = places[:, 0]
    in_order = tf.reduce_all(rows[1:] >= rows[:-1])

    def sort():
        order = tf.argsort(rows, stable=True)
        return tf.gather(places, order), tf.gather(values, order)

    return tf.cond(in_order, lambda: (tf.identity(places), tf.identity(values)), sort)


def is_sparse(x) -> bool:
    """Whether x is a sparse tensor, or a Keras input that stands for one."""
    return isinstance(x, tf.SparseTensor) or bool(getattr(x, "sparse", False))
