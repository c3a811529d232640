"""From stored answers to grades: one row per unit and method, with every metric or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, Value
from lgl_bench.detectors.good import mix
from lgl_bench.metrics.calibration import ece
from lgl_bench.metrics.classification import accuracy, class_macro_f1
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1, open_f1, rejected_share
from lgl_bench.metrics.ranking import aupr, aupr_known, auroc, fpr95, fpr95_known, oscr, prevalence
from lgl_bench.runs.choices import Choices
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.plugin_facts import protocol_facts, threshold_facts
from lgl_bench.runs.reading import Answered, Reader
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.rows import Row
from lgl_bench.runs.units import ChainSpec, Unit
from lgl_bench.runs.year_table import KEY_NUMBERS, KEY_TEXTS, TEXTS, WHOLE, year_table

NOT_RUN = "not run"
"""Why a task of a row has no grades if nobody has tried it."""


def year_rows(
    plan: Plan, reader: Reader, choices: Choices | None = None, roles: Iterable[str] = ("validation", "test")
) -> pd.DataFrame:
    """Grades of every row of the plan that any of its units was fitted and scored for.

    A task that was not is there too, as failed: a row that lacks a year must not be taken for a whole one.
    """
    found = list(_all_rows(plan, reader, choices, set(roles)))
    begun = {_cells(row) for row in found if row["reason"] != NOT_RUN}
    found = [row for row in found if _cells(row) in begun]
    return year_table([*found, *_undecided(found)])


def _all_rows(plan: Plan, reader: Reader, choices: Choices | None, wanted: set[str]) -> Iterator[dict[str, Any]]:
    told = Told(plan)
    by_chain: dict[ChainSpec, list[Row]] = {}
    for row in plan.rows:
        if not row.chosen:
            for chain in plan.chains_of(row, row.head):
                by_chain.setdefault(chain, []).append(row)
    for chain, rows in by_chain.items():
        for unit in plan.units[chain]:
            if unit.role in wanted:
                yield from _unit_rows(told, reader, unit, rows)
    for row in plan.rows:
        if row.chosen and choices is not None:
            yield from _chosen_rows(told, reader, choices, row, wanted)


class Told:
    """What a plan says of its rows, asked once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.protocol = cache(lambda setting: protocol_facts(setting, plan.plugins))
        self.threshold = cache(lambda text: threshold_facts(text, plan.plugins))

    def key(self, row: Row, threshold: str = "") -> dict[str, Any]:
        """The key of a row of the leaderboard."""
        plan, protocol, facts = self.plan, row.protocol, self.protocol(row.protocol)
        return {
            "suite": plan.suite.name,
            "suite_version": plan.suite.version,
            "stream": row.stream,
            "stream_checksum": plan.checksums[row.stream],
            "protocol": plan.shown_protocol(row.stream, protocol.name, facts.split),
            "split": facts.split,
            "history": "all" if protocol.history is None else str(protocol.history),
            "restart": protocol.restart or "",
            "label_delay": protocol.label_delay or 0,
            "track": self.track(facts.track, threshold) if threshold else facts.track,
            "backbone": row.shown_backbone,
            "head": row.head,
            "detector": row.detector,
            "threshold": threshold,
            "preset": row.preset,
            "budget": plan.budget.name,
            "budget_version": plan.budget.version,
            "select": plan.suite.select,
        }

    def track(self, protocol: str, threshold: str) -> str:
        """The track of a row with a threshold: one that learns from the test graph, or sees the truth, has its own."""
        facts = self.threshold(threshold)
        if not facts.ranked:
            return "upper bound"
        return "transductive" if "transductive" in (protocol, facts.track) else protocol


def _unit_rows(told: Told, reader: Reader, unit: Unit, rows: list[Row]) -> list[dict[str, Any]]:
    record = reader.record(unit)
    failed = reader.failures(record)
    answered = reader.answered(unit)
    shared = {} if answered is None else _classification(answered)
    found = []
    for row in rows:
        base = row.candidates[0].base
        novelty = None if answered is None else _novelty(answered, base, row.alpha)
        if answered is None or novelty is None:
            found += _failed(told, unit, row, record, failed, base)
        else:
            about = _about(told, unit, row, record)
            found += _graded(told, row, about, failed, answered, novelty, row.concrete, shared)
    return found


def _chosen_rows(told: Told, reader: Reader, choices: Choices, row: Row, wanted: set[str]) -> list[dict[str, Any]]:
    """A row whose detector is chosen, for every task there is a choice for."""
    plan = told.plan
    found: list[dict[str, Any]] = []
    for seed in range(plan.seeds):
        for position, chosen in enumerate(choices.of(row)):
            head = next(candidate.head for candidate in row.candidates if candidate.base == chosen.candidate)
            unit = plan.units[plan.chains_of(row, head)[seed]][position]
            if unit.role not in wanted:
                continue
            record = reader.record(unit)
            failed = reader.failures(record)
            answered = reader.answered(unit)
            novelty = None if answered is None else _novelty(answered, chosen.candidate, chosen.alpha)
            if answered is None or novelty is None:
                found += _failed(told, unit, row, record, failed, chosen.candidate)
                continue
            shared = _classification(answered)
            chosen_by = "preset" if chosen.by_preset else plan.suite.select
            about = _about(told, unit, row, record) | {"chosen": chosen.expression, "chosen_by": chosen_by}
            found += _graded(told, row, about, failed, answered, novelty, chosen.expression, shared)
    return found


