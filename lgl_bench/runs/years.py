"""From stored answers to grades: one row a unit and method, with every metric or the reason why there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Value
from lgl_bench.detectors.good import mix
from lgl_bench.metrics.classification import accuracy
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1
from lgl_bench.metrics.ranking import aupr, auroc, fpr95, oscr
from lgl_bench.runs.plan import Plan, Row
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.units import ChainSpec, Unit
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.stream import Stream


def year_rows(plan: Plan, store: RunStore, streams: dict[str, Stream]) -> pd.DataFrame:
    """Grades of every unit that has answers, for every row of the plan."""
    found: list[dict[str, Any]] = []
    rows: dict[tuple[str, str, str], list[Row]] = {}
    for row in plan.rows:
        rows.setdefault((row.stream, row.backbone, row.head), []).append(row)
    for chain, units in plan.units.items():
        stream = streams[chain.stream]
        place = positions(stream.ids)
        for unit in units:
            for row in rows.get((chain.stream, chain.backbone, chain.head), []):
                if _belongs(row, chain):
                    found += _unit_rows(plan, store, stream, place, chain, unit, row)
    return pd.DataFrame(found)


def _belongs(row: Row, chain: ChainSpec) -> bool:
    return all(chain.parameters.get(name) == value for name, value in row.parameters)


def _unit_rows(
    plan: Plan, store: RunStore, stream: Stream, place: Any, chain: ChainSpec, unit: Unit, row: Row
) -> list[dict[str, Any]]:
    about = {
        "key": unit.key,
        "stream": chain.stream,
        "backbone": chain.backbone,
        "parameters": ",".join(f"{name}={value:g}" for name, value in row.parameters),
        "head": chain.head,
        "detector": row.detector,
        "threshold": "",
        "seed": chain.seed,
        "time": unit.time,
        "fold": unit.fold,
        "role": unit.role,
    }
    noted = store.fit(unit.key)
    if noted is None:
        return []
    about |= {"fit_seconds": noted.get("seconds"), "peak_memory_mb": noted.get("peak_memory_mb")}
    failed = noted.get("failed", {}).get(row.base, "")
    columns = store.answer_columns(unit.key)
    if noted["status"] != "ok" or failed or f"novelty:{row.base}" not in columns:
        reason = failed or f"{noted['status']}: {noted.get('reason', '')}"
        return [{**about, "status": noted["status"] if noted["status"] != "ok" else "failed", "reason": reason}]
    answers = store.answers(unit.key)
    known = np.array(noted["known"], dtype=np.int64)
    truth = stream.labels[place(answers["vertex"].to_numpy())]
    novelty = answers[f"novelty:{row.base}"].to_numpy()
    if row.alpha is not None:
        novelty = mix(novelty, answers[f"neighbour:{row.base}"].to_numpy(), row.alpha)
    new = ~np.isin(truth, known)
    about |= {"status": "ok", "reason": "", "n_new": int(new.sum()), "n_scored": len(new)}
    values = _ranking(truth, answers["class_pred"].to_numpy(), known, new, novelty)
    graded = [{**about, **_columns(values)}]
    for threshold in plan.thresholds:
        column = f"rejected:{row.detector}|{threshold}"
        if column in columns:
            decided = _decisions(new, answers[column].to_numpy())
            graded.append({**about, "threshold": threshold, **_columns({**values, **decided})})
    return graded


def _ranking(
    truth: IntArray, predicted: IntArray, known: IntArray, new: BoolArray, novelty: FloatArray
) -> dict[str, Value]:
    return {
        "accuracy": accuracy(truth, predicted, known),
        "auroc": auroc(new, novelty),
        "aupr": aupr(new, novelty),
        "fpr95": fpr95(new, novelty),
        "oscr": oscr(new, novelty, truth == predicted),
    }


def _decisions(new: BoolArray, rejected: BoolArray) -> dict[str, Value]:
    return {"micro_f1": micro_f1(new, rejected), "macro_f1": macro_f1(new, rejected), "mcc": mcc(new, rejected)}


def _columns(values: dict[str, Value]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in values.items():
        out[name] = value.value
        out[f"{name}_reason"] = value.reason
    return out
