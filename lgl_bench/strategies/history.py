"""All history: as it is, the last years of it, or with fresh weights every year."""

from __future__ import annotations

from typing import Literal

from lgl_bench.core.errors import UsageError
from lgl_bench.strategies import FitTask, FitView, Memory, Past, Strategy, strategies


class History(Strategy):
    """Every label that has arrived is in the loss."""

    past: Past = "all"

    def select(self, task: FitTask, memory: Memory, seed: int) -> FitView:
        """All that is on offer."""
        return FitView(task.labelled)


@strategies.register("full")
class Full(History):
    """All history in the loss, going on from the weights of the year before."""


@strategies.register("cold")
class Cold(History):
    """All history in the loss, with fresh weights every year."""

    warm = False


@strategies.register("window")
class Window(History):
    """The last years alone, in the loss and in the graph.

    Args:
        years: How many, counted in years that exist.
        restart: "warm" goes on from the weights of the year before, "cold" starts anew.
    """

    def __init__(self, years: int = 3, restart: Literal["warm", "cold"] = "warm") -> None:
        if years < 1:
            raise UsageError(f"years = {years}: at least the last year must be kept; `full` keeps all")
        self.years = years
        self.restart = restart
        self.history = years
        self.warm = restart == "warm"