def _novelty(answered: Answered, base: str, alpha: float | str | None) -> FloatArray | None:
    own, neighbours = answered.novelty(base), answered.neighbour(base)
    if own is None or neighbours is None:
        return None
    return own if alpha is None else mix(own, neighbours, float(alpha))


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*KEY_TEXTS, *KEY_NUMBERS))


def _undecided(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of tasks that were scored, and decided on with other tasks' threshold but not themselves."""
    scored: dict[Any, list[dict[str, Any]]] = {}
    decided: dict[Any, dict[str, Any]] = {}
    there = set()
    for row in rows:
        base = _cells({**row, "threshold": "", "track": ""})
        if row["threshold"]:
            decided.setdefault(_cells(row), {"base": base, "track": row["track"], "threshold": row["threshold"]})
            there.add((_cells(row), row["seed"], row["time"], row["fold"]))
        elif row["status"] == "ok":
            scored.setdefault(base, []).append(row)
    found = []
    for cells, about in decided.items():
        for row in scored.get(about["base"], []):
            if (cells, row["seed"], row["time"], row["fold"]) not in there:
                own = {name: value for name, value in row.items() if name in (*TEXTS, *WHOLE)}
                own |= {"threshold": about["threshold"], "track": about["track"]}
                found.append({**own, "status": "failed", "reason": NOT_RUN})
    return found


def _about(told: Told, unit: Unit, row: Row, record: FitRecord | None) -> dict[str, Any]:
    return {
        "key": unit.key,
        **told.key(row),
        "seed": unit.chain.seed,
        "time": unit.time,
        "fold": unit.fold,
        "role": unit.role,
        "tuning_trials": row.trials,
        "chosen": "" if row.chosen or row.concrete == row.detector else row.concrete,
        "device": unit.chain.device,
        "fit_seconds": record.seconds if record else None,
        "peak_memory_mb": record.peak_memory_mb if record else None,
    }


def _failed(
    told: Told, unit: Unit, row: Row, record: FitRecord | None, failed: dict[str, str], base: str
) -> list[dict[str, Any]]:
    """The row of a task without an answer."""
    status, reason = "failed", failed.get(base) or NOT_RUN
    if record is not None and record.status != "ok":
        status, reason = record.status, f"{record.status}: {record.reason}"
    return [{**_about(told, unit, row, record), "status": status, "reason": reason}]


def _graded(
    told: Told,
    row: Row,
    about: dict[str, Any],
    failed: dict[str, str],
    answered: Answered,
    novelty: FloatArray,
    expression: str,
    shared: dict[str, Value],
) -> list[dict[str, Any]]:
    about |= {"status": "ok", "reason": "", "n_new": int(answered.new.sum()), "n_scored": len(answered.new)}
    values = {**shared, **_ranking(answered, novelty)}
    graded = [{**about, **_columns(values)}]
    for threshold in told.plan.thresholds:
        rejected = answered.columns.get(f"rejected:{expression}|{threshold}")
        reason = failed.get(f"{expression}|{threshold}")
        if rejected is None and reason is None:
            continue
        on = {**about, **told.key(row, threshold)}
        if rejected is not None:
            counts = {
                "new_rejected": int((answered.new & rejected).sum()),
                "known_rejected": int((~answered.new & rejected).sum()),
            }
            graded.append({**on, **counts, **_columns({**values, **_decisions(answered, rejected)})})
        else:
            graded.append({**on, "status": "failed", "reason": reason})
    return graded


def _classification(answered: Answered) -> dict[str, Value]:
    """What does not depend on the detector."""
    truth, predicted, known = answered.truth, answered.predicted, answered.known
    return {
        "accuracy": accuracy(truth, predicted, known),
        "class_macro_f1": class_macro_f1(truth, predicted, known),
        "ece": ece(truth, predicted, answered.columns["confidence"], known),
        "prevalence": prevalence(answered.new),
    }


def _ranking(answered: Answered, novelty: FloatArray) -> dict[str, Value]:
    new = answered.new
    return {
        "auroc": auroc(new, novelty),
        "aupr": aupr(new, novelty),
        "aupr_known": aupr_known(new, novelty),
        "fpr95": fpr95(new, novelty),
        "fpr95_known": fpr95_known(new, novelty),
        "oscr": oscr(new, novelty, answered.truth == answered.predicted),
    }


def _decisions(answered: Answered, rejected: BoolArray) -> dict[str, Value]:
    new = answered.new
    return {
        "micro_f1": micro_f1(new, rejected),
        "macro_f1": macro_f1(new, rejected),
        "mcc": mcc(new, rejected),
        "open_f1": open_f1(answered.truth, answered.predicted, answered.known, rejected),
        "rejected_share": rejected_share(rejected),
    }


def _columns(values: dict[str, Value]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in values.items():
        out[name] = value.value
        out[f"{name}_reason"] = value.reason
    return out
