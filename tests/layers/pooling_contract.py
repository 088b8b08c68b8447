"""What a layer has to keep that puts out one row, or one block, for each graph."""

import numpy as np
import pytest
from hypothesis import given

from tests.graphs import graph_batches, joined, modest, permuted
from tests.layers.contract import LayerContract, assert_close


class PoolingContract(LayerContract):
    """`LayerContract` with the symmetries of a pooling: the order of the nodes is undone, graphs stay apart."""

    needs_edges = False
    has_dense = False

    def dropping(self):
        return {}

    @modest
    @given(graph_batches())
    def test_permuting_nodes_permutes_the_output(self, graphs):
        """It does not: the output is the same."""
        layer = self.built()
        assert_close(self.run(layer, permuted(graphs)[0]), self.run(layer, graphs), 1e-12)

    @modest
    @given(graph_batches(), graph_batches())
    def test_what_else_is_in_the_batch_does_not_matter(self, first, second):
        layer = self.built()
        expected = np.concatenate([self.run(layer, first), self.run(layer, second)])
        assert_close(self.run(layer, joined(first, second)), expected, 1e-12)

    def test_graph_ids_out_of_order(self):
        with pytest.raises(ValueError, match="`graph_ids` must be ascending"):
            self.make()(np.ones((3, 2), "float32"), np.zeros((0, 2), "int32"), np.array([1, 0, 0]))
