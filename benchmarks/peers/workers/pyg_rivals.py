"""The paper's rivals on PyTorch Geometric's layers, in our widths: SAGEConv, Set2Set, dense_diff_pool, ChebConv."""

import itertools
import time

import numpy as np
import torch
import torch.nn.functional as functional
from torch import nn
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import ChebConv, DenseSAGEConv, SAGEConv, Set2Set, dense_diff_pool, global_mean_pool
from torch_geometric.utils import to_dense_adj, to_dense_batch

from peers.workers.protocol import memory
from peers.workers.pyg_training import load_graphs

WARM_UP_STEPS = 5


class SAGEStack(nn.Module):
    """SAGEConvs one after another, all their outputs side by side."""

    def __init__(self, features, units):
        super().__init__()
        widths = [features, *units]
        self.layers = nn.ModuleList(SAGEConv(a, b) for a, b in itertools.pairwise(widths))

    def forward(self, x, edge_index):
        outputs = []
        for number, layer in enumerate(self.layers):
            x = layer(x, edge_index)
            x = functional.relu(x) if number < len(self.layers) - 1 else x
            outputs.append(x)
        return torch.cat(outputs, dim=-1)


class GraphSAGE(nn.Module):
    """Three convolutions, the mean of each graph, one dense layer."""

    def __init__(self, features, settings):
        super().__init__()
        self.stack = SAGEStack(features, settings["units"])
        self.out = nn.Linear(sum(settings["units"]), settings["classes"])

    def forward(self, batch):
        h = self.stack(batch.x, batch.edge_index)
        return self.out(global_mean_pool(h, batch.batch, batch.num_graphs)), 0.0


class Set2SetNet(nn.Module):
    """Three convolutions, Set2Set, two dense layers."""

    def __init__(self, features, settings):
        super().__init__()
        width = sum(settings["units"])
        self.stack = SAGEStack(features, settings["units"])
        self.set2set = Set2Set(width, settings["steps"])
        self.hidden, self.out = nn.Linear(2 * width, width), nn.Linear(width, settings["classes"])

    def forward(self, batch):
        h = self.set2set(self.stack(batch.x, batch.edge_index), batch.batch, dim_size=batch.num_graphs)
        return self.out(functional.relu(self.hidden(h))), 0.0


class DenseStack(nn.Module):
    """DenseSAGEConvs on padded graphs, with batch normalisation between them."""

    def __init__(self, features, units):
        super().__init__()
        widths = [features, *units]
        pairs = itertools.pairwise(widths)
        self.layers = nn.ModuleList(DenseSAGEConv(a, b, normalize=True) for a, b in pairs)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in units[:-1])

    def forward(self, x, adjacency, mask=None):
        outputs = []
        for number, layer in enumerate(self.layers):
            x = layer(x, adjacency, mask)
            if number < len(self.norms):
                x = functional.relu(x)
                x = self.norms[number](x.flatten(0, 1)).view(x.shape)
            outputs.append(x)
        return torch.cat(outputs, dim=-1)


class DiffPoolNet(nn.Module):
    """One pooling on graphs padded to the largest of a batch, as PyG's documentation does it."""

    def __init__(self, features, settings):
        super().__init__()
        units, clusters = settings["units"], settings["clusters"]
        self.embed, self.pooled = DenseStack(features, units), DenseStack(sum(units), units)
        self.assign = DenseStack(features, [*units[:-1], clusters])
        self.choose = nn.Linear(sum(units[:-1]) + clusters, clusters)
        self.hidden = nn.Linear(2 * sum(units), settings["head_units"])
        self.out = nn.Linear(settings["head_units"], settings["classes"])

    def forward(self, batch):
        x, mask = to_dense_batch(batch.x, batch.batch)
        adjacency = to_dense_adj(batch.edge_index, batch.batch)
        z = self.embed(x, adjacency, mask)
        s = self.choose(self.assign(x, adjacency, mask))
        pooled, small, link, entropy = dense_diff_pool(z, adjacency, s, mask)
        both = [z.masked_fill(~mask[..., None], -torch.inf).amax(1), self.pooled(pooled, small).amax(1)]
        h = functional.relu(self.hidden(torch.cat(both, dim=-1)))
        return self.out(h), link + entropy


NETWORKS = {"graphsage": GraphSAGE, "set2set": Set2SetNet, "diffpool": DiffPoolNet}


