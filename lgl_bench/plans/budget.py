"""Budgets: they cap the width, the steps of the optimiser and the seeds, never the graph.

Steps are counted, not epochs: an epoch is one step on the whole graph, but several if a backbone walks in batches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lgl_bench.core.errors import UnknownNameError, UsageError
from lgl_bench.core.expressions import Expression, complete
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.thresholds import thresholds


@dataclass(frozen=True, slots=True)
class Caps:
    """What a fit may spend.

    Attributes:
        hidden: Widest hidden layer; attention heads count together.
        steps: Most steps of the optimiser in a fit that starts afresh.
        warm_steps: The same in a fit that goes on from the weights of an earlier year.
        least_lr: Fewer steps must be larger ones: no learning rate is lower.
        most_dropout: A narrow layer that loses nine of ten units does not learn in few epochs: no dropout is higher.
        heads: Most attention heads, unless a number is given: few wide ones learn as much as many narrow ones, in half
            the time.
    """

    hidden: int
    steps: int
    warm_steps: int
    least_lr: float
    most_dropout: float
    heads: int = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may spend.

    Attributes:
        version: Raised when the caps change: rows of different versions are not comparable.
        seeds: Default number of seeds.
        caps: Of a fit; None for none.
        attention: Of a fit of a backbone with attention heads, which bears less dropout; None for the same.
        threshold_epochs: Most epochs of a threshold that trains a classifier, if its expression does not say.
    """

    name: str
    version: int
    seeds: int
    caps: Caps | None = None
    attention: Caps | None = None
    threshold_epochs: int | None = None

    def cap(self, preset: Preset, given: Collection[str] = ()) -> Preset:
        """The preset within the budget.

        Args:
            preset: What is to be trained.
            given: Parameters that are not the preset's own; attention heads among them stay as many as they are, and
                share the width.
        """
        parameters = dict(preset.backbone)
        caps = self.attention or self.caps if "heads" in parameters else self.caps
        if caps is None:
            return preset
        heads = parameters.get("heads", 1)
        if "heads" not in given:
            heads = min(heads, caps.heads)
        if "heads" in parameters:
            parameters["heads"] = heads
        if "hidden" in parameters:
            width = preset.backbone["hidden"] * preset.backbone.get("heads", 1)
            parameters["hidden"] = max(1, min(width, caps.hidden) // max(1, heads))
        for name in ("dropout", "attn_dropout"):
            if name in parameters:
                parameters[name] = min(parameters[name], caps.most_dropout)
        training = preset.training
        if training.epochs > caps.steps:
            training = replace(training, lr=max(training.lr, caps.least_lr))
        # An epoch has at least one step.
        epochs = min(training.epochs, caps.steps)
        training = replace(training, epochs=epochs, steps=caps.steps, warm_steps=caps.warm_steps)
        return replace(preset, backbone=parameters, training=training)

    def cap_given(self, preset: Preset, given: Mapping[str, Any]) -> Preset:
        """The preset with values of the backbone that an expression or a sweep gives in place, within the budget.

        Raises:
            UsageError: A value is beyond the budget: capped, its row would show another value than was run.
        """
        capped = self.cap(preset)
        found = self.cap(replace(capped, backbone={**capped.backbone, **given}), given)
        for name, value in given.items():
            if found.backbone[name] != value:
                raise UsageError(
                    f"the backbone is to have {name} = {value:g}; the budget {self.name} allows "
                    f"{found.backbone[name]:g}: take another value, or give a larger --budget"
                )
        return found

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
        Budget("smoke", version=2, seeds=1, caps=Caps(16, 5, 5, 0.02, 0.5), threshold_epochs=20),
        Budget(
            "quick",
            version=2,
            seeds=3,
            caps=Caps(64, 50, 20, 0.01, 0.5),
            attention=Caps(64, 50, 20, 0.01, 0.2),
            threshold_epochs=50,
        ),
        Budget("paper", version=1, seeds=10),
    )
}


def budget(name: str) -> Budget:
    """A budget by name."""
    if name not in BUDGETS:
        raise UnknownNameError("budget", name, BUDGETS, f"There are: {', '.join(BUDGETS)}")
    return BUDGETS[name]
