"""hGANet's widths in PyTorch Geometric: GATConv in the place of hGAO, its DataLoader and its SortAggregation."""

import time

import numpy as np
import torch
import torch.nn.functional as functional
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, SortAggregation

WARM_UP_GRAPHS = 100


class Network(nn.Module):
    """GCN(48), four times [x, GCN(GAT(x))], GCN(97), sort pooling and DGCNN's head.

    Args:
        features, classes: of the data set.
        settings: dict with `units`, `module_units`, `num_modules`, `out_units`, `dropout`, `head_dropout` and
            `sort_pooling_k`, the same as ours.
    """

    def __init__(self, features, classes, settings):
        super().__init__()
        units, added, out = settings["units"], settings["module_units"], settings["out_units"]
        widths = [units + i * added for i in range(settings["num_modules"] + 1)]
        self.dropout, self.head_dropout = settings["dropout"], settings["head_dropout"]
        self.embedding = GCNConv(features, units)
        self.attention = nn.ModuleList(GATConv(width, added, bias=False) for width in widths[:-1])
        self.convolutions = nn.ModuleList(GCNConv(added, added) for _ in widths[:-1])
        self.out = GCNConv(widths[-1], out)
        self.pooling = SortAggregation(settings["sort_pooling_k"])
        self.conv1 = nn.Conv1d(1, 16, out, stride=out)
        self.conv2 = nn.Conv1d(16, 32, 5)
        self.dense1 = nn.Linear((settings["sort_pooling_k"] // 2 - 4) * 32, 128)
        self.dense2 = nn.Linear(128, classes)

    def forward(self, x, edge_index, batch):
        x = self.embedding(self.drop(x), edge_index)
        for attention, convolution in zip(self.attention, self.convolutions, strict=True):
            h = convolution(self.drop(attention(x, edge_index)), edge_index)
            x = torch.cat([x, h], dim=-1)
        x = self.out(self.drop(x), edge_index)
        x = functional.relu(self.conv1(self.pooling(x, batch).unsqueeze(1)))
        x = functional.relu(self.conv2(functional.max_pool1d(x, 2)))
        x = functional.relu(self.dense1(x.flatten(1)))
        return self.dense2(functional.dropout(x, self.head_dropout, self.training))

    def drop(self, x):
        """Dropout on the features that enter a GCN."""
        return functional.dropout(x, self.dropout, self.training)


class Training:
    """Model, loader and optimizer on one data set.

    Args:
        path: the .npz file with the training graphs, as `training.export` of our side writes it.
        settings: dict of the model's and the optimizer's figures.
    """

    def __init__(self, path, settings):
        torch.manual_seed(0)
        graphs = load_graphs(path)
        size = settings["batch_size"]
        self.warm = DataLoader(graphs[:WARM_UP_GRAPHS], batch_size=size)
        self.loaders = {
            0: DataLoader(graphs, batch_size=size, shuffle=True),  # PyG's default: collates in this process
            1: DataLoader(graphs, batch_size=size, shuffle=True, num_workers=1, persistent_workers=True),
        }
        self.graphs = len(graphs)
        self.model = Network(graphs[0].x.shape[1], settings["classes"], settings)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=settings["learning_rate"], amsgrad=True, weight_decay=settings["weight_decay"]
        )

    def warm_up(self):
        """A few batches, so that the first epoch is like the others; returns what was made."""
        self.pass_over(self.warm)
        return {"parameters": sum(p.numel() for p in self.model.parameters()), "graphs": self.graphs}

    def epoch(self, loader_workers):
        """Trains one epoch, with so many processes that collate batches: seconds and mean loss."""
        start = time.perf_counter()
        loss = self.pass_over(self.loaders[loader_workers])
        return {"seconds": time.perf_counter() - start, "loss": loss / self.graphs}

    def pass_over(self, loader):
        """One pass with updates; keeps the loss and the number of hits, as our side's metrics do."""
        self.model.train()
        total, hits = 0.0, 0
        for batch in loader:
            self.optimizer.zero_grad()
            logits = self.model(batch.x, batch.edge_index, batch.batch)
            loss = functional.cross_entropy(logits, batch.y)
            loss.backward()
            self.optimizer.step()
            total += float(loss.detach()) * batch.num_graphs
            hits += int((logits.argmax(1) == batch.y).sum())
        return total


def load_graphs(path):
    """The exported graphs as a list of `Data`; features one-hot where they were exported as codes."""
    with np.load(path) as arrays:
        x, edges, y = arrays["x"], arrays["edges"], arrays["y"]
        nodes, ends, width = arrays["node_offsets"], arrays["edge_offsets"], int(arrays["width"])
    edge_index = torch.from_numpy(edges.T.astype("int64")).contiguous()
    graphs = []
    for i, label in enumerate(y.tolist()):
        mine = torch.from_numpy(x[nodes[i] : nodes[i + 1]])
        features = functional.one_hot(mine.long(), width).float() if mine.ndim == 1 else mine
        # A copy: as part of one large tensor a graph would take all others along to a loader's process.
        local = edge_index[:, ends[i] : ends[i + 1]] - int(nodes[i])
        graphs.append(Data(x=features, edge_index=local, y=torch.tensor([label])))
    return graphs
