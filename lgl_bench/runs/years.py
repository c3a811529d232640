"""From stored answers to grades: one row a unit and method, with every metric or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pandas as pd

from lgl_bench.core.expressions import build, parse
from lgl_bench.core.types import BoolArray, FloatArray, Value
from lgl_bench.detectors.good import mix
from lgl_bench.metrics.calibration import ece
from lgl_bench.metrics.classification import accuracy, class_macro_f1
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1, open_f1, rejected_share
from lgl_bench.metrics.ranking import aupr, aupr_known, auroc, fpr95, fpr95_known, oscr, prevalence
from lgl_bench.runs.choices import Choices
from lgl_bench.runs.plan import Plan
from lgl_bench.runs.reading import Answered, Reader
from lgl_bench.runs.rows import Row
from lgl_bench.runs.units import ChainSpec, Unit
from lgl_bench.thresholds import thresholds


def year_rows(
    plan: Plan, reader: Reader, choices: Choices | None = None, roles: Iterable[str] = ("validation", "test")
) -> pd.DataFrame:
    """Grades of every unit that was fitted, for every row of the plan."""
    wanted = set(roles)
    found: list[dict[str, Any]] = []
    by_chain: dict[ChainSpec, list[Row]] = {}
    for row in plan.rows:
        if not row.chosen:
            for chain in plan.chains_of(row, row.head):
                by_chain.setdefault(chain, []).append(row)
    for chain, rows in by_chain.items():
        for unit in plan.units[chain]:
            if unit.role in wanted:
                found += _unit_rows(plan, reader, unit, rows)
    for row in plan.rows:
        if row.chosen and choices is not None:
            found += _chosen_rows(plan, reader, choices, row, wanted)
    cuts = {(row["stream"], row["protocol"], row["split"]) for row in found}
    shown = {cut: plan.shown_protocol(*cut) for cut in cuts}
    return pd.DataFrame([row | {"protocol": shown[row["stream"], row["protocol"], row["split"]]} for row in found])


def _unit_rows(plan: Plan, reader: Reader, unit: Unit, rows: list[Row]) -> list[dict[str, Any]]:
    noted = reader.store.fit(unit.key)
    if noted is None:
        return []
    answered = reader.answered(unit)
    shared = {} if answered is None else _classification(answered)
    found = []
    for row in rows:
        base = row.candidates[0].base
        novelty = None if answered is None else _novelty(answered, base, row.alpha)
        if answered is None or novelty is None:
            found.append(_failed(unit, row, noted, base))
        else:
            found += _graded(plan, unit, row, noted, answered, novelty, row.concrete, shared)
    return found


def _chosen_rows(plan: Plan, reader: Reader, choices: Choices, row: Row, wanted: set[str]) -> list[dict[str, Any]]:
    """A row whose detector is chosen, for every task there is a choice for."""
    found: list[dict[str, Any]] = []
    for seed in range(plan.seeds):
        for position, chosen in enumerate(choices.of(row)):
            head = next(candidate.head for candidate in row.candidates if candidate.base == chosen.candidate)
            unit = plan.units[plan.chains_of(row, head)[seed]][position]
            noted = reader.store.fit(unit.key)
            if noted is None or unit.role not in wanted:
                continue
            answered = reader.answered(unit)
            novelty = None if answered is None else _novelty(answered, chosen.candidate, chosen.alpha)
            if answered is None or novelty is None:
                found.append(_failed(unit, row, noted, chosen.candidate))
                continue
            shared = _classification(answered)
            chosen_by = "preset" if chosen.by_preset else plan.suite.select
            graded = _graded(plan, unit, row, noted, answered, novelty, chosen.expression, shared)
            found += [{**one, "chosen": chosen.expression, "chosen_by": chosen_by} for one in graded]
    return found


def _novelty(answered: Answered, base: str, alpha: float | str | None) -> FloatArray | None:
    own, neighbours = answered.novelty(base), answered.neighbour(base)
    if own is None or neighbours is None:
        return None
    return own if alpha is None else mix(own, neighbours, float(alpha))


def _about(unit: Unit, row: Row, noted: dict[str, Any]) -> dict[str, Any]:
    chain, protocol = unit.chain, row.protocol
    built = protocol.build()
    return {
        "key": unit.key,
        "stream": chain.stream,
        "protocol": protocol.name,
        "split": built.split,
        "history": "all" if protocol.history is None else str(protocol.history),
        "restart": protocol.restart or "",
        "label_delay": protocol.label_delay or 0,
        "track": built.track,
        "backbone": row.shown_backbone,
        "head": row.head,
        "detector": row.detector,
        "threshold": "",
        "preset": row.preset,
        "seed": chain.seed,
        "time": unit.time,
        "fold": unit.fold,
        "role": unit.role,
        "tuning_trials": row.trials,
        "chosen": "" if row.chosen or row.concrete == row.detector else row.concrete,
        "chosen_by": "",
        "device": chain.device,
        "fit_seconds": noted.get("seconds"),
        "peak_memory_mb": noted.get("peak_memory_mb"),
    }


def _failed(unit: Unit, row: Row, noted: dict[str, Any], base: str) -> dict[str, Any]:
    status = noted["status"] if noted["status"] != "ok" else "failed"
    reason = noted.get("failed", {}).get(base, "") or f"{noted['status']}: {noted.get('reason', '')}"
    return {**_about(unit, row, noted), "status": status, "reason": reason}


def _graded(
    plan: Plan,
    unit: Unit,
    row: Row,
    noted: dict[str, Any],
    answered: Answered,
    novelty: FloatArray,
    expression: str,
    shared: dict[str, Value],
) -> list[dict[str, Any]]:
    about = _about(unit, row, noted)
    about |= {"status": "ok", "reason": "", "n_new": int(answered.new.sum()), "n_scored": len(answered.new)}
    values = {**shared, **_ranking(answered, novelty)}
    graded = [{**about, **_columns(values)}]
    for threshold in plan.thresholds:
        rejected = answered.columns.get(f"rejected:{expression}|{threshold}")
        reason = noted.get("failed", {}).get(f"{expression}|{threshold}")
        on = {"threshold": threshold, "track": _track(about["track"], threshold)}
        if rejected is not None:
            counts = {
                "new_rejected": int((answered.new & rejected).sum()),
                "known_rejected": int((~answered.new & rejected).sum()),
            }
            graded.append({**about, **on, **counts, **_columns({**values, **_decisions(answered, rejected)})})
        elif reason is not None:
            graded.append({**about, **on, "status": "failed", "reason": reason})
    return graded


@cache
def _track(protocol: str, threshold: str) -> str:
    """The track of a row with a threshold: one that learns from the test graph, or sees the truth, has its own."""
    decider = build(parse(threshold), thresholds)
    if not decider.ranked:
        return "upper bound"
    return "transductive" if "transductive" in (protocol, decider.track) else protocol


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
