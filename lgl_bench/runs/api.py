"""Running a suite from Python; the command line is a thin layer on this."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.runs.board import METRICS, seed_values, summary
from lgl_bench.runs.budget import budget as budget_of
from lgl_bench.runs.driver import Checkpoints, Counts, Driver
from lgl_bench.runs.plan import Plan, make_plan
from lgl_bench.runs.pool import Pool
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.streams import open_streams
from lgl_bench.runs.suite import load_suite
from lgl_bench.runs.units import ChainSpec, Unit
from lgl_bench.runs.years import year_rows
from lgl_bench.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is carried out, apart from what it runs."""

    out: Path
    data_dir: Path | None = None
    jobs: int = 1
    checkpoints: Checkpoints = "all"
    real_only: bool = False
    offline: bool = False
    force: bool = False
    retry_failed: bool = False
    time_limit: float | None = None
    memory_limit: float | None = None
    plugins: tuple[str, ...] = ()


@dataclass(slots=True)
class RunResult:
    """What a run gave.

    Attributes:
        frame: The leaderboard, best first.
        years: One row a year or fold, method and seed.
        counts: Units done, and what failed with its reason.
        stand_ins: Real streams that could not be had, with the reason; their twins were taken.
    """

    plan: Plan
    frame: pd.DataFrame
    years: pd.DataFrame
    counts: Counts
    stand_ins: dict[str, str]
    folder: Path


def plan_run(
    suite: str,
    settings: Settings,
    *,
    streams: Sequence[str] = (),
    backbones: Sequence[str] = (),
    detectors: Sequence[str] = (),
    thresholds: Sequence[str] = (),
    seeds: int | None = None,
    budget: str = "quick",
    thresholds_on: str | None = None,
) -> tuple[Plan, dict[str, Stream]]:
    """The plan of a run, with its streams opened."""
    chosen = load_suite(suite).override(
        streams=tuple(streams),
        backbones=tuple(backbones),
        detectors=tuple(detectors),
        thresholds=tuple(thresholds),
        thresholds_on=thresholds_on,
    )
    opened, stand_ins = open_streams(
        chosen.streams, settings.data_dir, real_only=settings.real_only, offline=settings.offline
    )
    plan = make_plan(chosen, budget_of(budget), opened, seeds=seeds, data_dir=settings.data_dir)
    plan.stand_ins = stand_ins
    return plan, opened


def run_plan(
    plan: Plan,
    streams: dict[str, Stream],
    settings: Settings,
    on_done: Callable[[Unit, Counts], None] | None = None,
) -> RunResult:
    """Carries a plan out and writes the leaderboard."""
    if settings.jobs < 1:
        raise UsageError(f"--jobs {settings.jobs}: at least one process is needed")
    store = RunStore(settings.out)
    store.prepare()
    if settings.force or settings.retry_failed:
        store.forget([unit.key for unit in plan.all_units], only_failed=not settings.force)
    store.write_text("plan.json", json.dumps(_describe(plan, settings), indent=1) + "\n")
    pool = Pool(settings.jobs, settings.time_limit, settings.memory_limit, settings.plugins)
    try:
        driver = Driver(plan, store, pool, settings.checkpoints, on_done)
        driver.run(("validation",))
        counts = driver.run(("validation", "test"), _decisions(plan, store, streams))
    finally:
        pool.close()
    years = year_rows(plan, store, streams)
    frame = leaderboard(plan, years)
    store.write_frame("years.parquet", years)
    store.write_text("leaderboard.csv", frame.to_csv(index=False))
    return RunResult(plan, frame, years, counts, plan.stand_ins, settings.out)


def leaderboard(plan: Plan, years: pd.DataFrame) -> pd.DataFrame:
    """One row a method and stream, best first within each stream."""
    keys = ["stream", "backbone", "parameters", "head", "detector", "threshold"]
    presets = {(row.stream, row.backbone, row.detector): row.preset for row in plan.rows}
    rows = []
    for values, group in years.groupby(keys, sort=False) if len(years) else []:
        named = {key: str(value) for key, value in zip(keys, values, strict=True)}
        rows.append(_board_row(plan, named, presets, group))
    frame = pd.DataFrame(rows)
    if len(frame):
        frame = frame.sort_values(["stream", "threshold", "auroc_weighted_mean"], ascending=[True, True, False])
    return frame.reset_index(drop=True)


