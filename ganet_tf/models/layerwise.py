"""A model for nodes seen as its layers: exact predictions one layer after the other, and how far they look."""

import itertools
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.files import draft
from ganet_tf.models.base import GraphModel
from ganet_tf.models.ganet import GANet
from ganet_tf.models.gat import GAT
from ganet_tf.models.gcn import GCN
from ganet_tf.models.neighbor_chunks import (
    NeighborChunks,
    entry_scores,
    largest,
    narrowed,
    softmax,
    weighted_sum,
)
from ganet_tf.models.node_classifier import NodeClassifier

ENTRIES = 2**18  # of a chunk: tens of megabytes of work in progress


def predict_layerwise(
    model: GraphModel,
    data,
    entries: int = ENTRIES,
    folder: str | None = None,
    workers: int | None = None,
    out: str | os.PathLike | None = None,
) -> np.ndarray:
    """What `model(data)` gives without training, computed one layer at a time, each for a piece of the graph.

    A layer is computed for all nodes before the next one begins, from the true neighbours and the true degrees, so
    that the result is that of the whole graph in one step; only rounding may differ. Beside two layers' features,
    [N, channels], it takes memory for one piece for each worker.

    Args:
        model: A `NodeClassifier`, `GANet`, `GCN` or `GAT`.
        data: A `NodeDataset`, or a dict of `x` [N, F], `edges` [E, 2] and, if wanted, `nodes` [n] and
            `edge_weights` [E].
        entries: Neighbours that a piece has, added up over its nodes, at most.
        folder: Where to put the features of the layers, in temporary files; None keeps them in memory.
        workers: Threads; None takes one for each processor.
        out: Path of an .npy file for the result, which is then a memory map of it. With `folder` and a data set that
            is itself in files (`NodeDataset.from_csr`), nothing as long as the graph is in memory but its degrees.

    Returns:
        Array [N, units], or [n, units] for `nodes`, in the dtype of the model's variables.

    Raises:
        TypeError: For a model or an operator of another kind.
        ValueError: For inputs of a wrong shape, and for `graph_ids` with cGAO.
        DataFormatError: For files of a data set that are damaged: names them.

    Example:
    ```python
    logits = models.predict_layerwise(model, dataset)
    accuracy = (logits.argmax(axis=1) == dataset.y)[dataset.test_mask].mean()
    ```
    """
    inputs = data if hasattr(data, "keys") else {"x": data.x, "graph_ids": data.graph_ids}
    sequence = layer_sequence(model)
    model.check_keys({"edges": None, **inputs} if inputs is not data else inputs)
    x = np.asarray(inputs["x"])
    if not model.built:
        model.build({"x": (None, x.shape[1]), "edges": (None, 2)})
    if inputs.get("graph_ids") is not None and any(type(part) is layers.CGAO for part in parts(sequence)):
        raise ValueError("cGAO layer by layer takes all nodes for one graph: leave `graph_ids` out, one graph a call.")
    if inputs is data:
        chunks = NeighborChunks.from_edges(inputs["edges"], len(x), entries, inputs.get("edge_weights"))
    else:
        lists = data.neighbors
        lists.check_indptr()
        chunks = NeighborChunks(lists.indptr, lists.indices, entries, lists.edge_weights, lists.check_sources)
    run = _Run(chunks, folder, workers or os.cpu_count())
    for layer in sequence:
        x = run.apply(layer, x)
    nodes = inputs.get("nodes")
    if out is None:
        return np.array(x if nodes is None else x[np.asarray(nodes)])
    return _to_file(out, x, nodes)


def _to_file(path, x, nodes, rows=2**15):
    """Writes `x`, or its rows `nodes`, to an .npy file, whole or not at all; returns the map of it."""
    count = len(x if nodes is None else nodes)
    with draft(path) as temporary:
        target = np.lib.format.open_memmap(temporary, "w+", x.dtype, (count, x.shape[1]))
        for start in range(0, count, rows):
            part = slice(start, min(start + rows, count))
            target[part] = x[part] if nodes is None else x[np.asarray(nodes[part])]
        target.flush()
    return np.load(path, mmap_mode="r")


