"""What travels between a run and its workers, as plain values: orders there, results back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from lgl_bench.core.types import IntArray
from lgl_bench.plans.fits import Unit
from lgl_bench.runs.records import FitRecord


@dataclass(frozen=True, slots=True)
class Left:
    """What a fit left for the next one.

    Attributes:
        unit: Whose fit.
        memory: Of its strategy; None if it left nothing.
    """

    unit: Unit
    memory: bytes | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """A unit with the weights of its fit.

    Attributes:
        left: What the fit before it left, which decides what it saw; None if there is none.
    """

    unit: Unit
    weights: bytes
    left: Left | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of a unit.

    Attributes:
        unit: Which.
        detectors: Expressions to score.
        thresholds: Expressions, decided for each of the detectors.
        weights: Of the unit, if it was fitted before: then nothing is trained.
        before: Whose model the unit goes on from and is calibrated with (`lineage`); None if there is none.
        left: What that fit left, with or without its weights.
        matrix: Whether the model is to answer for every year, beside a fit or, with weights, alone.
    """

    unit: Unit
    detectors: tuple[str, ...]
    thresholds: tuple[str, ...] = ()
    weights: bytes | None = None
    before: Fitted | None = None
    matrix: bool = False
    left: Left | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an order.

    Attributes:
        fit_record: Of a new fit, or of a task that is skipped; None if nothing was trained.
        weights: Of a new fit.
        memory: What the strategy of a new fit left.
        answers: Columns to store; None if there are none.
        failed: Reason per expression that could not be scored.
        seconds: Spent training and scoring.
        matrix: The classes that it gives to the vertices of every year, if they were asked for.
        scoring_seconds: Per detector; those of training are in the record.
    """

    fit_record: FitRecord | None = None
    weights: bytes | None = None
    answers: pd.DataFrame | None = None
    failed: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    matrix: IntArray | None = None
    memory: bytes | None = None
    scoring_seconds: dict[str, float] = field(default_factory=dict)
