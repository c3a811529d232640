"""What is stored of the answer to a task: its columns, beside them the floor, and the record in the place of a fit."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lgl_bench.core.errors import UnknownNameError
from lgl_bench.core.expressions import Expression, build, parse
from lgl_bench.core.references import EXTERNAL, FLOOR, ORACLE
from lgl_bench.core.types import IntArray, Scores, Task, TrainingParameters, Truth
from lgl_bench.evaluation.answer import Answer
from lgl_bench.evaluation.given_outputs import GivenOutputs
from lgl_bench.plans.fits import Unit
from lgl_bench.plans.paper_presets import Preset
from lgl_bench.plans.tasks import learned_up_to
from lgl_bench.runs.answer_columns import answer_table, answered_names
from lgl_bench.runs.answer_digests import named_digest
from lgl_bench.runs.answering import TaskAnswers, add_oracle, add_parts
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.scoring import Method, Part, Trained, calibration_of, score_part
from lgl_bench.runs.store import RunStore
from lgl_bench.thresholds import thresholds


@dataclass(frozen=True, slots=True)
class UnitAnswers:
    """All that is stored of one task.

    Attributes:
        known: Classes that were known.
        trained_up_to: The last year with a label that could be learned from.
        skipped: Why nobody can answer it; empty if it can be.
        reason: Why there is no answer; empty if there is one.
        table: The columns; None if there is no answer.
        failed: By detector, why there is no novelty.
    """

    known: IntArray
    trained_up_to: int | None
    skipped: str = ""
    reason: str = ""
    table: pd.DataFrame | None = None
    failed: dict[str, str] | None = None

    def write(self, store: RunStore, unit: Unit) -> None:
        """Writes it in the place of a fit."""
        record = FitRecord(
            status="skipped" if self.skipped else "ok" if self.table is not None else "failed",
            reason=self.skipped or self.reason,
            key=unit.key,
            parent=unit.parent,
            time=unit.time,
            role=unit.role,
            fold=unit.fold,
            known=self.known.tolist(),
            trained_up_to=self.trained_up_to,
            failed=self.failed or {},
        )
        store.write_fit(unit.key, record, answers=self.table, sources=_sources(self.table), replace=True)


def unit_answers(
    task: Task, truth: Truth, ids: IntArray, seed: int, answer: Answer | None, reason: str, decided: tuple[str, ...]
) -> UnitAnswers:
    """What is stored of a task.

    Args:
        task: The task.
        truth: For the oracle threshold, and for where the scored vertices stand in the stream.
        ids: Of all vertices of the stream.
        seed: Of the run.
        answer: What the method says; None if it says nothing.
        reason: Why not.
        decided: The thresholds of the plan: what the method decides itself, and what that is held against.
    """
    known, upto = task.known, learned_up_to(task)
    if task.skip_reason or answer is None:
        return UnitAnswers(known, upto, task.skip_reason, reason)
    empty = np.empty(0) if answer.confidence is None else answer.confidence
    found = TaskAnswers(task, None, predicted=answer.predicted, confidence=empty, failed=dict(answer.failed))
    found.novelty.update(answer.novelty)
    found.neighbour.update(answer.neighbour)
    if answer.rejected is not None:
        _decide(found, answer, truth, decided)
    now = Trained(GivenOutputs(task.known), task)
    calibration = calibration_of(now, None, seed)
    parts = [Part(Expression(name)) for name in FLOOR if name not in found.novelty]
    add_parts(found, parts, lambda part: score_part(part, now, calibration))
    table = answer_table(
        ids[truth.vertices],
        task.time,
        answer.predicted,
        answer.confidence,
        found.novelty,
        found.neighbour,
        found.rejected,
    )
    return UnitAnswers(known, upto, table=table, failed=found.failed)


def _sources(table: pd.DataFrame | None) -> dict[str, str]:
    """Digests of the code behind the columns that are ours."""
    found = {}
    for name in answered_names([] if table is None else map(str, table)):
        with contextlib.suppress(UnknownNameError):
            found[str(name)] = named_digest(str(name))
    return found


def _decide(found: TaskAnswers, answer: Answer, truth: Truth, decided: tuple[str, ...]) -> None:
    """Adds the method's own decisions, and those of the thresholds that every decision is held against."""
    assert answer.rejected is not None
    task = found.task
    for detector, novelty in answer.novelty.items():
        for text in decided:
            if text == EXTERNAL:
                found.rejected[detector, text] = answer.rejected
            elif parse(text).name != ORACLE:
                scores = Scores(novelty, np.empty((0, 0)), task.test, np.arange(len(novelty)))
                found.rejected[detector, text] = build(parse(text), thresholds).reject(scores)
    oracle = tuple(parse(text) for text in decided if parse(text).name == ORACLE)
    add_oracle(found, Method("", "", Preset("", {}, TrainingParameters()), (), oracle), truth)
