"""Thresholds: from novelty to a decision. Rejected means called new.

A threshold sees scores only. `fit` gets those of training and of calibration vertices; `reject` decides for the
scored vertices of the test graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from lgl_bench.core.registry import Registry
from lgl_bench.core.types import BoolArray, Scores


class Threshold(ABC):
    """Base of every threshold: write `reject`, and `fit` if something has to be learned first."""

    ranked: ClassVar[bool] = True
    """Whether it may appear in a ranking; an upper bound that sees the truth may not."""

    @property
    def track(self) -> str:
        """Called transductive if the unlabelled test graph takes part in fitting."""
        return "inductive"

    def fit(self, train: Scores, calibration: Scores, seed: int) -> None:  # noqa: B027
        """Learns what it needs; a fixed threshold needs nothing."""

    @abstractmethod
    def reject(self, test: Scores) -> BoolArray:
        """Whether each of `test.scored` is called new."""


thresholds: Registry[type[Any]] = Registry(
    "threshold",
    "lgl_bench.thresholds",
    tuple(
        f"lgl_bench.thresholds.{name}"
        for name in ("naive", "gdoc", "openwgl", "open_wrf", "quantile", "oracle", "references")
    ),
)
