"""Keras has no hooks: what watches layers, or runs them another way, puts its own function in the place of `call`."""

import contextlib
from collections.abc import Callable, Iterable

import keras


@contextlib.contextmanager
def other_calls(layers: Iterable[keras.layers.Layer], make: Callable):
    """While it is active, each layer's call is `make(layer, call)`, `call` being its own.

    Only calls made meanwhile are other ones: a step that was compiled before stays as it was.
    """
    layers = list(layers)
    try:
        for layer in layers:
            layer.__dict__["call"] = make(layer, layer.call)
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("call", None)
