"""Virtual-logit matching (Wang et al. 2022): a * |R^T (z - u)| - logsumexp(f).

u = -pinv(W) b for the last layer's W and b (`last_layer`). The columns of R are the eigenvectors of the mean of
(z - u)(z - u)^T over the training vertices, without the `dim` first ones. a = mean of max f / mean of |R^T (z - u)|,
both over the training vertices; 0 if these leave no residual, and then the energy is left.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.types import FloatArray, Graph, IntArray, Snapshot
from lgl_bench.detectors import Calibration, Detector, detectors
from lgl_bench.detectors.energy import energy
from lgl_bench.training.last_layer import last_layer
from lgl_bench.training.model import Model

_NO_RESIDUAL = 1e-6  # of the length of z - u: what float32 embeddings leave of nothing


def residual_axes(around: FloatArray, dim: int) -> FloatArray:
    """R, from the rows z - u: the axes beyond the `dim` along which they are longest."""
    _, axes = np.linalg.eigh(around.T @ around / len(around))
    rest: FloatArray = axes[:, : axes.shape[1] - dim]
    return rest


def vim(z: FloatArray, logits: torch.Tensor, origin: FloatArray, axes: FloatArray, scale: float) -> FloatArray:
    """From embeddings and logits: higher is more novel."""
    residual = np.linalg.norm((z - origin) @ axes, axis=1)
    novelty: FloatArray = scale * residual + energy(logits).numpy()
    return novelty


@detectors.register("vim")
class Vim(Detector):
    """The energy, plus the length of an embedding outside the main axes of the training ones.

    Args:
        dim: Axes of the principal space; a share of the width of z if it is below 1.
    """

    bounded = False
    grid = MappingProxyType({"dim": (0.25, 0.5, 0.75)})

    def __init__(self, dim: float = 0.5) -> None:
        if not 0 < dim < math.inf or (dim > 1 and dim != int(dim)):
            raise UsageError(f"dim = {dim}: it must be a share between 0 and 1, or a whole number of axes")
        self.dim = dim

    def fit(self, model: Model, train: Snapshot, fit_vertices: IntArray, calibration: Calibration) -> None:
        """Learns origin, axes and scale from the training vertices."""
        w, b = last_layer(model)
        outputs = model.outputs(train.graph)
        z = outputs.embeddings.double().numpy()[fit_vertices]
        largest = outputs.logits.double().amax(dim=1).numpy()[fit_vertices]
        width = z.shape[1]
        kept = int(self.dim * width) if self.dim < 1 else int(self.dim)
        self.origin_: FloatArray = -np.linalg.pinv(w) @ b
        around = z - self.origin_
        self.axes_ = residual_axes(around, min(max(kept, 1), width - 1))
        residual = float(np.linalg.norm(around @ self.axes_, axis=1).mean())
        something = residual > _NO_RESIDUAL * float(np.linalg.norm(around, axis=1).mean())
        self.scale_ = float(largest.mean()) / residual if something else 0.0

    def score(self, model: Model, graph: Graph) -> FloatArray:
        """Any real number."""
        if not hasattr(self, "scale_"):
            raise PluginError("vim has not been fitted; call fit first")
        outputs = model.outputs(graph)
        return vim(outputs.embeddings.double().numpy(), outputs.logits, self.origin_, self.axes_, self.scale_)
