"""OpenWGL (Wu et al. 2020): a variational graph autoencoder whose latent vectors a dense layer classifies.

A GCN leads to the mean m and the logarithm of the deviation s of every latent vector, z = m + s * noise in training and
in stochastic passes, z = m otherwise; logits are a linear map of z. To the loss of the head are added, over the graph:

- the divergence of z from N(0, 1): mean of (s^2 + m^2 - 1) / 2 - log s over vertices and units;
- the reconstruction of the edges: mean of -log sigmoid(z_u . z_v) over the edges, and of -log(1 - sigmoid(z_u . z_v))
  over as many pairs of vertices drawn uniformly;
- the class uncertainty: mean of sum_c p_c log p_c over the vertices that are not trained on with 1/C < max p < .5.

Run year by year it is SeqOpenWGL.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.gcn import convolve
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError

_MOST_LOG_DEVIATION = 10.0
_UNSURE = 0.5


def divergence(mean: torch.Tensor, log_deviation: torch.Tensor) -> torch.Tensor:
    """KL(N(m, s), N(0, 1)), the mean over vertices and units."""
    return ((torch.exp(2 * log_deviation) + mean.square() - 1) / 2 - log_deviation).mean()


def reconstruction(z: torch.Tensor, edges: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """How badly inner products tell edges from other pairs, (2, m) each; 0 without edges."""
    there, not_there = ((z[u] * z[v]).sum(dim=1) for u, v in (edges, others))
    count = max(1, edges.shape[1])
    return (nn.functional.softplus(-there).sum() + nn.functional.softplus(not_there).sum()) / count


def certainty(logits: torch.Tensor) -> torch.Tensor:
    """Mean of sum_c p_c log p_c over the vertices with 1/C < max p < .5; 0 if there is none."""
    log_p = torch.log_softmax(logits, dim=1)
    largest = log_p.detach().exp().amax(dim=1)
    unsure = ((largest > 1 / logits.shape[1]) & (largest < _UNSURE)).to(log_p)
    return ((log_p.exp() * log_p).sum(dim=1) * unsure).sum() / unsure.sum().clamp_min(1)


def draw_pairs(vertices: int, count: int) -> torch.Tensor:
    """Pairs of different vertices, (2, count), drawn uniformly from torch's own generator."""
    first = torch.randint(vertices, (count,))
    return torch.stack([first, (first + torch.randint(1, vertices, (count,))) % vertices])


@backbones.register("openwgl")
class OpenWGL(Backbone):
    """A variational graph autoencoder with a classifier of its latent vectors; transductive.

    Its loss sees the vertices that are scored. The embedding is z.

    Args:
        shape, hidden, dropout: See `Backbone`.
        layers: Convolutions; the last are those of mean and deviation.
        latent: Width of z.
    """

    edge_weights = True
    track = "transductive"
    own_sizes = frozenset({"hidden", "layers", "dropout"})
    own_lr = 0.001

    def __init__(self, shape: Shape, hidden: int = 32, layers: int = 2, dropout: float = 0.0, latent: int = 16) -> None:
        super().__init__(shape, hidden, layers, dropout)
        if latent < 1:
            raise UsageError(f"latent = {latent}: at least one unit is needed")
        self.latent = latent
        self.projections = nn.ModuleList(Projection(*size) for size in self.sizes())
        self.deviation = Projection(hidden, latent)
        self.classifier = None if shape.outputs is None else Projection(latent, shape.outputs)

    @property
    def width(self) -> int:
        """The width of z."""
        return self.latent

    def sizes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each convolution."""
        widths = [self.shape.inputs, *[self.hidden] * (self.layers - 1), self.latent]
        return list(zip(widths[:-1], widths[1:], strict=True))

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One convolution; the last leads to the mean of z."""
        projection = self.projections[layer]
        assert isinstance(projection, Projection)
        return convolve(inputs, projection, h)

    def distribution(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and logarithm of the deviation of z."""
        inputs = inputs.scaled()
        h = super().body(inputs)
        log_deviation = convolve(inputs, self.deviation, h).clamp_max(_MOST_LOG_DEVIATION)
        return self.step(self.layers - 1, inputs, h), log_deviation

    def draw(self, mean: torch.Tensor, log_deviation: torch.Tensor) -> torch.Tensor:
        """A z from torch's own generator."""
        return mean + torch.exp(log_deviation) * torch.randn(mean.shape).to(mean.device)

    def body(self, inputs: Inputs) -> torch.Tensor:
        """The latent vectors: drawn in training, their means otherwise."""
        mean, log_deviation = self.distribution(inputs)
        return self.draw(mean, log_deviation) if self.training else mean

    def last(self, inputs: Inputs, h: torch.Tensor) -> torch.Tensor:
        """The dense layer; with a prototype head there is none."""
        return h if self.classifier is None else self.classifier(h)

    def batches(self, data: TrainingData) -> Epoch:
        """One step on the whole graph, with the losses of autoencoder and class uncertainty."""
        inputs, device = data.whole(), data.device
        vertices, unlabelled = data.vertices.to(device), data.unlabelled.to(device)
        edges = torch.from_numpy(data.graph.edges[:, ::2].copy()).to(device)

        def epoch() -> Iterator[torch.Tensor]:
            mean, log_deviation = self.distribution(inputs)
            z = self.draw(mean, log_deviation)
            output = self.last(inputs, z)
            loss = data.loss(output[vertices], data.vertices) + data.added(z, output)
            if edges.shape[1]:
                loss = loss + reconstruction(z, edges, draw_pairs(len(z), edges.shape[1]).to(device))
            yield loss + divergence(mean, log_deviation) + certainty(data.head_logits(output)[unlabelled])

        return epoch

    def grow(self, outputs: int) -> None:
        """Appends outputs to the dense layer."""
        assert self.classifier is not None
        self.classifier.grow(outputs)