class Rival:
    """Model, loader and optimizer on the training graphs of one data set.

    Args:
        path: the .npz file that our side writes.
        settings: dict of the model's and the optimizer's figures.
    """

    def __init__(self, path, settings):
        torch.manual_seed(0)
        self.graphs, self.settings = load_graphs(path), settings
        self.loader = DataLoader(self.graphs, batch_size=settings["batch_size"], shuffle=True)
        self.model = NETWORKS[settings["name"]](self.graphs[0].x.shape[1], settings)
        self.optimizer = adam(self.model.parameters(), settings)

    def warm_up(self):
        """A few updates, so that the first epoch is like the others."""
        for number, batch in enumerate(self.loader):
            self.update(batch)
            if number == WARM_UP_STEPS:
                break

    def update(self, batch):
        """One update; returns the loss of the classes and the number of hits."""
        self.model.train()
        self.optimizer.zero_grad()
        logits, more = self.model(batch)
        loss = functional.cross_entropy(logits, batch.y)
        (loss + more).backward()
        if self.settings["global_clipnorm"]:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.settings["global_clipnorm"])
        self.optimizer.step()
        return float(loss.detach()), int((logits.argmax(1) == batch.y).sum())

    def epoch(self, loader_workers=0):
        """Trains one epoch: seconds and mean loss."""
        start, total = time.perf_counter(), 0.0
        for batch in self.loader:
            total += self.update(batch)[0] * batch.num_graphs
        return {"seconds": time.perf_counter() - start, "loss": total / len(self.graphs)}

    def memory(self):
        """How far the process grows in an update on the batch with the largest graph."""
        first = max(range(len(self.graphs)), key=lambda number: self.graphs[number].num_nodes)
        others = [graph for number, graph in enumerate(self.graphs) if number != first]
        batch = Batch.from_data_list([self.graphs[first], *others[: self.settings["batch_size"] - 1]])
        self.update(batch)
        return memory.peak_growth(lambda: self.update(batch))


class Chebyshev(nn.Module):
    """Two ChebConvs on one graph, without bias."""

    def __init__(self, features, settings):
        super().__init__()
        self.hidden = ChebConv(features, settings["units"], settings["K"] + 1, bias=False)
        self.out = ChebConv(settings["units"], settings["classes"], settings["K"] + 1, bias=False)
        self.dropout, self.lambda_max = settings["dropout"], settings["lambda_max"]

    def forward(self, x, edge_index):
        for number, layer in enumerate((self.hidden, self.out)):
            x = functional.dropout(x, self.dropout, self.training)
            x = layer(x, edge_index, lambda_max=torch.tensor(self.lambda_max))
            x = functional.relu(x) if number == 0 else x
        return x


class NodeRival:
    """Chebyshev on the nodes of one graph; an epoch is an update, and the mean of some of them is told."""

    def __init__(self, path, settings):
        torch.manual_seed(0)
        with np.load(path) as arrays:
            self.x = torch.from_numpy(arrays["x"]).float()
            self.edge_index = torch.from_numpy(arrays["edges"].T.astype("int64")).contiguous()
            self.nodes = torch.from_numpy(arrays["nodes"].astype("int64"))
            self.y = torch.from_numpy(arrays["y"].astype("int64"))[self.nodes]
        self.settings = settings
        self.model = Chebyshev(self.x.shape[1], settings)
        groups = [
            {"params": self.model.hidden.parameters(), "weight_decay": settings["weight_decay"]},
            {"params": self.model.out.parameters(), "weight_decay": 0.0},
        ]
        self.optimizer = adam(groups, {**settings, "weight_decay": 0.0})

    def warm_up(self):
        """A few updates."""
        for _ in range(WARM_UP_STEPS):
            self.update()

    def update(self):
        """One update; returns the loss."""
        self.model.train()
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.model(self.x, self.edge_index)[self.nodes], self.y)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    def epoch(self, loader_workers=0):
        """Seconds of an update, and the last loss."""
        start = time.perf_counter()
        for _ in range(self.settings["updates"]):
            loss = self.update()
        return {"seconds": (time.perf_counter() - start) / self.settings["updates"], "loss": loss}

    def memory(self):
        """How far the process grows in an update."""
        return memory.peak_growth(self.update)


def adam(parameters, settings):
    """The optimizer of both."""
    return torch.optim.Adam(parameters, lr=settings["learning_rate"], weight_decay=settings["weight_decay"])