def receptive_hops(model: GraphModel) -> int:
    """How many hops around a node decide its output: so many, with all neighbours, make a sample exact.

    Every layer that looks at neighbours adds one: 2 for the two GCNs of a GANet (unless they are `"dense"`), and for
    each of its modules 1 for the GCN and 1 for the operator, unless that is `"cgao"` or `"linear"`. One more is for
    `normalization="sym"` where a GCN is the first of these layers: it divides by the degrees of the neighbours, too,
    and a node has its true degree only where its neighbours are in the sample.

    Args:
        model: A `NodeClassifier`, `GANet`, `GCN` or `GAT`.

    Returns:
        The number of hops. With cGAO, which looks at the whole graph, the number for all else.

    Raises:
        TypeError: For a model of another kind.

    Example:

    >>> receptive_hops(NodeClassifier(num_classes=7, operator="hgao", num_modules=2))
    7
    """
    looking = [layer for layer in parts(layer_sequence(model)) if getattr(layer, "needs_edges", True)]
    first = looking[0] if looking else None
    return len(looking) + (isinstance(first, layers.GCN) and first.normalization == "sym")


def layer_sequence(model: GraphModel) -> list:
    """The layers of a model for nodes, each of which takes what the one before puts out."""
    if isinstance(model, NodeClassifier):
        return layer_sequence(model.ganet)
    if isinstance(model, GANet):
        return [model.embedding, *model.gams, model.out]
    if isinstance(model, (GCN, GAT)):
        return [model.hidden, model.out]
    raise TypeError(
        f"layer by layer go NodeClassifier, GANet, GCN and GAT, but this is a {type(model).__name__}: "
        "call the model on the whole graph instead."
    )


def parts(sequence):
    """The layers as a list, with the two of each GAM in its place."""
    pairs = ([layer.attention, layer.gcn] if isinstance(layer, layers.GAM) else [layer] for layer in sequence)
    return list(itertools.chain(*pairs))


