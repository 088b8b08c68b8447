"""The first product of a network, X W, where X may be a sparse matrix: bags of words, one-hot labels."""

import tensorflow as tf

from ganet_tf.ops import csr


def features_matmul(x, kernel):
    """x [N, F] @ kernel [F, U], x a dense tensor or a `tf.SparseTensor` in canonical order.

    A sparse x costs its entries · U instead of N · F · U, also in the gradient of the kernel. No gradient flows into
    a sparse x: it is data.
    """
    if not is_sparse(x):
        return tf.matmul(x, kernel)
    compute = tf.float32 if kernel.dtype in (tf.float16, tf.bfloat16) else kernel.dtype  # CSR has no half precision
    matrix = csr.csr_matrix(x.indices, tf.cast(x.values, compute), x.dense_shape)

    @tf.custom_gradient
    def run(kernel):
        def gradient(d_output):
            return csr.matmul(csr.transpose(matrix, compute), d_output)

        return csr.matmul(matrix, kernel), gradient

    return tf.cast(run(tf.cast(kernel, compute)), kernel.dtype)


def is_sparse(x):
    """Whether x is a sparse tensor, or a Keras input that stands for one."""
    return isinstance(x, tf.SparseTensor) or bool(getattr(x, "sparse", False))
