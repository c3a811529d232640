"""Budgets: they cap the width, the epochs and the seeds, never the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lgl_bench.core.errors import UnknownNameError
from lgl_bench.core.expressions import Expression, complete
from lgl_bench.runs.presets import Preset
from lgl_bench.thresholds import thresholds


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may spend.

    Attributes:
        seeds: Default number of seeds.
        hidden: Widest hidden layer; a GAT's heads count together.
        epochs: Most epochs a fit.
        least_lr: Fewer steps must be larger ones: no learning rate is lower.
        threshold_epochs: Most epochs of a threshold that trains a classifier, where its expression does not say.
        most_dropout: A narrow layer that loses nine of ten units does not learn in few epochs: no dropout is higher.
    """

    name: str
    seeds: int
    hidden: int | None = None
    epochs: int | None = None
    least_lr: float = 0.0
    most_dropout: float = 1.0
    threshold_epochs: int | None = None

    def cap(self, preset: Preset) -> Preset:
        """The preset within the budget."""
        parameters = dict(preset.backbone)
        if self.hidden is not None and "hidden" in parameters:
            heads = parameters.get("heads", 1)
            if heads > 1:
                parameters["heads"] = heads = min(heads, 4)
            parameters["hidden"] = max(1, min(parameters["hidden"] * heads, self.hidden) // heads)
        for name in ("dropout", "attn_dropout"):
            if name in parameters:
                parameters[name] = min(parameters[name], self.most_dropout)
        training = preset.training
        if self.epochs is not None and training.epochs > self.epochs:
            training = replace(training, epochs=self.epochs, lr=max(training.lr, self.least_lr))
        return replace(preset, backbone=parameters, training=training)

    def cap_threshold(self, given: Expression) -> Expression:
        """The threshold with its defaults filled in, within the budget."""
        full = complete(given, thresholds)
        parameters = dict(full.parameters)
        if self.threshold_epochs is not None and "epochs" in parameters and "epochs" not in dict(given.parameters):
            parameters["epochs"] = min(int(parameters["epochs"]), self.threshold_epochs)
        return replace(full, parameters=tuple(sorted(parameters.items())))


BUDGETS = {
    budget.name: budget
    for budget in (
        Budget("smoke", seeds=1, hidden=16, epochs=5, least_lr=0.02, most_dropout=0.5, threshold_epochs=20),
        Budget("quick", seeds=3, hidden=64, epochs=10, least_lr=0.01, most_dropout=0.5, threshold_epochs=50),
        Budget("paper", seeds=10),
    )
}


def budget(name: str) -> Budget:
    """A budget by name."""
    if name not in BUDGETS:
        raise UnknownNameError("budget", name, BUDGETS, f"There are: {', '.join(BUDGETS)}")
    return BUDGETS[name]
