"""Storing what came of an order: the record of a fit, its weights, its answers, and what could not be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lgl_bench.core.errors import printable
from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_columns import AnswerColumns
from lgl_bench.runs.answer_digests import column_digests, named_digest
from lgl_bench.runs.failures import Failures
from lgl_bench.runs.fit_cache import FitCache
from lgl_bench.runs.missing import Missing, UnitWork
from lgl_bench.runs.orders import Done
from lgl_bench.runs.progress import BestSoFar
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import weights_digest


class Results:
    """Takes in what workers return.

    Args:
        fits: Of the run.
        missing: Called with what was answered.
        failures: Called with what was not.
        best: Keeps the best method so far; None if nobody asks for it.
        force: Whether a fit that is made again may come out differently.
    """

    def __init__(
        self, fits: FitCache, missing: Missing, failures: Failures, best: BestSoFar | None = None, *, force: bool
    ) -> None:
        self._fits, self._missing, self._failures = fits, missing, failures
        self._best, self._force = best, force

    def keep(self, work: UnitWork, done: Done, disabled: Mapping[str, str]) -> list[UnitWork]:
        """Stores a result.

        Args:
            work: What was asked for.
            done: What came of it.
            disabled: Reasons of answers that were not asked for because they are disabled.

        Returns:
            What is still to do for the unit.
        """
        unit = work.unit
        record, replaced = self._record(unit, done)
        if record is None:
            reason = f"the fit {unit.key}, made again because its weights are not there, came out differently"
            reasons = self._failures.reasons
            reasons[unit.key] = f"{reason}; its answers stay as they are, --force makes all of them again"
            return []
        failed = {name: printable(reason) for name, reason in {**done.failed, **disabled}.items()}
        answered = column_digests([] if done.answers is None else done.answers.columns)
        self._missing.mark_answered(unit, (*failed, *answered))
        record = record.graded(answered, failed, {name: named_digest(name) for name in failed})
        record = record.but(scoring_seconds={**record.scoring_seconds, **done.scoring_seconds})
        if done.answers is not None and self._best is not None:
            columns = {str(name): values.to_numpy() for name, values in done.answers.items()}
            self._best.add(unit, AnswerColumns(columns), record.known)
        if done.fit_record is not None or failed or done.answers is not None:
            memory, matrix = done.memory, done.matrix
            self._fits.write(
                unit.key, record, done.weights, done.answers, replace=replaced, memory=memory, matrix=matrix
            )
        self._failures.note(unit, failed)
        if record.status == "diverged":
            self._failures.reasons[unit.key] = f"diverged: {record.reason}"
        if work.decide and work.detectors:
            rest = tuple(name for name in work.detectors if name not in work.decide)
            return [replace(work, fit=False, detectors=rest, decide=())] if rest else []
        return []

    def _record(self, unit: Unit, done: Done) -> tuple[FitRecord | None, bool]:
        """What is to be recorded of a unit, and whether the answers of an older fit go.

        A fit that is made again, because its weights are gone, must come out as it was: other weights beside the
        answers of the old ones would make rows of two models. If it does not, there is nothing to record.
        """
        if done.fit_record is None:
            return self._fits.record(unit.key), False
        made = done.fit_record.but(reason=printable(done.fit_record.reason))
        old = self._fits.stored(unit.key)
        if old is None or old.status != "ok":
            return made, False
        digest = None if done.weights is None else weights_digest(done.weights)
        if digest == old.weights:
            kept = ("failed", "failed_sources", "scoring_seconds", "matrix_row", "memory")
            same = made.but(**{name: getattr(old, name) for name in kept}, weights=digest)
            return same, False
        return (made, True) if self._force else (None, False)
