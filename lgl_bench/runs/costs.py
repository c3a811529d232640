"""What a run has cost: the seconds of training beside those of scoring, from the records of its fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lgl_bench.runs.records import FitRecord


@dataclass(slots=True)
class Cost:
    """Seconds of some fits.

    Attributes:
        fits: How many.
        training: What they took to train.
        scoring: What it took to score them.
    """

    fits: int = 0
    training: float = 0.0
    scoring: float = 0.0

    @property
    def share(self) -> float | None:
        """Seconds of scoring per second of training; None if nothing was trained."""
        return self.scoring / self.training if self.training else None

    def add(self, training: float, scoring: float) -> None:
        """Takes a fit in."""
        self.fits, self.training, self.scoring = self.fits + 1, self.training + training, self.scoring + scoring

    def as_dict(self) -> dict[str, int | float | None]:
        """As JSON wants it."""
        share = None if self.share is None else round(self.share, 4)
        seconds = {"training_seconds": round(self.training, 3), "scoring_seconds": round(self.scoring, 3)}
        return {"fits": self.fits, **seconds, "share": share}


@dataclass(slots=True)
class Costs:
    """What a run has cost.

    Attributes:
        all: Of every fit.
        shared: Of the fits that several detectors were scored on: these share the training.
        detectors: By expression; `training` is that of the fits it was scored on, whoever else was.
    """

    all: Cost = field(default_factory=Cost)
    shared: Cost = field(default_factory=Cost)
    detectors: dict[str, Cost] = field(default_factory=dict)


def costs(records: Iterable[FitRecord]) -> Costs:
    """The costs of the fits that are ok; those scored before seconds were recorded are left out."""
    found = Costs()
    for record in records:
        if record.status != "ok" or record.seconds is None or not record.scoring_seconds:
            continue
        scoring = sum(record.scoring_seconds.values())
        found.all.add(record.seconds, scoring)
        if len(record.scoring_seconds) > 1:
            found.shared.add(record.seconds, scoring)
        for name, seconds in record.scoring_seconds.items():
            found.detectors.setdefault(name, Cost()).add(record.seconds, seconds)
    return found
