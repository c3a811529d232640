"""Part of a plan: the rows of some detectors, and the fits they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import parse
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
