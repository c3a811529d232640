"""Adam, with the parameter groups of a backbone if it has any."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.optim import Adam

from lgl_bench.training.model import Model


class Optimiser:
    """One learning rate for all parameters; no weight decay and no waiting unless the backbone says so.

    Args:
        model: Whose parameters.
        lr: Learning rate.
        epochs: Most epochs of the fit.
    """

    def __init__(self, model: Model, lr: float, epochs: int) -> None:
        groups = [group for group in model.backbone.parameter_groups(epochs) if group.parameters]
        grouped = {id(one) for group in groups for one in group.parameters}
        rest = [one for one in model.parameters() if id(one) not in grouped]
        settings: list[dict[str, Any]] = [{"params": rest}] if rest else []
        settings += [{"params": list(one.parameters), "weight_decay": one.weight_decay} for one in groups]
        self._adam = Adam(settings, lr=lr, fused=True)
        self._waiting: list[tuple[int, tuple[nn.Parameter, ...]]] = [
            (group.first_epoch, group.parameters) for group in groups if group.first_epoch > 1
        ]

    def zero_grad(self) -> None:
        """Drops all gradients."""
        self._adam.zero_grad()

    def step(self, epoch: int) -> None:
        """One step in an epoch; parameters whose first epoch is yet to come stay as they are."""
        for first, parameters in self._waiting:
            for one in parameters if epoch < first else ():
                one.grad = None
        self._adam.step()
