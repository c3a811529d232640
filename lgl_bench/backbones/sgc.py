"""Simplified graph convolution (Wu et al. 2019): A_hat^K X W + b, a linear classifier of smoothed features.

There is no hidden layer, no activation and no dropout. The embedding of a linear head is A_hat^K X, as wide as the
features and dense: n x features numbers. With a prototype head the linear map has `hidden` outputs, and these are the
embedding.

Dense features are smoothed once per fit, and an epoch reads the rows of the training vertices alone. Smoothed sparse
ones would be dense, and dearer in every epoch than A_hat^K (X W), which is equal: K steps of a matrix as narrow as the
outputs. So sparse features are smoothed only for the embedding, at evaluation, some columns at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from lgl_bench.backbones import Backbone, Shape, backbones
from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.projection import Projection
from lgl_bench.backbones.layers.propagation import check_steps, propagate
from lgl_bench.backbones.layers.sparse import Matrix, SparseMatrix
from lgl_bench.backbones.walks.training_data import Epoch, TrainingData

# Columns that are smoothed together: what is held beside the result stays small.
_COLUMNS = 256


@backbones.register("sgc")
class SGC(Backbone):
    """Features smoothed over the graph, then one linear map.

    Args:
        shape: See `Backbone`.
        hidden: Width of the embedding of a prototype head; a linear head has none.
        steps: Steps of smoothing, K.
    """

    edge_weights = True

    def __init__(self, shape: Shape, hidden: int = 64, steps: int = 2) -> None:
        super().__init__(shape, hidden, layers=2, dropout=0.0)
        check_steps(steps)
        self.steps = steps
        self.projection = Projection(shape.inputs, hidden if shape.outputs is None else shape.outputs)

    @property
    def width(self) -> int:
        """The features for a linear head, `hidden` for a prototype head."""
        return self.hidden if self.shape.outputs is None else self.shape.inputs

    def step(self, layer: int, inputs: Inputs, h: Matrix) -> torch.Tensor:
        """Layer 0 smooths, the other is the linear map."""
        return smoothed(inputs, h, self.steps) if layer == 0 else self.projection(h)

    def after(self, layer: int, h: torch.Tensor) -> torch.Tensor:
        """Nothing."""
        return h

    def forward(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Embeddings and outputs."""
        if self.shape.outputs is None and isinstance(inputs.features, SparseMatrix):
            output = self._narrow(inputs)
            return output, output
        return super().forward(inputs)

    def grow(self, outputs: int) -> None:
        """Appends outputs to the linear map."""
        self.projection.grow(outputs)

    def batches(self, data: TrainingData) -> Epoch:
        """One step on all training vertices; see above for what is computed before the first."""
        inputs, rows = data.whole(), data.vertices.to(data.device)
        dense = None
        if not isinstance(inputs.features, SparseMatrix):
            dense = smoothed(inputs, inputs.features, self.steps)[rows]

        def epoch() -> Iterator[torch.Tensor]:
            output = self._narrow(inputs)[rows] if dense is None else self.last(inputs, dense)
            yield data.loss(output, data.vertices)

        return epoch

    def _narrow(self, inputs: Inputs) -> torch.Tensor:
        """The output, the linear map first."""
        assert self.projection.bias is not None
        return propagate(inputs, inputs.features @ self.projection.weight, self.steps) + self.projection.bias


def smoothed(inputs: Inputs, features: Matrix, steps: int) -> torch.Tensor:
    """A_hat^steps X, dense; gradients flow into the features and the arc weights."""
    inputs, columns = inputs.scaled(), features.shape[1]
    found = inputs.degree_scales()[0].new_empty(features.shape)
    for start in range(0, columns, _COLUMNS):
        part = slice(start, min(start + _COLUMNS, columns))
        chosen = features @ _unit_columns(found, part) if isinstance(features, SparseMatrix) else features[:, part]
        found[:, part] = propagate(inputs, chosen, steps)
    return found


def _unit_columns(like: torch.Tensor, part: slice) -> torch.Tensor:
    """Some columns of the identity matrix."""
    found = like.new_zeros(like.shape[1], part.stop - part.start)
    found[part].fill_diagonal_(1.0)
    return found
