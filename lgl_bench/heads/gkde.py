"""GKDE (Zhao et al. 2020): evidence for each class, held to what the labelled vertices around a vertex speak for.

alpha = 1 + exp(f), p = alpha / alpha_0. The loss is the mean over training vertices of sum_c (y_c - p_c)^2 +
p_c (1 - p_c) / (alpha_0 + 1), and two terms that are means over all vertices: .001 KL(Dir(alpha), Dir(prior)), and
min(1, epoch / 200) KL(p, q) with the q of a plain GCN. The prior of class c at vertex i is 1 + sum over the training
vertices j of class c of the normal density of hops(i, j), up to 10 hops.

Logits are log alpha, so that their softmax is p and their log-sum-exp is log alpha_0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from lgl_bench.backbones import Shape
from lgl_bench.backbones.gcn import GCN
from lgl_bench.backbones.layers.inputs import inputs_of
from lgl_bench.backbones.walks.training_data import GraphLoss, Step, TrainingData
from lgl_bench.core.errors import UsageError
from lgl_bench.heads import Head, heads
from lgl_bench.heads.dirichlet import divergence
from lgl_bench.kernels import hop_sums

_HOPS = 10
_UNTIL = 200  # epochs until the teacher counts in full
_MOST = 30.0  # of f: e^30 is more evidence than any graph has
_TEACHER_LR = 0.01


def square_loss(alpha: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Sum over classes of the squared error and the variance of p ~ Dir(alpha), per row."""
    total = alpha.sum(dim=1, keepdim=True)
    p = alpha / total
    y = nn.functional.one_hot(labels, alpha.shape[1]).to(p)
    return ((y - p).square() + p * (1 - p) / (total + 1)).sum(dim=1)


def kernel_prior(data: TrainingData, classes: int) -> torch.Tensor:
    """The prior alpha of every vertex, (n, classes)."""
    density = np.exp(-0.5 * np.arange(_HOPS + 1.0) ** 2) / np.sqrt(2 * np.pi)
    arcs, labels = inputs_of(data.graph).arcs, data.labels.numpy()
    sums = [hop_sums(arcs, np.flatnonzero(labels == c), density) for c in range(classes)]
    return torch.from_numpy(1.0 + np.stack(sums, axis=1)).float()


def teacher(data: TrainingData, classes: int) -> torch.Tensor:
    """The log probabilities of a plain GCN, trained for as many epochs as the fit has."""
    network = GCN(Shape(data.graph.features.shape[1], classes)).to(data.device)
    plain = replace(data, head_loss=nn.functional.cross_entropy, observe=None, graph_loss=None)
    losses, optimizer = network.batches(plain), torch.optim.Adam(network.parameters(), lr=_TEACHER_LR, fused=True)
    for _ in range(data.clock.epochs):
        for loss in losses():
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        return torch.log_softmax(network.eval()(data.whole())[1], dim=1)


@heads.register("gkde")
class Gkde(Head):
    """A Dirichlet distribution per vertex, held to the labels around it; transductive.

    Args:
        width: Columns of the embedding.
        classes: Number of known classes.
        prior: Weight of the divergence from the prior.
    """

    track = "transductive"

    def __init__(self, width: int, classes: int, prior: float = 0.001) -> None:
        super().__init__(width, classes)
        if prior < 0:
            raise UsageError(f"prior = {prior}: it must not be negative")
        self.prior = prior

    def logits(self, output: torch.Tensor) -> torch.Tensor:
        """The logarithm of alpha."""
        return nn.functional.softplus(output.clamp_max(_MOST))

    def loss(self, output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The square loss."""
        return square_loss(self.logits(output).exp(), labels).mean()

    def graph_loss(self, data: TrainingData) -> GraphLoss:
        """What holds the evidence of all vertices to the prior and to the teacher."""
        expected = kernel_prior(data, self.classes).to(data.device)
        taught = teacher(data, self.classes)

        def added(step: Step) -> torch.Tensor:
            logits = self.logits(step.output)
            log_p = torch.log_softmax(logits, dim=1)
            apart = (log_p.exp() * (log_p - taught)).sum(dim=1).mean()
            return self.prior * divergence(logits.exp(), expected).mean() + min(1.0, step.epoch / _UNTIL) * apart

        return added
