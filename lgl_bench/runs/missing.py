"""What a store lacks of a plan: fits, answers and decisions that are not there, or were made by other code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lgl_bench.runs.fit_cache import FitCache
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.units import ChainSpec, Unit, named_digest


@dataclass(slots=True)
class Wanted:
    """What is still missing of a unit."""

    unit: Unit
    fit: bool
    detectors: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()
    given_up: dict[str, str] = field(default_factory=dict)

    @property
    def anything(self) -> bool:
        """Whether there is work."""
        return self.fit or bool(self.detectors) or bool(self.decide)


class Missing:
    """Looks up what is missing.

    Args:
        plan: What is asked for.
        fits: What is there.
        again: Whether only what this run has answered counts.
    """

    def __init__(self, plan: Plan, fits: FitCache, *, again: bool = False) -> None:
        self.plan, self.fits, self.again = plan, fits, again
        self._answered: set[tuple[str, str]] = set()

    def note(self, unit: Unit, names: Iterable[str]) -> None:
        """Takes note of what this run has answered or failed to answer."""
        self._answered |= {(unit.key, name) for name in names}

    def of_chain(
        self, chain: ChainSpec, units: Sequence[Unit], roles: set[str], decide: tuple[str, ...]
    ) -> list[Wanted]:
        """What is missing of each unit of a chain that lacks anything, what later ones need of it included.

        Args:
            chain: Which.
            units: Of the chain, in order.
            roles: Only units with these.
            decide: Expressions to decide for with the plan's thresholds.
        """
        found = []
        for unit in units:
            scored = self.plan.scored[chain]
            if unit.role == "validation":
                scored = [*scored, *(name for name in self.plan.tried[chain] if name not in scored)]
            found.append(self._of_unit(unit, scored, decide) if unit.role in roles else Wanted(unit, fit=False))
        for child, item in zip(reversed(units), reversed(found), strict=True):
            if not item.anything:
                continue
            if self.fits.status(child.key) in ("ok", None) and self.fits.weights(child.key) is None:
                item.fit = True
            before = self.fits.predecessor(child)
            if before is not None and self.fits.weights(before.key) is None:
                found[before.index].fit = True
        return [item for item in found if item.anything]

    def _of_unit(self, unit: Unit, scored: Sequence[str], decide: tuple[str, ...]) -> Wanted:
        record = self.fits.record(unit.key)
        if record is not None and record.status != "ok":
            return Wanted(unit, fit=False)
        answered = self.fits.sources(unit.key)
        failed = record.failed_sources if record else {}

        def lacks(name: str) -> bool:
            """Whether there is neither an answer nor a failure of the code of today."""
            if self.again:
                return (unit.key, name) not in self._answered
            return named_digest(name) not in (answered.get(name), failed.get(name))

        detectors = tuple(name for name in scored if lacks(name))
        thresholds = self.plan.thresholds
        # What could not be scored cannot be decided on either.
        scores = [name for name in decide if failed.get(name) != named_digest(name) or self.again]
        undecided = tuple(name for name in scores if any(lacks(f"{name}|{threshold}") for threshold in thresholds))
        return Wanted(unit, record is None, detectors, thresholds, undecided)
