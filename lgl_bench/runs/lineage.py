"""Which fit a unit goes on from.

A unit that is skipped trains nothing, which is known when planning, so it is nobody's parent: the parent of a unit is
the last one before it that is not skipped. Whether a fit goes well is known only once it has ended: a unit goes on from
the nearest ancestor whose fit is ok. That model is also what a temporal unit is calibrated with, under a cold restart
too. `answering.answer_tasks` keeps the same rule while it walks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lgl_bench.plans.fits import Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore


def predecessor(unit: Unit, units: Mapping[str, Unit], status: Callable[[str], str | None]) -> Unit | None:
    """The nearest ancestor of a unit whose fit is ok or still to be made; None if it starts anew.

    Args:
        unit: Which.
        units: Every unit of the plan, by key.
        status: Of the fit under a key; None if there is none yet.
    """
    while unit.parent:
        unit = units[unit.parent]
        if status(unit.key) in ("ok", None):
            return unit
    return None


def outdated(units: Sequence[Unit], records: Mapping[str, FitRecord | None]) -> list[str]:
    """Keys of the fits of a chain that would go on from another fit today, and of all that went on from them.

    A key does not say how its ancestors ended. If one that ran out of time or memory is to be made again, the units
    that went on without it have to be made again too.

    Args:
        units: Of the chain, in order.
        records: What fit.json holds, by key; None if there is none.
    """
    by_key = {unit.key: unit for unit in units}
    found: list[str] = []

    def status(key: str) -> str | None:
        record = records[key]
        return None if record is None or key in found else record.status

    for unit in units:
        before = predecessor(unit, by_key, status)
        expected = "" if before is None else before.key
        record = records[unit.key]
        if record is not None and (record.continued_from != expected or expected in found):
            found.append(unit.key)
    return found


def forget_outdated(plan: Plan, store: RunStore) -> None:
    """Removes what is `outdated`, so that it is made again."""
    for units in plan.units.values():
        store.forget(outdated(units, {unit.key: store.fit(unit.key) for unit in units}))
