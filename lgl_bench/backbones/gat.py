"""Graph attention network (Velickovic et al. 2018), with self-loops.

e_ij = LeakyReLU(a_l . W h_i + a_r . W h_j), softmax over the arcs into j; heads are concatenated in hidden
layers and averaged in the last one.
"""

from __future__ import annotations

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.dropout import Dropout
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import Arcs, attention

SLOPE = 0.2
"""Of the leaky ReLU."""


class AttentionLayer(nn.Module):
    """One attention layer, its heads side by side: (n, inputs) to (n, heads * outputs)."""

    def __init__(self, inputs: int, outputs: int, heads: int, attn_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.weight = nn.Parameter(glorot(inputs, heads, outputs))
        self.source = nn.Parameter(glorot(1, heads, outputs)[0])
        self.target = nn.Parameter(glorot(1, heads, outputs)[0])
        self.bias = nn.Parameter(torch.zeros(heads, outputs))
        self.drop = Dropout(attn_dropout)

    def forward(self, arcs: Arcs, h: Matrix, mean: bool = False) -> torch.Tensor:
        """Messages weighted by attention; with `mean`, their mean over the heads."""
        product = h @ torch.cat([self.weight.flatten(1), self._ends()], dim=1)
        dropped = self.drop.dropped if self.training else 0
        found = attention(arcs, product, self.heads, SLOPE, dropped)
        if mean:
            return found.view(len(found), self.heads, -1).mean(dim=1) + self.bias.mean(dim=0)
        return found + self.bias.flatten()

    def logits(self, arcs: Arcs, h: Matrix) -> torch.Tensor:
        """The e of every arc and head, (arcs, heads), without dropout."""
        source, target = torch.split(h @ self._ends(), self.heads, dim=1)
        return nn.functional.leaky_relu(source.index_select(0, arcs.sources) + target[arcs.targets], SLOPE)

    def grow(self, outputs: int) -> None:
        """Appends outputs; the attention of what is there stays as it is, so old outputs do too."""
        inputs, heads, old = self.weight.shape
        fresh = glorot(inputs, heads, outputs)
        fresh[:, :, :old] = self.weight.data
        self.weight = nn.Parameter(fresh)
        for name in ("source", "target", "bias"):
            grown = torch.zeros(heads, outputs)
            grown[:, :old] = getattr(self, name).data
            setattr(self, name, nn.Parameter(grown))

    def _ends(self) -> torch.Tensor:
        """W a of every head, as a source and as a target: a . W h is h times it, cheaper than each message times a."""
        return torch.cat([(self.weight * a).sum(-1) for a in (self.source, self.target)], dim=1)


@backbones.register("gat")
class GAT(Backbone):
    """Graph attention: each vertex weights its neighbours by what both look like.

    Args:
        shape, layers, dropout: See `Backbone`.
        hidden: Width of each head.
        heads: Attention heads.
        attn_dropout: Share of attention weights dropped.
    """

    def __init__(
        self,
        shape: Shape,
        hidden: int = 8,
        layers: int = 2,
        dropout: float = 0.5,
        heads: int = 8,
        attn_dropout: float = 0.2,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        if heads < 1:
            raise UsageError(f"heads = {heads}: at least one attention head is needed")
        self.heads = heads
        self.attention = nn.ModuleList(
            AttentionLayer(inputs if layer == 0 else inputs * heads, outputs, heads, attn_dropout)
            for layer, (inputs, outputs) in enumerate(self.sizes())
        )

    @property
    def width(self) -> int:
        """The concatenated heads for a linear head, one averaged head for a prototype head."""
        return self.hidden if self.shape.outputs is None else self.hidden * self.heads

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One attention layer."""
        return self.attention[layer](inputs.looped, h, mean=layer == self.layers - 1)  # type: ignore[no-any-return]

    def attention_logits(self, inputs: Inputs) -> list[torch.Tensor]:
        """The e of every arc of `inputs.looped` and head, (arcs, heads), one tensor per layer; gradients flow."""
        found: list[torch.Tensor] = []
        h: Matrix = inputs.features
        for layer, attending in enumerate(self.attention):
            assert isinstance(attending, AttentionLayer)
            found.append(attending.logits(inputs.looped, h))
            if layer < self.layers - 1:
                h = self.after(layer, self.step(layer, inputs, h))
        return found

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.attention[-1].grow(outputs)  # type: ignore[operator]


def glorot(inputs: int, heads: int, outputs: int) -> torch.Tensor:
    """Glorot-normal weights of several heads, with the gain of ReLU."""
    flat = torch.empty(inputs, heads * outputs)
    nn.init.xavier_normal_(flat, nn.init.calculate_gain("relu"))
    return flat.view(inputs, heads, outputs)
