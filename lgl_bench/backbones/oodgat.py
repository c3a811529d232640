"""OODGAT (Song and Wang 2022): attention that passes messages among vertices that look alike in being new or known.

Per head and layer every vertex has a weight w_v = q . W h_v, and the attention over the arcs into v, a self-loop among
them, is the softmax of 1 - |sigmoid(w_u) - sigmoid(w_v)|. Heads are concatenated in hidden layers and averaged in the
last one; ELU follows the hidden layers. The novelty of a vertex is sigmoid(mean of w over the heads of all layers).

To the loss of the head is added .9^(.01 epoch) [2 L_cons - .005 cos(w of layer 1, w of layer 2) + .05 L_ent], over all
vertices of the graph, with w the mean over the heads of a layer: L_cons = -(mean over the layers of cos(sigmoid(w),
sigmoid(z-scored entropy of p))), and L_ent is the cross-entropy of p to the uniform distribution at vertices whose
novelty is at least .6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import nn

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.gat import glorot
from lgl_bench.backbones.layers.dropout import Dropout
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.sparse import Matrix
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData
from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import Arcs, weighted_sum


def novelty(weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """The sigmoid of the mean of w over the heads of all layers, from the (n, heads) of each."""
    return torch.sigmoid(torch.cat(list(weights), dim=1).mean(dim=1))


def consistency(entropy: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """L_cons: how little the weights of the layers go with the entropy."""
    scaled = torch.sigmoid((entropy - entropy.mean()) / entropy.std().clamp_min(1e-6))
    alike = [torch.cosine_similarity(torch.sigmoid(one.mean(dim=1)), scaled, dim=0) for one in weights]
    return -torch.stack(alike).mean()


def agreement(weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """Mean cosine of the weights of one layer and the next."""
    means = [one.mean(dim=1) for one in weights]
    pairs = zip(means[:-1], means[1:], strict=True)
    return torch.stack([torch.cosine_similarity(one, two, dim=0) for one, two in pairs]).mean()


def flatness(log_p: torch.Tensor, score: torch.Tensor, margin: float) -> torch.Tensor:
    """L_ent: mean cross-entropy to uniform of the vertices that look new; 0 if none does."""
    new = (score.detach() >= margin).to(log_p)
    return -(log_p.mean(dim=1) * new).sum() / new.sum().clamp_min(1)


class OODAttention(nn.Module):
    """One layer, its heads side by side: (n, inputs) to (n, heads * outputs), and the weights (n, heads)."""

    def __init__(self, inputs: int, outputs: int, heads: int, attn_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.weight = nn.Parameter(glorot(inputs, heads, outputs))
        self.query = nn.Parameter(glorot(1, heads, outputs)[0])
        self.bias = nn.Parameter(torch.zeros(heads, outputs))
        self.drop = Dropout(attn_dropout)

    def forward(self, arcs: Arcs, h: Matrix, mean: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Messages weighted by attention, with `mean` their mean over the heads; and the weights of the vertices."""
        messages = (h @ self.weight.flatten(1)).view(h.shape[0], self.heads, -1)
        w = (messages * self.query).sum(dim=-1)
        share = torch.sigmoid(w)
        scores = torch.exp(1 - (share.index_select(0, arcs.sources) - share[arcs.targets]).abs())
        ones = messages.new_ones(len(messages), 1)
        found = []
        for k in range(self.heads):
            score = scores[:, k].contiguous()
            total = weighted_sum(arcs, ones, score)  # dropout leaves the softmax as it is and drops of its values
            found.append(weighted_sum(arcs, messages[:, k].contiguous(), self.drop(score)) / total + self.bias[k])
        return torch.stack(found).mean(dim=0) if mean else torch.cat(found, dim=1), w

    def grow(self, outputs: int) -> None:
        """Appends outputs that have no part in w at first, so that old outputs stay as they are."""
        inputs, heads, old = self.weight.shape
        fresh = glorot(inputs, heads, outputs)
        fresh[:, :, :old] = self.weight.data
        self.weight = nn.Parameter(fresh)
        for name in ("query", "bias"):
            grown = torch.zeros(heads, outputs)
            grown[:, :old] = getattr(self, name).data
            setattr(self, name, nn.Parameter(grown))


@backbones.register("oodgat")
class OODGAT(Backbone):
    """Attention among vertices that look alike in being new or known; transductive.

    Its loss sees the vertices that are scored.

    Args:
        shape, layers, dropout: See `Backbone`.
        hidden: Width of each head.
        heads: Attention heads.
        attn_dropout: Share of attention weights dropped.
        margin: Novelty from which L_ent counts a vertex.
    """

    track = "transductive"
    own_sizes = frozenset({"hidden", "layers", "dropout", "heads", "attn_dropout"})
    own_lr = 0.01

    def __init__(
        self,
        shape: Shape,
        hidden: int = 32,
        layers: int = 2,
        dropout: float = 0.5,
        heads: int = 4,
        attn_dropout: float = 0.6,
        margin: float = 0.6,
    ) -> None:
        super().__init__(shape, hidden, layers, dropout)
        if heads < 1:
            raise UsageError(f"heads = {heads}: at least one attention head is needed")
        self.heads = heads
        self.margin = margin
        self.attention = nn.ModuleList(
            OODAttention(inputs if layer == 0 else inputs * heads, outputs, heads, attn_dropout)
            for layer, (inputs, outputs) in enumerate(self.sizes())
        )

    @property
    def width(self) -> int:
        """The concatenated heads for a linear head, one averaged head for a prototype head."""
        return self.hidden if self.shape.outputs is None else self.hidden * self.heads

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """One attention layer."""
        return self.attend(layer, inputs, h)[0]

    def attend(self, layer: int, inputs: Inputs, h: Matrix) -> tuple[torch.Tensor, torch.Tensor]:
        """One attention layer, and its weights w, (n, heads)."""
        return self.attention[layer](inputs.looped, h, mean=layer == self.layers - 1)  # type: ignore[no-any-return]

    def after(self, layer: int, h: torch.Tensor) -> torch.Tensor:
        """ELU and dropout."""
        return self.drop(nn.functional.elu(h))  # type: ignore[no-any-return]

    def weighted(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """Embeddings and outputs, as `forward` returns them, and the weights of every layer."""
        output, w = self.attend(0, inputs, inputs.features)
        found = [w]
        for layer in range(1, self.layers):
            z = self.after(layer - 1, output)
            output, w = self.attend(layer, inputs, z)
            found.append(w)
        return (output if self.shape.outputs is None else z), output, found

    def batches(self, data: TrainingData) -> Epoch:
        """One step on the whole graph, with the losses that tell new vertices from known ones."""
        inputs, vertices = data.whole(), data.vertices.to(data.device)

        def epoch() -> Iterator[torch.Tensor]:
            z, output, w = self.weighted(inputs)
            loss = data.loss(output[vertices], data.vertices) + data.added(z, output)
            yield loss + 0.9 ** (0.01 * data.clock.epoch) * self.ood_loss(data.head_logits(output), w)

        return epoch

    def ood_loss(self, logits: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
        """What is added, before it fades with the epochs."""
        log_p = torch.log_softmax(logits, dim=1)
        entropy = -(log_p.exp() * log_p).sum(dim=1)
        flat = flatness(log_p, novelty(weights), self.margin)
        return 2 * consistency(entropy, weights) - 0.005 * agreement(weights) + 0.05 * flat

    def grow(self, outputs: int) -> None:
        """Appends outputs to the last layer."""
        self.attention[-1].grow(outputs)  # type: ignore[operator]
