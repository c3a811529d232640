"""Graph posterior network (Stadler et al. 2021): densities of classes are evidence, and PageRank spreads it.

An MLP makes z of the features of a vertex. Each class has a radial flow: log beta_c = log q(z given c) + log prior_c +
(d / 2) log 4 pi, held in [-30, 30], with the share prior_c of the class among the training vertices; alpha = 1 + the
personalised PageRank of beta. Outputs are log alpha, the embedding is z; with a prototype head there are no classes to
hold densities, and z itself is spread.

Flows and priors are fitted every year, and a class that becomes known gets a flow of its own. A class without a
training vertex in a year keeps its prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from lgl_bench.backbones import Backbone, ParameterGroup, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.propagation import check_share, check_steps, pagerank
from lgl_bench.backbones.layers.radial_flow import RadialFlows
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError

_MOST = 30.0
_WEIGHT_DECAY = 0.001
_WARM_UP = 5  # epochs, or a tenth of them if there are few


def _narrow(inputs: int, outputs: int) -> Projection:
    """A linear map with weights from U(-1/sqrt(inputs), 1/sqrt(inputs)): flows learn little of a z far from 0."""
    found = Projection(inputs, outputs)
    nn.init.uniform_(found.weight, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))
    return found


@backbones.register("gpn")
class GPN(Backbone):
    """An MLP, a density per class as evidence, and PageRank that spreads it; made for the head gpn.

    Args:
        shape, hidden, dropout: See `Backbone`.
        layers: Linear layers of the MLP; the last leads to z.
        latent: Width of z, d.
        flow_layers: Layers of each flow.
        steps: Steps of PageRank.
        teleport: Share of its own evidence that a vertex takes again in every step.
    """

    edge_weights = True
    own_head = "gpn"
    own_sizes = frozenset({"hidden", "layers", "dropout"})
    own_lr = 0.01

    def __init__(
        self,
        shape: Shape,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        latent: int = 16,
        flow_layers: int = 10,
        steps: int = 10,
        teleport: float = 0.1,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        check_steps(steps)
        check_share("teleport", teleport)
        if latent < 1 or flow_layers < 1:
            raise UsageError(f"latent = {latent}, flow_layers = {flow_layers}: both must be at least 1")
        self.latent, self.steps, self.teleport = latent, steps, teleport
        self.projections = nn.ModuleList(_narrow(*size) for size in self.sizes())
        classes = shape.outputs or 0
        self.flows = RadialFlows(classes, latent, flow_layers) if classes else None
        self.register_buffer("log_prior", torch.full((classes,), -math.log(max(1, classes))))
        self.log_prior: torch.Tensor

    @property
    def width(self) -> int:
        """The width of z."""
        return self.latent

    def sizes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each linear layer."""
        widths = [self.shape.inputs, *[self.hidden] * (self.layers - 1), self.latent]
        return list(zip(widths[:-1], widths[1:], strict=True))

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One linear layer; the last leads to z."""
        return self.projections[layer](h)  # type: ignore[no-any-return]

    def body(self, inputs: Inputs) -> torch.Tensor:
        """The MLP: z."""
        return self.step(self.layers - 1, inputs, super().body(inputs))

    def last(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        """The logarithm of alpha, from z; with a prototype head, z after PageRank."""
        if self.flows is None:
            return pagerank(inputs, h, self.steps, self.teleport)
        budget = self.latent / 2 * math.log(4 * math.pi)
        log_beta = (self.flows(h) + self.log_prior + budget).clamp(-_MOST, _MOST)
        return torch.log1p(pagerank(inputs, log_beta.exp(), self.steps, self.teleport))

    def batches(self, data: TrainingData) -> Epoch:
        """One step on the whole graph; the priors are those of the training vertices."""
        if self.flows is not None:
            counts = torch.bincount(data.labels[data.vertices], minlength=len(self.log_prior)).to(self.log_prior)
            share = torch.log(counts / counts.sum())
            self.log_prior = torch.where(counts > 0, share, self.log_prior)
        return super().batches(data)

    def parameter_groups(self, epochs: int) -> Sequence[ParameterGroup]:
        """The flows alone at first; the MLP joins them, with weight decay."""
        first = 1 + min(_WARM_UP, epochs // 10)
        return [ParameterGroup(tuple(self.projections.parameters()), _WEIGHT_DECAY, first)]

    def grow(self, outputs: int) -> None:
        """Appends flows; what is known of a class that has no training vertex yet is the least prior."""
        assert self.flows is not None
        self.flows.grow(outputs)
        new = self.log_prior.min().expand(outputs - len(self.log_prior))
        self.log_prior = torch.cat([self.log_prior, new])
