"""What is computed from a tensor, computed once and kept on the tensor itself.

All layers of a model that are given the same `edges` (or `graph_ids`) tensor share what is computed from it: in
graph mode it is part of the traced step once, eagerly it is computed once. It goes when the tensor goes.
"""

import tensorflow as tf


def current_graph():
    """The graph that is being built, None when executing eagerly."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


class TensorCache:
    """Base of what is kept on a tensor: knows the graph it was made in, and keeps parts of itself."""

    def __init__(self):
        self._graph = current_graph()
        self._parts = {}

    def usable(self):
        """Whether this was made where we are now: in the same graph, or eagerly."""
        return self._graph is current_graph()

    def part(self, key, make):
        """The value kept under `key`, made by `make()` the first time."""
        if not TensorCache.usable(self):
            return make()  # e.g. a backward function of its own: its tensors must not be kept here
        if key not in self._parts:
            self._parts[key] = make()
        return self._parts[key]


def cached(cls, tensor, *arguments):
    """`cls(tensor, *arguments)`, or the one made before for the same tensor if it is still usable."""
    tensor = tf.convert_to_tensor(tensor)  # a variable may change, so nothing is kept on it
    attribute = f"_ganet_{cls.__name__}"
    known = getattr(tensor, attribute, None)
    if known is None or not known.usable(*arguments):
        known = cls(tensor, *arguments)
        setattr(tensor, attribute, known)
    return known
