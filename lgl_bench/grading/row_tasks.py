"""A task of a row: which fit answers it, what stands for the row there, and its novelty. The only walk over rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lgl_bench.core.types import FloatArray
from lgl_bench.grading.answers import Answered, Reader
from lgl_bench.grading.choices import Choices
from lgl_bench.grading.choose import Chosen
from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.methods import MethodRow
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.records import FitRecord


@dataclass(frozen=True, slots=True)
class RowTask:
    """What a row has to show for one task with one seed.

    Attributes:
        base: What was scored.
        expression: What stands for the row, as an expression: decisions are named by it.
        chosen: The choice behind it; None for a row without one.
        record: Of the fit; None if there is none.
        failed: Reasons of what could not be answered, by name.
        answered: The answers beside the truth, if there is a novelty among them.
        novelty: Of the row; None exactly if there are no answers.
    """

    row: MethodRow
    unit: Unit
    base: str
    expression: str
    chosen: Chosen | None
    record: FitRecord | None
    failed: dict[str, str]
    answered: Answered | None
    novelty: FloatArray | None


def row_tasks(plan: Plan, reader: Reader, choices: Choices | None) -> Iterator[RowTask]:
    """Every task of every row, rows without a choice first: those of one fit follow each other.

    Args:
        plan: Whose rows.
        reader: Of the answers.
        choices: What stands behind rows with a choice; without it they are left out.
    """
    by_chain: dict[ChainSpec, list[MethodRow]] = {}
    for row in plan.rows:
        if not row.chosen:
            for chain in plan.chains_of(row, row.candidates[0]):
                by_chain.setdefault(chain, []).append(row)
    for chain, rows in by_chain.items():
        for unit in plan.units[chain]:
            for row in rows:
                yield _task(reader, row, unit)
    for row in plan.rows:
        if row.chosen and choices is not None:
            for seed in range(plan.seeds):
                yield from tasks_of(plan, reader, choices, row, seed)


def tasks_of(plan: Plan, reader: Reader, choices: Choices, row: MethodRow, seed: int) -> Iterator[RowTask]:
    """Every task of a row with one seed."""
    units = {candidate.base: plan.units[plan.chains_of(row, candidate)[seed]] for candidate in row.candidates}
    made = choices.of(row) if row.chosen else [None] * len(units[row.candidates[0].base])
    for position, chosen in enumerate(made):
        base = chosen.candidate if chosen else row.candidates[0].base
        yield _task(reader, row, units[base][position], chosen)


def _task(reader: Reader, row: MethodRow, unit: Unit, chosen: Chosen | None = None) -> RowTask:
    base, alpha, expression = row.candidates[0].base, row.alpha, row.concrete
    if chosen is not None:
        base, alpha, expression = chosen.candidate, chosen.alpha, chosen.expression
    record, answered = reader.record(unit), reader.answered(unit)
    novelty = None if answered is None else answered.columns.mixed(base, None if alpha is None else float(alpha))
    if novelty is None:
        answered = None
    return RowTask(row, unit, base, expression, chosen, record, reader.failures(record), answered, novelty)
