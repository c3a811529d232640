"""What fails in a run: which part of a unit made its worker die, and what is not asked again because of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lgl_bench.plans.fits import Unit
from lgl_bench.runs.answer_digests import named_digest
from lgl_bench.runs.fit_cache import FitCache
from lgl_bench.runs.missing import Missing, UnitWork
from lgl_bench.runs.records import FitRecord


class Failures:
    """Keeps what failed, and disables what takes workers down.

    Args:
        fits: Of the run.
        missing: Called with what has failed.
        reasons: Where reasons are recorded, by the key of a fit or `KEY:NAME` of an answer.
        plugins: Digest of the plugin files of the run: a fit that failed is tried again with others.
    """

    def __init__(self, fits: FitCache, missing: Missing, reasons: dict[str, str], plugins: str = "") -> None:
        self.reasons = reasons
        self._fits, self._missing, self._plugins = fits, missing, plugins
        self._disabled: dict[str, str] = {}

    def note(self, unit: Unit, failed: Mapping[str, str]) -> None:
        """Records the reasons of answers of a unit."""
        self.reasons |= {f"{unit.key}:{name}": reason for name, reason in failed.items()}

    def split_disabled(self, work: UnitWork) -> tuple[UnitWork, dict[str, str]]:
        """What may still be asked of a unit, and the reason of every answer that is disabled."""
        asked = [*work.detectors, *(name for detector in work.decide for name in work.decisions(detector))]
        disabled = {name: self._disabled[name] for name in asked if name in self._disabled}
        detectors = tuple(name for name in work.detectors if name not in self._disabled)
        decide = tuple(
            detector
            for detector in work.decide
            if not any(name in self._disabled for name in (detector, *work.decisions(detector)))
        )
        return replace(work, detectors=detectors, decide=decide), disabled

    def isolate(self, work: UnitWork, reason: str) -> list[UnitWork]:
        """Finds out what made a worker die: the fit is tried alone first, then every detector alone.

        Args:
            work: What the worker did; if it was one thing only, that is disabled.
            reason: Why there is no result.

        Returns:
            What to try next.
        """
        names = [*work.detectors, *work.decide]
        if len(names) > 1 or (names and work.fit):
            alone = [replace(work, detectors=(), decide=())] if work.fit else []
            alone += [replace(work, fit=False, detectors=(name,), decide=()) for name in work.detectors]
            return alone + [replace(work, fit=False, detectors=(), decide=(name,)) for name in work.decide]
        unit, record = work.unit, self._fits.record(work.unit.key)
        if names and record is not None:
            self._disable(work, record, reason)
        elif record is None or record.status != "ok":
            self._fits.write(unit.key, self._failed_fit(unit, reason))
        self.note(unit, {names[0] if names else "fit": reason})
        return []

    def _disable(self, work: UnitWork, record: FitRecord, reason: str) -> None:
        names = list(work.detectors) or work.decisions(work.decide[0])
        sources = {name: named_digest(name) for name in names}
        self._fits.write(work.unit.key, record.graded((), dict.fromkeys(names, reason), sources))
        self._missing.mark_answered(work.unit, names)
        # Once is enough: a plugin that hangs would cost the time limit again in every unit.
        self._disabled |= dict.fromkeys(names, f"{reason} (in an earlier unit of this run)")

    def _failed_fit(self, unit: Unit, reason: str) -> FitRecord:
        before = self._fits.predecessor(unit)
        return FitRecord(
            status="failed",
            reason=reason,
            key=unit.key,
            parent=unit.parent,
            continued_from=before.key if before else "",
            time=unit.time,
            role=unit.role,
            fold=unit.fold,
            plugins=self._plugins,
        )
