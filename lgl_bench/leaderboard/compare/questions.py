"""What can be asked of two rows, and what comes of it.

`testing.py` answers questions; `kept.py` keeps results in a run folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.compare.answers import Cells, Method
from lgl_bench.leaderboard.stats.evidence import Evidence

BOOTSTRAP = "bootstrap"
RESAMPLED = "resampled-t"
SEEDS = "seeds-t"
WELCH = "welch"
NOT_TESTED = "printed"
EXPLAINED = {
    BOOTSTRAP: "paired bootstrap over seeds and vertices, new and known apart within each year; the years are fixed",
    RESAMPLED: "corrected resampled t-test over seeds, each of which splits the graph anew (Nadeau and Bengio 2003)",
    SEEDS: "paired t over seeds; the vertices are taken as fixed",
    WELCH: "no answers: only the spread over seeds is compared, by Welch's t, corrected if seeds split anew",
    NOT_TESTED: "printed: no interval, not tested",
}
_STREAM = KEY.index("stream")

Pair: TypeAlias = tuple[Cells, Cells, str]
"""Two methods and a metric."""


@dataclass(frozen=True, slots=True)
class Question:
    """Two rows of run folders and a metric; b is set against a."""

    a: Method
    b: Method
    metric: str
    split: str
    checksum: str

    @property
    def stream(self) -> str:
        """The stream of both."""
        return self.a[1][_STREAM]

    @property
    def pair(self) -> Pair:
        """What is asked, whatever the folder."""
        return self.a[1], self.b[1], self.metric


@dataclass(slots=True)
class PairResult:
    """What came of a question.

    Attributes:
        evidence: The difference, and what its error is made of.
        test: One of the names above.
        years: Years behind the sign-flip test; 0 if it was not made.
        years_p: Its p, which assumes independent years.
        note: What could not be done, and why.
    """

    evidence: Evidence
    test: str
    years: int = 0
    years_p: float | None = None
    note: str = ""

    @property
    def seeds(self) -> int:
        """Paired seeds behind it."""
        return int(self.evidence.seeds)

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        plain = {name: None if np.isnan(value) else value for name, value in self.evidence._asdict().items()}
        return plain | {"test": self.test, "years": self.years, "years_p": self.years_p, "note": self.note}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> PairResult:
        """From what `to_json` returns.

        Raises:
            KeyError: Something is missing.
            TypeError: Something is of another type.
            ValueError: The same.
        """
        parts = {name: np.nan if entry[name] is None else float(entry[name]) for name in Evidence._fields}
        p = entry["years_p"]
        if entry["test"] not in EXPLAINED:
            raise ValueError(entry["test"])
        years_p = None if p is None else float(p)
        return cls(Evidence(**parts), entry["test"], int(entry["years"]), years_p, str(entry["note"]))
