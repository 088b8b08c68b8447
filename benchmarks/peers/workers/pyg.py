"""PyTorch Geometric: eager mode, `edge_index` of int64, as its users run it."""

import warnings

import torch
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, TransformerConv

from peers.workers.protocol import Worker, serve

WIDTH = 48


class PyG(Worker):
    """GATConv, GATv2Conv, TransformerConv and GCNConv; "gcn csr" is GCNConv on a torch CSR matrix."""

    packages = ("torch", "torch_geometric", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "gat": GATConv,
        "gatv2": GATv2Conv,
        "transformer": TransformerConv,
        "gcn": GCNConv,
        "gcn csr": GCNConv,
    }

    def __init__(self, threads):
        super().__init__(threads)
        torch.set_num_threads(threads)
        warnings.filterwarnings("ignore", message=".*Sparse (CSR|invariant).*")
        self.x = self.edge_index = self.matrix = None
        self.training = None

    def drop_graph(self):
        self.x = self.edge_index = self.matrix = None

    def set_graph(self, x, edges):
        self.x = torch.from_numpy(x)
        self.edge_index = torch.from_numpy(edges.T.astype("int64")).contiguous()

    def make_step(self, operator, mode):
        torch.manual_seed(0)
        layer = self.operators[operator](WIDTH, WIDTH)
        graph = self.csr() if operator == "gcn csr" else self.edge_index
        return forward(layer, self.x, graph) if mode == "forward" else forward_and_backward(layer, self.x, graph)

    def csr(self):
        """The transposed adjacency matrix, which PyG's documentation advises for memory; made outside the clock."""
        if self.matrix is None:
            source, target = self.edge_index
            nodes = len(self.x)
            splits = torch.zeros(nodes + 1, dtype=torch.int64)
            splits[1:] = torch.bincount(target, minlength=nodes).cumsum(0)  # edges are sorted by target
            ones = torch.ones(len(source))
            self.matrix = torch.sparse_csr_tensor(splits, source, ones, (nodes, nodes))
        return self.matrix

    def probe(self):
        """GCNConv with an identity kernel, for comparing the sides' results."""
        layer = GCNConv(WIDTH, WIDTH, bias=False)
        with torch.no_grad():
            layer.lin.weight.copy_(torch.eye(WIDTH))
            y = layer(self.x, self.edge_index).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}

    def prepare_training(self, path, settings):
        """Loads a data set and makes the model; see `pyg_training`."""
        from peers.workers.pyg_training import Training

        self.training = Training(path, settings)
        return self.training.warm_up()

    def prepare_rival(self, path, settings):
        """The same for one of the paper's rivals; see `pyg_rivals`."""
        from peers.workers.pyg_rivals import NodeRival, Rival

        self.training = (NodeRival if settings["name"] == "chebyshev" else Rival)(path, settings)
        self.training.warm_up()

    def rival_memory(self):
        """Bytes of an update on the batch with the largest graph."""
        return self.training.memory()

    def epoch(self, loader_workers=0):
        """Trains one epoch: seconds and mean loss."""
        return self.training.epoch(loader_workers)


def forward(layer, x, graph):
    """Inference without gradients."""

    def step():
        with torch.no_grad():
            return layer(x, graph)

    return step


def forward_and_backward(layer, x, graph):
    """Gradients of x and of all weights, with x as the output gradient."""
    inputs = x.clone().requires_grad_(True)

    def step():
        inputs.grad = None
        layer.zero_grad(set_to_none=True)
        layer(inputs, graph).backward(x)

    return step


if __name__ == "__main__":
    serve(PyG)
