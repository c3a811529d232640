"""Leaderboard rows and run folders made up for tests: nothing is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.stats.student import interval
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.leaderboard.table.write import canonical
from lgl_bench.metrics.classification import accuracy
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1
from lgl_bench.metrics.ranking import auroc
from lgl_bench.protocols.leave_class_out import LeaveClassOut
from lgl_bench.protocols.temporal import Temporal
from lgl_bench.runs.records import FitRecord
from lgl_bench.runs.store import RunStore, add_answers
from lgl_bench.streams.checksum import stream_checksum
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.stream import Stream, StreamInfo
from tests.support.plans import plan_text

ABOUT = {
    "suite": "temporal",
    "suite_version": 1,
    "stream": "dblp-easy",
    "stream_checksum": "c" * 64,
    "protocol": "temporal",
    "split": "temporal",
    "strategy": "full",
    "history": "all",
    "restart": "warm",
    "label_delay": 0,
    "track": "inductive",
    "backbone": "gcn",
    "head": "softmax",
    "detector": "msp",
    "threshold": "",
    "preset": "paper",
    "budget": "quick",
    "budget_version": 2,
    "select": "preset",
    "interval": "student",
    "failed_years": 0,
    "failed_seeds": 0,
    "above_floor": "",
    "n_new": 100,
    "fit_seconds": 1.5,
    "peak_memory_mb": 300.0,
    "tuning_trials": 0,
    "trust": "self-reported",
}


def row(auroc_weighted: float | None = 0.7, std: float | None = 0.01, seeds: int = 3, **changes: Any) -> dict[str, Any]:
    """One row; only `auroc_weighted`, the same `auroc_mean` and, 0.1 above them, `accuracy` have a value."""
    cells: dict[str, Any] = dict(ABOUT)
    for name in HEADLINE:
        cells |= figures(name, None, None, 0)
    if auroc_weighted is not None:
        for name in ("auroc_weighted", "auroc_mean"):
            cells |= figures(name, auroc_weighted, std, seeds)
        cells |= figures("accuracy", auroc_weighted + 0.1, std, seeds)
    return cells | changes


def figures(name: str, mean: float | None, std: float | None, seeds: int) -> dict[str, Any]:
    """The seven columns of a metric."""
    lo = hi = None
    if mean is not None and std is not None and seeds >= 3:
        lo, hi = (float(end[0]) for end in interval(np.array([mean]), np.array([std]), np.array([seeds])))
    reason = "" if mean is not None else "nobody looked"
    values = {"mean": mean, "std": std, "lo": lo, "hi": hi, "n_seeds": seeds, "n_years": 5, "reason": reason}
    return {f"{name}_{suffix}": value for suffix, value in values.items()}


def board(*rows: dict[str, Any]) -> pd.DataFrame:
    """A table of rows."""
    return canonical(pd.DataFrame(list(rows)).astype(object))


def growing_stream(years: int = 9, size: int = 200) -> Stream:
    """A stream in which every other year brings a new class."""
    recipe = Recipe(
        times=tuple(range(years)),
        growth=(size,) * years,
        births=tuple(4 if year == 0 else year % 2 for year in range(years)),
        features=4,
        seed=1,
    )
    return generate(recipe, StreamInfo("growing", t0=1))


def static_stream() -> Stream:
    """A graph without years, of seven classes, with a published split."""
    recipe = Recipe(times=(0,), growth=(420,), births=(7,), features=4, split=True, seed=1)
    return generate(recipe, StreamInfo("standing", t0=None))


def made_up_run(
    folder: Path,
    stream: Stream,
    methods: dict[str, float],
    seeds: int = 3,
    *,
    noise: float = 0.05,
    split: str = "planetoid",
    threshold: str = "",
    budget: str = "quick",
    key: str = "",
) -> Path:
    """A run folder with answers: per detector, how much higher a new vertex scores than a known one.

    Detectors share what a vertex is like, and each adds noise a seed and vertex.
    """
    rng = np.random.default_rng(0)
    shared = rng.normal(size=stream.num_vertices)
    store = RunStore(folder)
    store.prepare()
    years: list[dict[str, Any]] = []
    protocol = LeaveClassOut(split) if stream.static else Temporal()
    checksum = stream_checksum(stream)
    for seed in range(seeds):
        for task, truth in protocol.tasks(stream, seed):
            unit = f"{key}{seed}-{task.time}-{task.fold.replace('/', '_')}"
            new = ~np.isin(truth.labels, task.known)
            right = rng.random(len(new)) < 0.7
            predicted = np.where(right, truth.labels, -1)
            answers = {"vertex": stream.ids[truth.vertices], "time": task.time, "class_pred": predicted}
            about = {"time": task.time, "role": task.role, "fold": task.fold, "known": task.known.tolist()}
            store.write_fit(unit, FitRecord(status="ok", key=unit, **about))
            for name, gap in methods.items():
                novelty = shared[truth.vertices] + gap * new + rng.normal(0, noise, len(new))
                answers[f"novelty:{name}"] = novelty
                about = {"key": unit, "stream": stream.name, "backbone": "gcn", "head": "softmax", "preset": "paper"}
                about |= {"protocol": "leave-class-out" if stream.static else "temporal", "split": protocol.split}
                about |= {"strategy": "" if stream.static else "full", "label_delay": 0}
                about |= {"history": "all", "restart": "" if stream.static else "warm"}
                about |= {"suite": "made-up", "suite_version": 1, "stream_checksum": checksum, "select": "preset"}
                about |= {"budget": budget, "budget_version": 2}
                about |= {"track": protocol.track, "tuning_trials": 0, "device": "cpu", "chosen": ""}
                about |= {"detector": name, "threshold": "", "seed": seed, "time": task.time, "fold": task.fold}
                about |= {"role": task.role, "fit_seconds": 1.0, "peak_memory_mb": 10.0, "status": "ok", "reason": ""}
                about |= {"n_new": int(new.sum()), "n_scored": len(new)}
                graded = {"accuracy": accuracy(truth.labels, predicted, task.known), "auroc": auroc(new, novelty)}
                years.append(about | _cells(graded))
                if threshold:
                    rejected = novelty > 1.0
                    answers[f"rejected:{name}|{threshold}"] = rejected
                    decided = {"micro_f1": micro_f1, "macro_f1": macro_f1, "mcc": mcc}
                    graded |= {metric: function(new, rejected) for metric, function in decided.items()}
                    counts = {
                        "new_rejected": int((rejected & new).sum()),
                        "known_rejected": int((rejected & ~new).sum()),
                    }
                    years.append(about | {"threshold": threshold} | counts | _cells(graded))
            add_answers(store, unit, pd.DataFrame(answers))
    store.write_frame("years.parquet", pd.DataFrame(years))
    suite = {"name": "made-up", "version": 1, "protocol": "leave-class-out" if stream.static else "temporal"}
    suite |= {"split": split if stream.static else None, "history": None, "restart": "warm", "label_delay": 0}
    plan = plan_text(suite | {"select": "preset"}, budget=budget, streams={stream.name: checksum})
    store.write_text("plan.json", plan)
    return folder


def replace_answers(folder: Path, key: str, answers: pd.DataFrame) -> None:
    """Answers of a unit in place of those it has, as a run would write them."""
    store = RunStore(folder)
    record = store.fit(key)
    assert record is not None
    store.write_fit(key, record, answers=answers, replace=True)


def _cells(values: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        found |= {name: value.value, f"{name}_reason": value.reason}
    return found


def decided(threshold: str, mcc: float, **changes: Any) -> dict[str, Any]:
    """A row with a threshold."""
    return row(**{"threshold": threshold, **figures("mcc", mcc, 0.001, 3), **changes})


def run_with_a_floor(folder: Path) -> Path:
    """A run of two methods of the floor and four others on a growing stream."""
    detectors = {"random": 0.8, "degree": 0.0, "msp": 0.82, "odin": 3.0, "knn": 2.97, "energy": 1.5}
    return made_up_run(folder, growing_stream(), detectors, noise=0.3)
