"""Steps along the arcs with A_hat = D^-1/2 (A + I) D^-1/2, which GCN and its relatives share.

An isolated vertex has its self-loop alone, so it keeps its own value.
"""

from __future__ import annotations

import torch

from lgl_bench.backbones.layers.inputs import Inputs
from lgl_bench.core.errors import UsageError
from lgl_bench.kernels import neighbour_sum, weighted_sum

MAX_STEPS = 1000


def spread(inputs: Inputs, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(A + I) D^-1/2 H, and the D^-1/2 that is left: scaling rows is cheaper than weighting every message."""
    out_of, into = inputs.degree_scales()
    if inputs.weights is None:
        return neighbour_sum(inputs.looped, h * out_of), into
    return weighted_sum(inputs.looped, h * out_of, inputs.weights), into


def propagate(inputs: Inputs, h: torch.Tensor, steps: int = 1) -> torch.Tensor:
    """A_hat^steps H."""
    inputs = inputs.scaled()
    for _ in range(steps):
        sent, into = spread(inputs, h)
        h = sent * into
    return h


def pagerank(inputs: Inputs, h: torch.Tensor, steps: int, teleport: float) -> torch.Tensor:
    """Personalised PageRank of H: `steps` times Z <- (1 - teleport) A_hat Z + teleport H, from Z = H."""
    inputs, found = inputs.scaled(), h
    for _ in range(steps):
        found = torch.lerp(propagate(inputs, found), h, teleport)
    return found


def check_steps(steps: int) -> None:
    """Refuses a number of steps that makes no sense.

    Raises:
        UsageError: There are none, or far too many.
    """
    if not 1 <= steps <= MAX_STEPS:
        raise UsageError(
            f"steps = {steps}: at least one step along the arcs is needed, and at most {MAX_STEPS} are made"
        )


def check_share(name: str, share: float) -> None:
    """Refuses a share outside [0, 1].

    Raises:
        UsageError: It is not in there.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"{name} = {share}: it must lie in [0, 1]")
