"""Per emerging class: how long until it is detected, with how many false alarms, and until it is classified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from lgl_bench.core.types import FloatArray
from lgl_bench.detectors.good import mix
from lgl_bench.metrics.emerging import YearAnswers, classification_lag, detection_delay, emerging_classes
from lgl_bench.runs.choices import Choices
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.reading import Answered, Reader
from lgl_bench.runs.rows import Row
from lgl_bench.runs.years import Told


def class_rows(plan: Plan, reader: Reader, choices: Choices) -> pd.DataFrame:
    """One row for each method, threshold, seed and emerging class; empty for protocols without years."""
    found: list[dict[str, Any]] = []
    told = Told(plan)
    rows = plan.rows if plan.suite.protocol == "temporal" else []
    # Rows that read the same fits follow each other, so that each fit's answers are read from the disk once.
    together = sorted(rows, key=lambda row: (row.stream, row.shown_backbone, row.head))
    for seed in range(plan.seeds):
        for row in together:
            answers = list(_answers(plan, reader, choices, row, seed))
            for threshold in ("", *plan.thresholds):
                years = [year for part in answers if (year := _year(*part, threshold)) is not None]
                about = {**told.key(row, threshold), "seed": seed}
                found += [{**about, **one} for one in _per_class(years)]
    return pd.DataFrame(found)


def _answers(
    plan: Plan, reader: Reader, choices: Choices, row: Row, seed: int
) -> Iterator[tuple[Answered, FloatArray, str]]:
    """Every answered task of a row: the answers, the novelty, and the expression that was decided on."""
    units = {candidate.base: plan.units[plan.chains_of(row, candidate.head)[seed]] for candidate in row.candidates}
    for position in range(len(units[row.candidates[0].base])):
        base, alpha, expression = row.candidates[0].base, row.alpha, row.concrete
        if row.chosen:
            chosen = choices.of(row)[position]
            base, alpha, expression = chosen.candidate, chosen.alpha, chosen.expression
        answered = reader.answered(units[base][position])
        own = answered.novelty(base) if answered is not None else None
        if answered is None or own is None:
            continue
        yield (
            answered,
            own if alpha is None else mix(own, answered.columns[f"neighbour:{base}"], float(alpha)),
            expression,
        )


def _year(answered: Answered, novelty: FloatArray, expression: str, threshold: str) -> YearAnswers | None:
    rejected = answered.columns.get(f"rejected:{expression}|{threshold}") if threshold else None
    if threshold and rejected is None:
        return None
    return YearAnswers(answered.time, answered.truth, answered.known, answered.predicted, rejected, novelty)


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