class _Run:
    """One graph's lists, and where to put arrays; `apply` computes a layer for all nodes."""

    def __init__(self, chunks, folder, workers):
        self.chunks = chunks
        self.num_nodes = chunks.num_nodes
        self.folder = folder
        self.workers = workers

    def apply(self, layer, x):
        """The output [N, units] of a layer; its class must be one of those below, not a subclass."""
        steps = {
            layers.GAM: self._gam,
            layers.GCN: self._gcn,
            layers.GAT: self._gat,
            layers.CGAO: self._cgao,
            layers.Linear: self._linear,
            layers.HGAO: self._attention,
            layers.GAO: self._attention,
            layers.TopKGAO: self._attention,
            layers.SampledGAO: self._attention,
        }
        if type(layer) not in steps:
            known = ", ".join(kind.__name__ for kind in steps)
            raise TypeError(
                f"'{layer.name}' is a {type(layer).__name__}, but layer by layer go only {known}: "
                "call the model on the whole graph instead."
            )
        return steps[type(layer)](layer, x)

    def _gam(self, layer, x):
        h = self.apply(layer.attention, x)
        g = self.apply(layer.gcn, h)
        wanted = layer.outputs(x, h, g)
        return self._by_rows(lambda rows: [np.concatenate([part[rows] for part in wanted], axis=1)], h.dtype)[0]

    def _gcn(self, layer, x):
        """Degrees before and after the sum are those of the whole graph."""
        degrees = self.chunks.degrees.astype(layer.variable_dtype)[:, None]
        factor = {"sym": degrees**-0.5, "row": 1 / degrees, None: np.ones_like(degrees)}[layer.normalization]
        narrow = layer.units <= x.shape[1]  # where the product with the kernel comes first, as in the layer

        def before(rows):
            h = tf.cast(x[rows], layer.variable_dtype)
            h = tf.matmul(h, layer.kernel) if narrow else h
            return [h * factor[rows] if layer.normalization == "sym" else h]

        (h,) = self._by_rows(before, layer.variable_dtype)

        def after(chunk):
            weights = np.ones(len(chunk.columns), h.dtype) if chunk.weights is None else chunk.weights.astype(h.dtype)
            total = weighted_sum(weights, h, chunk) * factor[chunk.start : chunk.stop]
            return layer.finish(tf.convert_to_tensor(total) if narrow else tf.matmul(total, layer.kernel))

        return self._by_chunks(after, layer)

    def _attention(self, layer, x):
        """GAO, and with a choice before the softmax hGAO (by y), the top-k alternative and hard attention (by e)."""
        found = self._projected(layer, x)
        k = {layers.GAO: None, layers.SampledGAO: 1}.get(type(layer), getattr(layer, "k", None))
        one_for_all = {"dot": ("queries",), "cosine": (), "uniform": ("queries", "keys")}[layer.score]

        def attend(chunk):
            queries = _queries(layer, x[chunk.start : chunk.stop])
            outputs = []
            for h in range(layer.heads):
                own = {
                    name: array if name in one_for_all else _of_head(array, h, layer.heads)
                    for name, array in {"queries": queries, **found}.items()
                }
                outputs.append(_attend(chunk, own, k, layer.score))
            return layer.finish(tf.convert_to_tensor(np.concatenate(outputs, axis=1)))

        return self._by_chunks(attend, layer)

    def _projected(self, layer, x):
        """{"keys", "values", "ranking"}, [N, heads · width]: each node's once, however many neighbours look at it."""
        names = []

        def project(rows):
            own = tf.cast(x[rows], layer.variable_dtype)
            found = {}
            if isinstance(layer, layers.HGAO):
                scores, gates = layer.gates(own)
                found["ranking"] = tf.reshape(scores, [-1, layer.heads])
                found["keys"], found["values"] = layer.project_gated(own, gates)
            else:
                found["keys"], found["values"] = layer.project(own)
            if layer.score == "cosine":
                found["keys"] = _unit(found["keys"], layer.heads)
            names[:] = [name for name, array in found.items() if array is not None]
            return [found[name] for name in names]

        arrays = self._by_rows(project, layer.variable_dtype)
        return dict(zip(names, arrays, strict=True))

    def _cgao(self, layer, x):
        """Kᵀ K is a sum over nodes: a first pass adds it up for each head, a second one applies it."""
        total = np.zeros([layer.heads, layer.units, layer.units])
        for rows in self._runs():
            keys = layer.project(tf.cast(x[rows], layer.variable_dtype))[0].numpy().astype("float64")
            keys = keys.reshape(-1, layer.heads, layer.units)
            total += np.einsum("nha,nhb->hab", keys, keys)
        count = max(self.num_nodes, 1)
        factor = {None: 1.0, "sqrt": count**-0.5, "mean": 1 / count}.get(layer.scale, layer.scale)
        weights = tf.cast(tf.nn.softmax(tf.constant(total * factor)), layer.variable_dtype)

        def apply(rows):
            values = layer.project(tf.cast(x[rows], layer.variable_dtype))[1]
            values = tf.split(values, layer.heads, axis=1)
            outputs = [tf.matmul(v, w, transpose_b=True) for v, w in zip(values, tf.unstack(weights), strict=True)]
            return [layer.finish(tf.concat(outputs, axis=1))]

        return self._by_rows(apply, layer.variable_dtype)[0]

    def _linear(self, layer, x):
        def apply(rows):
            return [layer.finish(tf.matmul(tf.cast(x[rows], layer.variable_dtype), layer.kernel))]

        return self._by_rows(apply, layer.variable_dtype)[0]

    def _gat(self, layer, x):
        """Additive attention, head by head."""

        def project(rows):
            h = tf.matmul(tf.cast(x[rows], layer.variable_dtype), layer.kernel)
            h = tf.reshape(h, [-1, layer.heads, layer.units])
            source, target = (tf.reduce_sum(h * kernel, -1) for kernel in (layer.source_kernel, layer.target_kernel))
            return [source, target, *tf.unstack(h, axis=1)]

        source, target, *heads = self._by_rows(project, layer.variable_dtype)

        def attend(chunk):
            outputs = []
            for head, h in enumerate(heads):
                scores = target[chunk.start : chunk.stop, head][chunk.rows] + source[chunk.columns, head]
                scores = _times(np.where(scores > 0, scores, scores * h.dtype.type(layer.negative_slope)), chunk)
                outputs.append(weighted_sum(softmax(scores, chunk), h, chunk))
            joined = np.concatenate(outputs, axis=1) if layer.concat else np.mean(outputs, axis=0)
            return layer.finish(tf.convert_to_tensor(joined))

        return self._by_chunks(attend, layer)

    def _by_rows(self, function, dtype):
        """Calls `function` on slices of all rows; what it returns, a list, is put together to arrays over all nodes."""
        arrays = None
        for rows in self._runs():
            pieces = function(rows)
            if arrays is None:
                arrays = [self._empty(piece.shape[1], dtype) for piece in pieces]
            for array, piece in zip(arrays, pieces, strict=True):
                array[rows] = piece
        return arrays

    def _by_chunks(self, function, layer):
        """Calls `function` on each chunk, several at a time; its results are the rows of one array."""
        output = self._empty(layer.output_units, layer.variable_dtype)

        def fill(bounds):
            output[slice(*bounds)] = function(self.chunks.chunk(*bounds))

        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(fill, self.chunks.bounds))
        return output

    def _runs(self, rows=2**15):
        """Slices of so many rows that cover all nodes; an empty one where there are none, which still has a width."""
        return [slice(start, start + rows) for start in range(0, max(self.num_nodes, 1), rows)]

    def _empty(self, width, dtype):
        """An array [N, width], in memory or in a temporary file that goes with it."""
        if self.folder is None or self.num_nodes == 0:  # an empty file cannot be mapped
            return np.empty((self.num_nodes, width), dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            return np.memmap(file, dtype, "w+", shape=(self.num_nodes, width))


def _queries(layer, x):
    """The queries of some nodes, [rows, F] or [rows, heads · width], with the factors on their scores."""
    own = tf.cast(x, layer.variable_dtype)
    if layer.score == "cosine":
        temperature = tf.repeat(tf.convert_to_tensor(layer.temperature), layer.query_units)
        own = temperature * _unit(layer.queries(own), layer.heads)
        width = layer.query_units
    else:
        width = own.shape[1]
    factor = {None: 1.0, "sqrt": width**-0.5}.get(layer.scale, layer.scale)
    return own.numpy() * own.dtype.as_numpy_dtype(factor)


def _unit(tensor, heads):
    """`tensor` [rows, heads · width] with each head's part of a row at length 1."""
    parts = tf.reshape(tensor, [-1, heads, tensor.shape[1] // heads])
    return tf.reshape(tf.math.l2_normalize(parts, 2), [-1, tensor.shape[1]])


def _of_head(array, head, heads):
    """The channels of one head."""
    width = array.shape[1] // heads
    return array if heads == 1 else array[:, head * width : (head + 1) * width]


def _attend(chunk, own, k, score):
    """One head of GAO, hGAO (where there is a ranking) or the top-k operators for the nodes of a chunk."""
    if "ranking" in own:
        chunk = narrowed(chunk, largest(chunk, _times(own["ranking"][chunk.columns, 0], chunk), k))
    if "keys" in own:
        scores = entry_scores(own["queries"], own["keys"], chunk)
        scores = scores if "ranking" in own else _times(scores, chunk)
    else:
        scores = np.zeros(len(chunk.columns), own["values"].dtype)
    if "ranking" not in own and k is not None:
        places = largest(chunk, scores, k)
        chunk, scores = narrowed(chunk, places), scores[places]
    return weighted_sum(softmax(0 * scores if score == "uniform" else scores, chunk), own["values"], chunk)


def _times(scores, chunk):
    """The scores of a chunk's entries times the weights of their edges."""
    return scores if chunk.weights is None else scores * chunk.weights.astype(scores.dtype)
