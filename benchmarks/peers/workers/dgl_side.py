"""DGL: fused C++ kernels; the graph with all its formats is made beforehand."""

import dgl
import dgl.function as fn
import torch
from dgl.nn import DotGatConv, GATConv, GraphConv
from dgl.nn.functional import edge_softmax
from torch import nn

from peers.workers.protocol import Worker, serve

WIDTH = 48
K = 8


class HandMadeHGAO(nn.Module):
    """hGAO put together from DGL's own parts: `select_topk`, `edge_softmax` and message passing."""

    def __init__(self):
        super().__init__()
        self.projection = nn.Parameter(torch.randn(WIDTH) / WIDTH**0.5)
        self.keys = nn.Linear(WIDTH, WIDTH, bias=False)
        self.values = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, graph, x):
        scores = (x @ self.projection).abs() / self.projection.norm()
        gated = x * torch.sigmoid(scores)[:, None]
        with graph.local_scope():
            graph.ndata["score"] = scores.detach()
            graph.apply_edges(fn.copy_u("score", "score"))
            chosen = dgl.sampling.select_topk(graph, K, "score")
        chosen.srcdata["key"], chosen.srcdata["value"] = self.keys(gated), self.values(gated)
        chosen.dstdata["query"] = x
        chosen.apply_edges(fn.u_dot_v("key", "query", "e"))
        chosen.edata["weight"] = edge_softmax(chosen, chosen.edata["e"])
        chosen.update_all(fn.u_mul_e("value", "weight", "m"), fn.sum("m", "out"))
        return chosen.dstdata["out"]


class DGL(Worker):
    """GATConv, DotGatConv (dot products, as GAO), GraphConv, and an hGAO put together from DGL's parts."""

    packages = ("torch", "dgl", "numpy")
    operators = {  # noqa: RUF012 - a table, never changed
        "gat": lambda: GATConv(WIDTH, WIDTH, 1),
        "dotgat": lambda: DotGatConv(WIDTH, WIDTH, 1),
        "gcn": lambda: GraphConv(WIDTH, WIDTH),
        "hgao by hand": HandMadeHGAO,
    }

    def __init__(self, threads):
        super().__init__(threads)
        torch.set_num_threads(threads)
        self.x = self.dgl_graph = None

    def drop_graph(self):
        self.x = self.dgl_graph = None

    def set_graph(self, x, edges):
        source, target = torch.from_numpy(edges.T.copy())
        self.dgl_graph = dgl.add_self_loop(dgl.graph((source, target), num_nodes=len(x)))
        self.dgl_graph.create_formats_()
        self.x = torch.from_numpy(x)

    def make_step(self, operator, mode):
        torch.manual_seed(0)
        layer, graph, x = self.operators[operator](), self.dgl_graph, self.x
        inputs = x.clone().requires_grad_(mode != "forward")

        def forward():
            with torch.no_grad():
                return layer(graph, x)

        def forward_and_backward():
            inputs.grad = None
            layer.zero_grad(set_to_none=True)
            layer(graph, inputs).reshape(x.shape).backward(x)

        return forward if mode == "forward" else forward_and_backward

    def probe(self):
        """GraphConv with an identity kernel, for comparing the sides' results."""
        layer = GraphConv(WIDTH, WIDTH, bias=False)
        with torch.no_grad():
            layer.weight.copy_(torch.eye(WIDTH))
            y = layer(self.dgl_graph, self.x).numpy()
        return {"rows": y[:3, :4].tolist(), "squares": float((y**2).sum(dtype="float64"))}


if __name__ == "__main__":
    serve(DGL)
