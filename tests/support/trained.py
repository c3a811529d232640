"""Small models with weights of their own, and what their last layer does, by hand."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.training.model import build_model
from tests.support.graphs import dense_adjacency, random_graph


def small_model(backbone="gcn", seed=0, hidden=5, classes=3, head="softmax", columns=6, **parameters):
    """A model in evaluation mode whose weights, biases too, are drawn."""
    torch.manual_seed(seed)
    model = build_model(backbone, head, columns, np.arange(classes), {"hidden": hidden, **parameters})
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model.eval()


def small_case(seed=0, n=12, **parameters):
    """A model, a graph whose last vertex is isolated, and labels."""
    return small_model(seed=seed, **parameters), random_graph(n=n, seed=seed), np.arange(n) % 3


def gcn_weights(model):
    """W (classes, width) and b of a GCN's last layer."""
    last = model.backbone.projections[-1]
    return last.weight.detach().double().numpy().T, last.bias.detach().double().numpy()


def gcn_logits(model, g, z):
    """The logits of the last layer of a GCN from the dense formula."""
    a = dense_adjacency(g) + np.eye(g.num_vertices)
    a = a / np.sqrt(a.sum(0)) / np.sqrt(a.sum(1))[:, None]
    w, b = gcn_weights(model)
    return a @ z @ w.T + b


def parts(model, g):
    """Embeddings and logits in double precision."""
    outputs = model.outputs(g)
    return outputs.embeddings.double().numpy(), outputs.logits.double().numpy()


def logsumexp(f):
    return np.log(np.exp(f).sum(axis=1))


def softmax(f):
    return np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
