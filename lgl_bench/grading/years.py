"""From stored answers to grades: one row per unit and method, with every metric or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from lgl_bench.core.types import Value
from lgl_bench.grading.answers import Answered, Reader
from lgl_bench.grading.chains import ChainGrades
from lgl_bench.grading.choices import Choices
from lgl_bench.grading.grades import Grader
from lgl_bench.grading.row_key import Key
from lgl_bench.grading.row_keys import RowKeys
from lgl_bench.grading.row_tasks import RowTask, row_tasks
from lgl_bench.grading.year_table import YearRow, year_table
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.answer_columns import AnswerName

NOT_RUN = "not run"
"""Why a task of a row has no grades if nobody has tried it."""


def year_rows(
    plan: Plan, reader: Reader, choices: Choices | None = None, roles: Iterable[str] = ("validation", "test")
) -> pd.DataFrame:
    """Grades of every row of the plan that any of its units was fitted and scored for.

    A task that was not is there too, as failed: a row that lacks a year must not be taken for a whole one.
    """
    wanted, grading = set(roles), _Grading(plan, reader)
    tasks = (task for task in row_tasks(plan, reader, choices) if task.unit.role in wanted)
    found = [row for task in tasks for row in grading.rows(task)]
    begun = {row.method for row in found if row.reason != NOT_RUN}
    found = [row for row in found if row.method in begun]
    return year_table([*found, *_undecided(found)])


class _Grading:
    """Makes year rows of tasks; what depends on no detector is graded once for tasks of one fit in a row."""

    def __init__(self, plan: Plan, reader: Reader) -> None:
        self.plan, self.keys, self.grader = plan, RowKeys(plan), Grader()
        self.chains = ChainGrades(plan, reader)
        self._shared: tuple[Unit | None, dict[str, Value]] = (None, {})

    def rows(self, task: RowTask) -> Iterator[YearRow]:
        """The row without a threshold, and one for each threshold that was tried."""
        about = self._about(task)
        answered, novelty = task.answered, task.novelty
        if answered is None or novelty is None:
            yield about
            return
        grades = self._labels(task.unit, answered) | self.grader.novelty(answered, novelty)
        about = replace(about, status="ok", reason="", n_new=int(answered.new.sum()), n_scored=len(answered.new))
        about = replace(about, chain=self.chains.of(task.unit))
        yield replace(about, grades=grades)
        for threshold in self.plan.thresholds:
            rejected = answered.columns.rejected(task.expression, threshold)
            reason = task.failed.get(str(AnswerName(task.expression, threshold)))
            if rejected is not None:
                yield replace(
                    about,
                    method=self.keys.of(task.row, threshold),
                    new_rejected=int((answered.new & rejected).sum()),
                    known_rejected=int((~answered.new & rejected).sum()),
                    grades=grades | self.grader.decisions(answered, novelty, rejected),
                )
            elif reason is not None:
                failed = replace(about, status="failed", reason=reason, chain={})
                yield replace(failed, method=self.keys.of(task.row, threshold))

    def _labels(self, unit: Unit, answered: Answered) -> dict[str, Value]:
        if self._shared[0] != unit:
            self._shared = unit, self.grader.labels(answered)
        return self._shared[1]

    def _about(self, task: RowTask) -> YearRow:
        """The row of a task without an answer."""
        row, unit, record, chosen = task.row, task.unit, task.record, task.chosen
        status, reason = "failed", task.failed.get(task.base) or NOT_RUN
        if record is not None and record.status != "ok":
            status, reason = record.status, f"{record.status}: {record.reason}"
        shown = "" if row.chosen or row.concrete == row.detector else row.concrete
        chosen_by = "preset" if chosen and chosen.by_preset else self.plan.suite.select
        return YearRow(
            key=unit.key,
            method=self.keys.of(row, ""),
            seed=unit.chain.seed,
            time=unit.time,
            fold=unit.fold,
            role=unit.role,
            status=status,
            reason=reason,
            tuning_trials=row.trials,
            chosen=chosen.expression if chosen and task.answered else shown,
            chosen_by=chosen_by if chosen and task.answered else "",
            device=unit.chain.device,
            kernels=unit.chain.fit_kernels,
            fit_seconds=record.seconds if record else None,
            peak_memory_mb=record.peak_memory_mb if record else None,
            memory_vertices=record.memory_vertices if record else None,
            memory_mb=record.memory_mb if record else None,
        )


def _undecided(rows: Sequence[YearRow]) -> list[YearRow]:
    """Rows of tasks that were scored, and decided on with other tasks' threshold but not themselves."""
    plain = {method: _without_threshold(method) for method in {row.method for row in rows}}
    scored: dict[Key, list[YearRow]] = {}
    decided: dict[Key, set[tuple[int, int, str]]] = {}
    for row in rows:
        if row.method.threshold:
            decided.setdefault(row.method, set()).add(row.task)
        elif row.status == "ok":
            scored.setdefault(plain[row.method], []).append(row)
    return [
        replace(
            row,
            method=method,
            status="failed",
            reason=NOT_RUN,
            n_new=None,
            n_scored=None,
            fit_seconds=None,
            peak_memory_mb=None,
            memory_vertices=None,
            memory_mb=None,
            grades={},
            chain={},
        )
        for method, tasks in decided.items()
        for row in scored.get(plain[method], [])
        if row.task not in tasks
    ]


def _without_threshold(method: Key) -> Key:
    """What methods share that differ in their threshold alone; one that sees more has a track of its own."""
    return method.model_copy(update={"threshold": "", "track": ""})
