"""The rule of parity: when a cell is within reach of the printed one, what explains it if it is not, and how sure.

A cell is near if every figure the paper prints of it is within 0.03 of ours. A switch explains a cell that is not near
if the cell is near with it. Both claims need three seeds; with fewer they stand, and are marked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

FAR = 0.03
"""A difference above this one is to be explained."""
MIN_SEEDS = 3
"""Seeds that every cell and every explanation should have."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed figure beside ours.

    Attributes:
        metric: By name: "accuracy", "auroc", "micro_f1".
        paper: What is printed.
        ours: What was measured; None if it is undefined.
        std: Standard deviation over seeds; None for one seed.
        difference: Ours minus the printed one.
    """

    metric: str
    paper: float
    ours: float | None
    std: float | None
    difference: float | None


class ComparedCell(Protocol):
    """A cell that was measured, without or with a switch."""

    @property
    def figures(self) -> tuple[Compared, ...]:
        """Every figure the paper prints of it."""

    @property
    def seeds(self) -> int:
        """How many were measured."""

    @property
    def switch(self) -> str:
        """What the published code does differently; "" for ours."""


class Mark(StrEnum):
    """What is said of a printed cell."""

    WITHIN = "within"
    EXPLAINED = "explained"
    OPEN = "not explained"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a printed cell, and how sure.

    Attributes:
        mark: In a word.
        switches: That explain it; none unless the mark is `EXPLAINED`.
        few_seeds: Whether fewer than three seeds stand behind it: behind ours, or behind every switch that explains it.
    """

    mark: Mark
    switches: tuple[str, ...] = ()
    few_seeds: bool = False

    @property
    def answered(self) -> bool:
        """Whether nothing is left to do: near or explained, with enough seeds."""
        return self.mark in (Mark.WITHIN, Mark.EXPLAINED) and not self.few_seeds


def near(cell: ComparedCell) -> bool:
    """Whether every printed figure of a cell was measured and is within reach; never if none is printed."""
    return bool(cell.figures) and all(one.difference is not None and abs(one.difference) <= FAR for one in cell.figures)


def means(cell: ComparedCell) -> str:
    """Its figures of ours, without their deviations."""
    return " / ".join("undefined" if one.ours is None else f"{one.ours:.3f}" for one in cell.figures)


def verdict(ours: ComparedCell | None, switched: Iterable[ComparedCell] = ()) -> Verdict:
    """What is said of a printed cell.

    Args:
        ours: As the paper says; None if it was not measured.
        switched: The same cell with each switch that was measured.
    """
    if ours is None or all(one.ours is None for one in ours.figures):
        return Verdict(Mark.UNMEASURED)
    few = ours.seeds < MIN_SEEDS
    if near(ours):
        return Verdict(Mark.WITHIN, few_seeds=few)
    explaining = [cell for cell in switched if near(cell)]
    if not explaining:
        return Verdict(Mark.OPEN, few_seeds=few)
    unsure = all(cell.seeds < MIN_SEEDS for cell in explaining)
    return Verdict(Mark.EXPLAINED, tuple(cell.switch for cell in explaining), few or unsure)
