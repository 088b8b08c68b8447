"""Half precision comes in and goes out, but softmax, norms and sums are computed in float32."""

import functools

import tensorflow as tf


def in_float32(function):
    """Let `function` compute in float32 where its floating tensors are float16 or bfloat16."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        half = next((a.dtype for a in (*args, *kwargs.values()) if _is_half(a)), None)
        if half is None:
            return function(*args, **kwargs)
        args = [_widened(a) for a in args]
        kwargs = {name: _widened(a) for name, a in kwargs.items()}
        return tf.nest.map_structure(lambda t: _back(t, half), function(*args, **kwargs))

    return wrapped


def _is_half(value):
    return tf.is_tensor(value) and value.dtype in (tf.float16, tf.bfloat16)


def _widened(value):
    return tf.cast(value, tf.float32) if _is_half(value) else value


def _back(tensor, dtype):
    return tf.cast(tensor, dtype) if tensor.dtype.is_floating else tensor
