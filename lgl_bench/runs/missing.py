"""What a store lacks of a plan: fits, answers and decisions that are not there, or were made by other code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.answer_columns import AnswerName
from lgl_bench.runs.answer_digests import named_digest
from lgl_bench.runs.fit_cache import FitCache


@dataclass(frozen=True, slots=True)
class UnitWork:
    """What is still to be done for a unit.

    Attributes:
        fit: Whether it is to be fitted.
        detectors: Expressions to score.
        thresholds: Expressions to decide with.
        decide: Expressions to decide for with each of the thresholds.
    """

    unit: Unit
    fit: bool = False
    detectors: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    decide: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return self.fit or bool(self.detectors) or bool(self.decide)

    def decisions(self, detector: str) -> list[str]:
        """The answers that deciding for a detector stands for, by name."""
        return [str(AnswerName(detector, threshold)) for threshold in self.thresholds]


class Missing:
    """Looks up what is missing.

    Args:
        plan: What is asked for.
        fits: What is there.
        force: Whether only what this run has answered counts.
    """

    def __init__(self, plan: Plan, fits: FitCache, *, force: bool = False) -> None:
        self.plan, self.fits, self.force = plan, fits, force
        self._answered: set[tuple[str, str]] = set()

    def mark_answered(self, unit: Unit, names: Iterable[str]) -> None:
        """Records what this run has answered or failed to answer."""
        self._answered |= {(unit.key, name) for name in names}

    def of_chain(
        self, chain: ChainSpec, units: Sequence[Unit], roles: set[str], decide: tuple[str, ...]
    ) -> list[UnitWork]:
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
            found.append(self._of_unit(unit, scored, decide) if unit.role in roles else UnitWork(unit))
        for index in reversed(range(len(units))):
            child = units[index]
            if not found[index]:
                continue
            if self.fits.status(child.key) in ("ok", None) and self.fits.weights(child.key) is None:
                found[index] = replace(found[index], fit=True)
            before = self.fits.predecessor(child)
            if before is not None and self.fits.weights(before.key) is None:
                found[before.index] = replace(found[before.index], fit=True)
        return [work for work in found if work]

    def _of_unit(self, unit: Unit, scored: Sequence[str], decide: tuple[str, ...]) -> UnitWork:
        record = self.fits.record(unit.key)
        if record is not None and record.status != "ok":
            return UnitWork(unit)
        answered = self.fits.sources(unit.key)
        failed = record.failed_sources if record else {}

        def lacks(name: str) -> bool:
            """Whether there is neither an answer nor a failure of the code of today."""
            if self.force:
                return (unit.key, name) not in self._answered
            return named_digest(name) not in (answered.get(name), failed.get(name))

        detectors = tuple(name for name in scored if lacks(name))
        thresholds = self.plan.thresholds
        # What could not be scored cannot be decided on either.
        scores = [name for name in decide if failed.get(name) != named_digest(name) or self.force]
        undecided = tuple(
            name for name in scores if any(lacks(str(AnswerName(name, threshold))) for threshold in thresholds)
        )
        return UnitWork(unit, record is None, detectors, thresholds, undecided)
