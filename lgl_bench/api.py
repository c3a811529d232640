"""Running a suite from Python; the command line is a thin layer on this."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench import __version__
from lgl_bench.core.errors import UsageError
from lgl_bench.core.registry import load_plugin
from lgl_bench.leaderboard.answers import Run
from lgl_bench.leaderboard.build import RunFacts
from lgl_bench.leaderboard.folder import write_intervals
from lgl_bench.leaderboard.sources import graded_run
from lgl_bench.leaderboard.writing import write_board
from lgl_bench.runs.budget import budget as budget_of
from lgl_bench.runs.choices import Choices, decisions
from lgl_bench.runs.classes import class_rows
from lgl_bench.runs.devices import cores, device_named
from lgl_bench.runs.driver import Counts, Driver, Engine
from lgl_bench.runs.isolation import check_loadable
from lgl_bench.runs.lineage import forget_outdated
from lgl_bench.runs.matrix import matrix_rows, transfer_rows
from lgl_bench.runs.plan import Plan, make_plan
from lgl_bench.runs.pool import InProcess, Pool
from lgl_bench.runs.preset_file import load_presets
from lgl_bench.runs.progress import Best, Listener
from lgl_bench.runs.provenance import provenance
from lgl_bench.runs.reading import Reader
from lgl_bench.runs.settings import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.runs.streams import open_streams
from lgl_bench.runs.suite import load_suite
from lgl_bench.runs.years import year_rows
from lgl_bench.streams.stream import Stream

__all__ = ["RunResult", "Settings", "plan_run", "run", "run_plan"]


@dataclass(slots=True)
class RunResult:
    """What a run gave.

    Attributes:
        frame: The leaderboard, best first.
        years: One row a year or fold, method and seed.
        counts: Units done, and what failed with its reason.
        folder: Where everything is kept.
        seconds: Wall time.
    """

    plan: Plan
    frame: pd.DataFrame
    years: pd.DataFrame
    counts: Counts
    folder: Path
    seconds: float = 0.0


def run(
    suite: str,
    *,
    streams: Sequence[str] = (),
    backbones: Sequence[str] = (),
    detectors: Sequence[str] = (),
    thresholds: Sequence[str] = (),
    seeds: int | None = None,
    budget: str = "quick",
    out: str | Path | None = None,
    listener: Listener | None = None,
    axes: dict[str, Any] | None = None,
    **settings: Any,
) -> RunResult:
    """Runs a suite and writes its leaderboard.

    Args:
        suite: By name, or a TOML file.
        streams: Only these.
        backbones: Only these.
        detectors: Only these, as expressions.
        thresholds: Only these, as expressions; "none" for none.
        seeds: How many; the budget's otherwise.
        budget: "smoke", "quick" or "paper".
        out: Run folder; `runs/SUITE` otherwise.
        listener: Is told what happens.
        axes: Other fields of the suite to replace: `{"select": "t1", "history": 3}`.
        settings: Fields of `Settings`. Without `jobs`, or with one job, everything is done in this process; a limit of
            time or memory needs a process that can be ended, and takes one.
    """
    chosen = Settings(Path(out) if out else Path("runs") / Path(suite).stem, **({"jobs": 1} | settings))
    limited = chosen.time_limit is not None or chosen.memory_limit is not None
    chosen = replace(chosen, in_process=chosen.jobs == 1 and chosen.engine == "local" and not limited)
    for path in chosen.plugins:
        load_plugin(Path(path))
    given = {"streams": streams, "backbones": backbones, "detectors": detectors, "thresholds": thresholds}
    plan, opened = plan_run(suite, chosen, seeds=seeds, budget=budget, **given, **(axes or {}))
    return run_plan(plan, opened, chosen, listener)


def plan_run(
    suite: str, settings: Settings, *, seeds: int | None = None, budget: str = "quick", **axes: Any
) -> tuple[Plan, dict[str, Stream]]:
    """The plan of a run, with its streams opened; axes are fields of the suite to replace."""
    if settings.matrix and settings.checkpoints != "all":
        raise UsageError("--matrix needs the weights of every year; give --checkpoints all")
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in axes.items()}
    chosen = load_suite(suite).override(**given)
    opened, stand_ins = open_streams(
        chosen.streams, settings.data_dir, real_only=settings.real_only, offline=settings.offline
    )
    plan = make_plan(
        chosen,
        budget_of(budget),
        opened,
        seeds=seeds,
        data_dir=settings.data_dir,
        presets=load_presets(settings.preset) if settings.preset else None,
        threads=settings.threads,
        device=device_named(settings.device),
    )
    plan.stand_ins = stand_ins
    return plan, opened


def run_plan(plan: Plan, streams: dict[str, Stream], settings: Settings, listener: Listener | None = None) -> RunResult:
    """Carries a plan out and writes the leaderboard."""
    start = time.monotonic()
    if not settings.in_process:
        check_loadable(plan)
    store = RunStore(settings.out)
    store.prepare()
    if settings.force or settings.retry_failed:
        store.forget([unit.key for unit in plan.all_units], only_failed=not settings.force)
    forget_outdated(plan, store)
    store.write_text("plan.json", json.dumps(_describe(plan), indent=1) + "\n")
    reader = Reader(store, streams)
    choices = Choices(plan, reader)
    engine = _engine(settings, streams)
    try:
        driver = Driver(plan, store, engine, settings.checkpoints, listener, Best(streams) if listener else None)
        driver.run(("validation",))
        reader.forget()
        if plan.suite.select in ("t1", "nested"):
            choices.score_chosen()
        validation = year_rows(plan, reader, choices, ("validation",)) if _needs_best(plan) else pd.DataFrame()
        counts = driver.run(("validation", "test"), decisions(plan, choices, validation))
        if settings.matrix:
            driver.run_matrix()
    finally:
        engine.close()
    reader.forget()
    years = year_rows(plan, reader, choices)
    store.write_frame("years.parquet", years)
    frame, drawn = graded_run(Run(settings.out, years), run_facts(plan, provenance()), streams, keep=True)
    write_intervals(settings.out, drawn)
    store.write_frame("classes.parquet", class_rows(plan, reader, choices))
    if settings.matrix:
        matrix = matrix_rows(plan, store)
        store.write_frame("matrix.parquet", matrix)
        known = {name: {t: len(one.known_at(t)) for t in one.times} for name, one in streams.items()}
        store.write_frame("transfer.parquet", transfer_rows(matrix, known))
    write_board(frame, settings.out / "leaderboard.csv", force=True)
    return RunResult(plan, frame, years, counts, settings.out, time.monotonic() - start)


def _engine(settings: Settings, streams: dict[str, Stream]) -> Engine:
    if settings.engine == "ray":
        from lgl_bench.runs.ray_engine import RayEngine

        return RayEngine(streams, settings.address, settings.time_limit, settings.memory_limit)
    jobs = cores() if settings.jobs is None else settings.jobs
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least one process is needed")
    if settings.in_process:
        return InProcess(streams, str(settings.data_dir) if settings.data_dir else None)
    return Pool(jobs, settings.time_limit, settings.memory_limit)


def _needs_best(plan: Plan) -> bool:
    return bool(plan.thresholds) and plan.suite.thresholds_on == "best"


def run_facts(plan: Plan, made_by: dict[str, str]) -> RunFacts:
    """What holds for every row of a plan, and what made them."""
    suite = plan.suite
    columns = {
        "suite": suite.name,
        "suite_version": suite.version,
        "budget": plan.budget.name,
        "budget_version": plan.budget.version,
        "select": suite.select,
    }
    return RunFacts(columns, plan.checksums, made_by)


def _describe(plan: Plan) -> dict[str, Any]:
    return {
        "suite": plan.suite.model_dump(mode="json"),
        "budget": plan.budget.name,
        "budget_version": plan.budget.version,
        "seeds": plan.seeds,
        "streams": plan.checksums,
        "stand_ins": plan.stand_ins,
        "fits": [unit.key for unit in plan.all_units],
        "chains": [{**asdict(chain), "data_dir": None} for chain in plan.units],
        "rows": [asdict(row) for row in plan.rows],
        "thresholds": list(plan.thresholds),
        "provenance": provenance(),
        "lgl_bench": __version__,
    }
