"""Per emerging class: how long until it is detected, with how many false alarms, and until it is classified."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lgl_bench.grading.answers import Reader
from lgl_bench.grading.choices import Choices
from lgl_bench.grading.row_keys import RowKeys
from lgl_bench.grading.row_tasks import RowTask, tasks_of
from lgl_bench.metrics.emerging import YearAnswers, classification_lag, detection_delay, emerging_classes
from lgl_bench.plans.plan import Plan


def class_rows(plan: Plan, reader: Reader, choices: Choices) -> pd.DataFrame:
    """One row for each method, threshold, seed and emerging class; empty for protocols without years."""
    found: list[dict[str, Any]] = []
    keys = RowKeys(plan)
    rows = plan.rows if plan.suite.protocol == "temporal" else []
    # Rows that read the same fits follow each other, so that each fit's answers are read from the disk once.
    together = sorted(rows, key=lambda row: (row.stream, row.shown_backbone, row.head))
    for seed in range(plan.seeds):
        for row in together:
            tasks = list(tasks_of(plan, reader, choices, row, seed))
            for threshold in ("", *plan.thresholds):
                years = [year for task in tasks if (year := _year(task, threshold)) is not None]
                about = {**keys.of(row, threshold).model_dump(), "seed": seed}
                found += [{**about, **one} for one in _per_class(years)]
    return pd.DataFrame(found)


def _year(task: RowTask, threshold: str) -> YearAnswers | None:
    answered = task.answered
    if answered is None:
        return None
    rejected = answered.columns.rejected(task.expression, threshold) if threshold else None
    if threshold and rejected is None:
        return None
    predicted = answered.columns.predicted
    return YearAnswers(answered.time, answered.truth, answered.known, predicted, rejected, task.novelty)


def _per_class(years: list[YearAnswers]) -> list[dict[str, Any]]:
    if not years:
        return []
    found, lags = detection_delay(years), classification_lag(years)
    return [
        {
            "class": label,
            "born": born,
            "detection_delay": found[label].delay.value,
            "detection_delay_reason": found[label].delay.reason,
            "false_alarm_rate": found[label].false_alarm_rate.value,
            "false_alarm_rate_reason": found[label].false_alarm_rate.reason,
            "classification_lag": lags[label].value,
            "classification_lag_reason": lags[label].reason,
        }
        for label, born in emerging_classes(years).items()
    ]
