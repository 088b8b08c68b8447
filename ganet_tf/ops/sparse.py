"""Sparse matrices in TensorFlow's CSR form, the fastest sparse product there is on CPU.

`SparseMatrixMatMul` on a CSR matrix is some ten times faster than `tf.sparse.sparse_dense_matmul`
and than the scatter that the gradient of `tf.gather` runs. The attention weights of a graph are such a matrix, and so
are a network's first features where they are bags of words or one-hot labels.
"""

import tensorflow as tf


def indices(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """[M, 2] int64 places of a matrix from two [M] int32 tensors."""
    return tf.cast(tf.transpose(tf.stack([rows, columns])), tf.int64)


def csr_matrix(places: tf.Tensor, values: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
    """The CSR matrix of `shape` [2] int64 with `values` [M] at `places` [M, 2].

    `places` must be sorted by row; zeros and repeated columns may be among them.
    """
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=places, values=values, dense_shape=shape)


def square_matrix(places: tf.Tensor, values: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """The [size, size] CSR matrix with `values` [M] at `places` [M, 2]; see `csr_matrix`."""
    return csr_matrix(places, values, tf.cast(tf.stack([size, size]), tf.int64))


def transpose(matrix: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """The transposed CSR matrix. Transposing, then multiplying, is twice as fast as `transpose_a`."""
    return tf.raw_ops.SparseMatrixTranspose(input=matrix, type=dtype)


def matmul(matrix: tf.Tensor, dense: tf.Tensor) -> tf.Tensor:
    """`matrix @ dense`; the static width of `dense` is kept."""
    product = tf.raw_ops.SparseMatrixMatMul(a=matrix, b=dense)
    product.set_shape([None, dense.shape[1]])
    return product


def features_matmul(x: tf.Tensor | tf.SparseTensor, kernel: tf.Tensor) -> tf.Tensor:
    """x [N, F] @ kernel [F, U], x a dense tensor or a `tf.SparseTensor` in canonical order.

    A sparse x costs its entries · U instead of N · F · U, also in the gradient of the kernel. No gradient flows into
    a sparse x: it is data.
    """
    if not is_sparse(x):
        return tf.matmul(x, kernel)
    compute = tf.float32 if kernel.dtype in (tf.float16, tf.bfloat16) else kernel.dtype  # CSR has no half precision
    matrix = csr_matrix(x.indices, tf.cast(x.values, compute), x.dense_shape)

    @tf.custom_gradient
    def run(kernel):
        def gradient(d_output):
            return matmul(transpose(matrix, compute), d_output)

        return matmul(matrix, kernel), gradient

    return tf.cast(run(tf.cast(kernel, compute)), kernel.dtype)


def is_sparse(x) -> bool:
    """Whether x is a sparse tensor, or a Keras input that stands for one."""
    return isinstance(x, tf.SparseTensor) or bool(getattr(x, "sparse", False))