def _board_row(
    plan: Plan, named: dict[str, str], presets: dict[tuple[str, str, str], str], group: pd.DataFrame
) -> dict[str, Any]:
    protocol = plan.protocol
    row: dict[str, Any] = {
        "suite": plan.suite.name,
        "suite_version": plan.suite.version,
        "stream": named["stream"],
        "stream_checksum": plan.checksums[named["stream"]],
        "protocol": protocol.name,
        "split": protocol.build().split,
        "history": protocol.history if protocol.history is not None else "all",
        "restart": protocol.restart or "",
        "label_delay": protocol.label_delay or 0,
        "track": protocol.build().track,
        "backbone": named["backbone"] + (f"({named['parameters']})" if named["parameters"] else ""),
        "head": named["head"],
        "detector": named["detector"],
        "threshold": named["threshold"],
        "preset": presets.get((named["stream"], named["backbone"], named["detector"]), ""),
        "budget": plan.budget.name,
        "select": plan.suite.select,
    }
    seeds = [seed_values(part) for _, part in group[group["status"] == "ok"].groupby("seed")]
    failed = next((str(reason) for reason in group[group["status"] != "ok"]["reason"] if reason), "no seed finished")
    for metric in METRICS:
        parts = [seed[metric] for seed in seeds] or [(None, 0, failed)]
        values, counts, reasons = zip(*parts, strict=True)
        row |= {f"{metric}_{key}": value for key, value in summary(values, reasons, counts).items()}
    row["n_new"] = int(group["n_new"].fillna(0).sum() / max(group["seed"].nunique(), 1)) if "n_new" in group else 0
    row["fit_seconds"] = float(group["fit_seconds"].fillna(0).sum())
    row["peak_memory_mb"] = float(group["peak_memory_mb"].fillna(0).max())
    return row | {"tuning_trials": 0, "chosen": "", "trust": "self-reported", "submitter": ""} | provenance()


def provenance() -> dict[str, str]:
    """What made the rows."""
    import dgl
    import torch

    return {
        "created_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "lgl_bench": __version__,
        "torch": torch.__version__,
        "dgl": dgl.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "device": "cpu",
        "git_commit": _commit(),
    }


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _decisions(plan: Plan, store: RunStore, streams: dict[str, Stream]) -> dict[ChainSpec, tuple[str, ...]]:
    """Which detectors get thresholds: all, or the one that is best on the validation task of each stream."""
    if not plan.thresholds:
        return {}
    wanted: dict[ChainSpec, set[str]] = {}
    rows = [row for row in plan.rows if row.base]
    if plan.suite.thresholds_on == "best":
        years = year_rows(plan, store, streams)
        validation = years[(years["role"] == "validation") & (years["status"] == "ok")] if len(years) else years
        keys = ["stream", "backbone", "detector"]
        means = validation.groupby(keys)["auroc"].mean().dropna() if len(validation) else pd.Series(dtype=float)
        best = {str(stream): part.idxmax() for stream, part in means.groupby(level=0)}
        rows = [row for row in rows if best.get(row.stream) == (row.stream, row.backbone, row.detector)]
    for chain in plan.units:
        for row in rows:
            if (row.stream, row.backbone, row.head) == (chain.stream, chain.backbone, chain.head):
                wanted.setdefault(chain, set()).add(row.detector)
    return {chain: tuple(sorted(names)) for chain, names in wanted.items()}


def _describe(plan: Plan, settings: Settings) -> dict[str, Any]:
    return {
        "suite": plan.suite.model_dump(mode="json"),
        "budget": plan.budget.name,
        "seeds": plan.seeds,
        "streams": plan.checksums,
        "stand_ins": plan.stand_ins,
        "fits": [unit.key for unit in plan.all_units],
        "rows": [asdict(row) for row in plan.rows],
        "lgl_bench": __version__,
    }
