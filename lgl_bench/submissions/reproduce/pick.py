"""Part of a plan: the rows of some detectors, and the fits they need; of these one fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan


def wanted(row: MethodRow, detectors: Sequence[str]) -> bool:
    """Whether a row is one of some detectors, named as the leaderboard shows them or by their outermost name."""
    texts = {str(parse(text)) for text in detectors}
    return not texts or row.detector in texts or parse(row.detector).name in texts


def only(plan: Plan, detectors: Sequence[str]) -> Plan:
    """The plan with the rows of these detectors; all of them if none is named."""
    rows = [row for row in plan.rows if wanted(row, detectors)]
    if not rows:
        there = ", ".join(sorted({row.detector for row in plan.rows}))
        raise UsageError(f"--detector {', '.join(detectors)}: the bundle has no such row; it has {there}")
    bases: dict[object, set[str]] = {}
    for row in rows:
        for candidate in row.candidates:
            for chain in plan.chains_of(row, candidate):
                bases.setdefault(chain, set()).add(candidate.base)
    return replace(
        plan,
        rows=rows,
        units={chain: units for chain, units in plan.units.items() if chain in bases},
        scored={c: [n for n in names if n in bases[c]] for c, names in plan.scored.items() if c in bases},
        tried={c: [n for n in names if n in bases[c]] for c, names in plan.tried.items() if c in bases},
    )


def part_of(plan: Plan, detectors: Sequence[str], fold: str) -> Plan:
    """The plan with the rows of these detectors and, if a fold is named, with that one alone."""
    picked = only(plan, detectors)
    return one_fold(picked, fold) if fold else picked


def one_fold(plan: Plan, fold: str) -> Plan:
    """The first seed of a plan with one class left out, or with the years up to one; without thresholds.

    Thresholds go to the combination that is best over all seeds, which one seed does not show.
    """
    units = {
        chain: [unit for unit in made if _is_part(unit, fold)] for chain, made in plan.units.items() if chain.seed == 0
    }
    units = {chain: made for chain, made in units.items() if made}
    if not units:
        there = dict.fromkeys(unit.fold or str(unit.time) for unit in plan.all_units)
        raise UsageError(f"--fold {fold}: the bundle has no such fold; it has {', '.join(there)}")
    return replace(
        plan,
        rows=[row for row in plan.rows if row.stream in {chain.stream for chain in units}],
        seeds=1,
        units=units,
        scored={chain: names for chain, names in plan.scored.items() if chain in units},
        tried={chain: names for chain, names in plan.tried.items() if chain in units},
        thresholds=(),
    )


def _is_part(unit: Unit, fold: str) -> bool:
    if unit.fold:  # that of a validation task begins with the class of its outer fold
        return unit.fold.split("/")[0] == fold
    return fold.isdecimal() and unit.time <= int(fold)
