"""The weights of a model's last layer, read off the layer itself."""

from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.backbones.layers.sparse import to_matrix
from lgl_bench.core.errors import PluginError, UsageError, reason_of
from lgl_bench.core.types import FloatArray, Sparse
from lgl_bench.kernels import Arcs
from lgl_bench.training.model import Model

_TOLERANCE = 1e-3


def last_layer(model: Model) -> tuple[FloatArray, FloatArray]:
    """W (known classes, width of z) and b, such that f = W z + b at a vertex whose neighbours all have its own z.

    These are the weights of a GCN, an MLP or Graph-MLP as they are, GraphSAGE's own and neighbours' weights added up,
    and the mean over the heads of GAT. They are found by sending 0 and every unit vector through the last layer, each
    at a vertex whose only neighbour has the same embedding, so that a backbone need not say where it keeps them.

    Raises:
        UsageError: The head compares with prototypes: no linear layer leads to its logits.
        PluginError: The last layer of the backbone is not linear, or does not work by itself.
    """
    name = type(model.backbone).__name__
    if not model.head.linear:
        raise UsageError(
            f"the head {type(model.head).__name__} has no linear last layer, so there are no weights to read off; "
            "train with the head softmax"
        )
    width = model.backbone.width
    mixed = torch.cos(torch.arange(width, dtype=torch.float32))[None, :]
    try:
        found = _answers(model, torch.cat([torch.zeros(1, width), torch.eye(width), mixed]))
    except Exception as error:  # a backbone of somebody's own may raise anything
        raise PluginError(
            f"the last layer of the backbone {name} cannot be asked for its weights: {reason_of(error)}"
        ) from error
    b, w = found[0], (found[1:-1] - found[0]).T
    expected = w @ mixed[0].double().numpy() + b
    if not np.allclose(found[-1], expected, rtol=_TOLERANCE, atol=_TOLERANCE * max(1.0, np.abs(w).max())):
        raise PluginError(
            f"the last layer of the backbone {name} is not linear, so it has no weights W and b; use a detector "
            "that reads none, such as energy"
        )
    return w, b


def _answers(model: Model, z: torch.Tensor) -> FloatArray:
    """Logits of vertices with these embeddings, each linked with a twin."""
    count = 2 * len(z)
    vertices = np.arange(count, dtype=np.int64)
    edges = np.stack([vertices, vertices ^ 1])
    nothing = Sparse(
        np.zeros(count + 1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0, dtype=np.float32),
        model.backbone.shape.inputs,
    )
    inputs = Inputs(to_matrix(nothing), Arcs.of_edges(edges, count))
    model.eval()
    with torch.no_grad():
        output = model.backbone.last(inputs, z.repeat_interleave(2, dim=0))
        logits: FloatArray = model.head.logits(output)[::2].double().numpy()
    return logits
