"""Our layers against PyG's of the same name, where an environment has it: the benchmarks', or GANET_PYG_PYTHON's."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers, ops
from tests.graphs import SPECIAL, batch, both_ways
from tests.layers.contract import assert_close

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / ".venv-peers" / "pyg" / "bin" / "python"
PYTHON = Path(os.environ.get("GANET_PYG_PYTHON", PEERS))

pytestmark = pytest.mark.skipif(
    not PYTHON.is_file(),
    reason="no environment with PyG: run benchmarks/run.py once, or name its Python in GANET_PYG_PYTHON",
)

THEIRS = """
import sys
import numpy as np, torch
from torch_geometric.nn import ChebConv, DenseSAGEConv, SAGEConv, dense_diff_pool
from torch_geometric.nn.aggr import Set2Set
torch.set_default_dtype(torch.float64)
given = {key: torch.from_numpy(array) for key, array in np.load(sys.argv[1]).items()}
x, edges, ids = given["x"], given["edges"].T.long(), given["graph_ids"].long()
found = {}
for aggregator in ("mean", "max", "sum"):
    layer = SAGEConv(x.shape[1], 4, aggr=aggregator)
    layer.lin_l.weight.data, layer.lin_l.bias.data = given["neighbor"].T, given["bias"]
    layer.lin_r.weight.data = given["self"].T
    found["sage_" + aggregator] = layer(x, edges)
layer = ChebConv(x.shape[1], 4, K=4, normalization="sym")  # their K counts matrices
for k, linear in enumerate(layer.lins):
    linear.weight.data = given[f"cheb_{k}"].T
layer.bias.data = given["bias"]
found["cheb"] = layer(x, edges, lambda_max=torch.tensor(2.0))
layer = Set2Set(x.shape[1], processing_steps=3)
lstm = layer.lstm
lstm.weight_ih_l0.data, lstm.weight_hh_l0.data = given["lstm_kernel"].T, given["lstm_recurrent"].T
lstm.bias_ih_l0.data, lstm.bias_hh_l0.data = given["lstm_bias"], torch.zeros_like(given["lstm_bias"])
found["set2set"] = layer(x, ids)
dense = (given[name] for name in ("dense_x", "dense_adjacency", "dense_logits", "mask"))
found["pooled"], found["adjacency"], *_ = dense_diff_pool(*dense)
layer = DenseSAGEConv(x.shape[1], 4)
layer.lin_rel.weight.data = given["neighbor"].T
layer.lin_root.weight.data, layer.lin_root.bias.data = given["self"].T, given["bias"]
found["dense_sage"] = layer(given["dense_x"], given["dense_adjacency"])
np.savez(sys.argv[2], **{key: value.detach().numpy() for key, value in found.items()})
"""

GRAPHS = batch([SPECIAL["complete"].edges, [], both_ways([[0, 3], [1, 3], [2, 3], [3, 4]])], [6, 1, 5])


def padded(rows, height=6):
    """Rows [N, C] of the three graphs as [3, height, C], zeros below."""
    blocks = [rows[GRAPHS.graph_ids == g] for g in range(3)]
    return np.array([np.pad(block, [(0, height - len(block)), (0, 0)]) for block in blocks])


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    shapes = {"self": (3, 4), "neighbor": (3, 4), "bias": (4,), "logits": (12, 2)}
    shapes.update({f"cheb_{k}": (3, 4) for k in range(4)})
    shapes.update(lstm_kernel=(6, 12), lstm_recurrent=(3, 12), lstm_bias=(12,))
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    whole = np.zeros((12, 12))
    whole[GRAPHS.edges[:, 1], GRAPHS.edges[:, 0]] = 1
    matrices = [whole[mine][:, mine] for mine in (GRAPHS.graph_ids == g for g in range(3))]
    adjacency = np.array([np.pad(matrix, [(0, 6 - len(matrix))] * 2) for matrix in matrices])
    dense = {"dense_x": padded(GRAPHS.x), "dense_logits": padded(arrays["logits"]), "dense_adjacency": adjacency}
    return {**GRAPHS._asdict(), **arrays, **dense, "mask": padded(np.ones((12, 1)))[:, :, 0] > 0}


@pytest.fixture(scope="module")
def theirs(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pyg")
    np.savez(folder / "given.npz", **given)
    command = [str(PYTHON), "-W", "ignore", "-c", THEIRS, str(folder / "given.npz"), str(folder / "found.npz")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(command, check=True, timeout=300, env=environment)
    return dict(np.load(folder / "found.npz"))


def with_weights(layer, **weights):
    layer.build((None, 3), (None, 2), (None,))
    for name, value in weights.items():
        getattr(layer, name).assign(value)
    return layer


@pytest.mark.parametrize("aggregator", ["mean", "max", "sum"])
def test_sage_conv(aggregator, given, theirs):
    layer = layers.SAGEConv(4, aggregator=aggregator, dtype="float64")
    with_weights(layer, self_kernel=given["self"], neighbor_kernel=given["neighbor"], bias=given["bias"])
    assert_close(layer(*GRAPHS), theirs[f"sage_{aggregator}"], 1e-12)


def test_cheb_conv(given, theirs):
    layer = with_weights(layers.ChebConv(4, K=3, dtype="float64"), bias=given["bias"])
    for k, kernel in enumerate(layer.kernels):
        kernel.assign(given[f"cheb_{k}"])
    assert_close(layer(*GRAPHS), theirs["cheb"], 1e-12)


def test_set2set(given, theirs):
    layer = layers.Set2Set(3, dtype="float64")
    with_weights(layer, kernel=given["lstm_kernel"], recurrent_kernel=given["lstm_recurrent"], bias=given["lstm_bias"])
    assert_close(layer(*GRAPHS), theirs["set2set"], 1e-12)


def test_diff_pool(given, theirs):
    found = ops.diff_pool(tf.constant(GRAPHS.x), tf.constant(given["logits"]), GRAPHS.edges, GRAPHS.graph_ids)
    assert_close(found.x, theirs["pooled"], 1e-12)
    assert_close(found.adjacency, theirs["adjacency"], 1e-12)


def test_dense_sage_conv(given, theirs):
    layer = layers.DenseSAGEConv(4, dtype="float64")
    layer.build((None, None, 3))
    for name, value in {"self_kernel": "self", "neighbor_kernel": "neighbor", "bias": "bias"}.items():
        getattr(layer, name).assign(given[value])
    assert_close(layer(given["dense_x"], given["dense_adjacency"]), theirs["dense_sage"], 1e-12)
