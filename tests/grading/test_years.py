"""Grades of one task, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.grading.answers import Answered
from lgl_bench.grading.years import year_rows
from lgl_bench.pipeline import plan_run
from lgl_bench.runs.answer_columns import (
    CONFIDENCE,
    PREDICTED,
    VERTEX,
    AnswerColumns,
    neighbour_column,
    novelty_column,
    rejected_column,
)
from lgl_bench.runs.options import Settings
from lgl_bench.runs.records import FitRecord

CUT = "quantile(q=0.1)"


class Given:
    """A reader of one answer for every task; None if the task was skipped."""

    def __init__(self, truth: list[int] | None) -> None:
        self.truth = truth

    def record(self, unit) -> FitRecord:
        status, reason = ("ok", "") if self.truth else ("skipped", "no labelled training vertex")
        return FitRecord(status=status, reason=reason, key=unit.key, time=unit.time, role=unit.role, known=[0, 1])

    def failures(self, record) -> dict[str, str]:
        return {}

    def answered(self, unit) -> Answered | None:
        if self.truth is None:
            return None
        truth, known, novelty = np.array(self.truth), np.array([0, 1]), np.array([0.1, 0.6, 0.2, 0.5, 0.9])
        columns = {
            VERTEX: np.arange(5),
            PREDICTED: np.array([0, 0, 1, 0, 1]),
            CONFIDENCE: np.full(5, 0.5),
            novelty_column("msp"): novelty,
            neighbour_column("msp"): novelty,
            rejected_column("msp", CUT): np.array([False, True, False, False, True]),
        }
        new = ~np.isin(truth, known)
        return Answered(unit.time, unit.role, unit.fold, truth, known, new, AnswerColumns(columns))


@pytest.fixture
def graded(data, tmp_path):
    """The year rows of one task, with and without the threshold."""

    def grade(truth: list[int] | None) -> list[dict]:
        plan, _ = plan_run(
            "smoke",
            Settings(tmp_path / "run", offline=True),
            seeds=1,
            budget="smoke",
            streams=["small"],
            backbones=["gcn"],
            detectors=["msp"],
            thresholds=["quantile"],
            thresholds_on="all",
            select="preset",
        )
        rows = year_rows(plan, Given(truth), roles=("test",)).to_dict("records")
        first = [row for row in rows if (row["detector"], row["key"]) == ("msp", rows[0]["key"])]
        return sorted(first, key=lambda row: row["threshold"])

    return grade


def test_grades_are_accuracy_over_known_classes_auroc_and_decisions(graded):
    scored, decided = graded([0, 1, 1, 5, 5])
    assert scored["threshold"] == "" and decided["threshold"] == CUT
    assert scored["accuracy"] == pytest.approx(2 / 3)
    assert scored["n_new"] == 2
    assert scored["auroc"] == pytest.approx(5 / 6)
    assert decided["micro_f1"] == pytest.approx(3 / 5)
    assert decided["macro_f1"] == pytest.approx((2 / 4 + 4 / 6) / 2)
    assert decided["mcc"] == pytest.approx((1 * 2 - 1 * 1) / (2 * 2 * 3 * 3) ** 0.5)


def test_a_year_without_new_classes_has_no_auroc_and_says_why(graded):
    scored, _ = graded([0, 1, 1, 0, 0])
    assert np.isnan(scored["auroc"]) and scored["auroc_reason"] == "no new vertex" and scored["n_new"] == 0


def test_a_skipped_task_has_no_grades_but_the_reason(graded):
    (row,) = graded(None)
    assert row["status"] == "skipped" and row["reason"] == "skipped: no labelled training vertex"
    assert np.isnan(row["accuracy"]) and np.isnan(row["auroc"])
