"""Running a suite from Python; the command line is a thin layer on this."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.fingerprint import digest
from lgl_bench.core.registry import load_plugin
from lgl_bench.leaderboard.answers import Run
from lgl_bench.leaderboard.folder import write_intervals
from lgl_bench.leaderboard.sources import graded_run
from lgl_bench.leaderboard.writing import write_board
from lgl_bench.runs.budget import budget as budget_of
from lgl_bench.runs.choices import Choices, decisions
from lgl_bench.runs.description import Description
from lgl_bench.runs.devices import cores, device_named
from lgl_bench.runs.driver import Counts, Driver, Engine
from lgl_bench.runs.history import is_current, keep_plan, kept_plans, open_history
from lgl_bench.runs.isolation import check_loadable
from lgl_bench.runs.lineage import forget_outdated
from lgl_bench.runs.matrix import transfer_rows
from lgl_bench.runs.plan import Plan, make_plan
from lgl_bench.runs.pool import InProcess, Pool
from lgl_bench.runs.preset_file import load_presets
from lgl_bench.runs.progress import Best, Listener
from lgl_bench.runs.provenance import provenance
from lgl_bench.runs.reading import Reader
from lgl_bench.runs.rebuild import description_of
from lgl_bench.runs.records import StoreWarning
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
        frame: The leaderboard of everything in the folder, best first.
        years: One row per year or fold, method and seed.
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
    """Carries a plan out and writes the leaderboard of everything in its folder."""
    start = time.monotonic()
    if not settings.in_process:
        check_loadable(plan)
    out = fresh_folder(settings.out) if settings.fresh else settings.out
    # What is scored in this process may change its working folder while the writer is at work.
    store = RunStore(out.absolute() if settings.in_process else out)
    description = description_of(plan, provenance())
    store.prepare()
    with store.alone():
        counts = _carry_out(plan, description, store, streams, settings, listener)
        frame, years = _write_board(plan, description, store, streams, settings)
    return RunResult(plan, frame, years, counts, out, time.monotonic() - start)


def _carry_out(
    plan: Plan,
    description: Description,
    store: RunStore,
    streams: dict[str, Stream],
    settings: Settings,
    listener: Listener | None,
) -> Counts:
    """Does what the store lacks of a plan."""
    for damage in store.mend({*description.fits, *(key for kept in kept_plans(store) for key in kept.fits)}):
        warnings.warn(f"{damage}; it is made again if this run needs it", StoreWarning, stacklevel=3)
    plugins = digest([Path(path) for path in settings.plugins])
    store.forget_failures(description.fits, None if settings.retry_failed else plugins)
    forget_outdated(plan, store)
    keep_plan(store, description)
    reader = Reader(store, streams, is_current)
    choices = Choices(plan, reader)
    engine = _engine(settings, streams)
    best = Best(streams) if listener else None
    try:
        driver = Driver(
            plan, store, engine, settings.checkpoints, listener, best, again=settings.force, plugins=plugins
        )
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
    return counts


def _write_board(
    plan: Plan, description: Description, store: RunStore, streams: dict[str, Stream], settings: Settings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Grades all that the store holds, of this plan and of every one before."""
    history = open_history(store, plan, description, streams, settings.data_dir)
    years = history.years(store)
    store.write_frame("years.parquet", years)
    frame, drawn = graded_run(Run(store.folder, years), provenance(), history.by_checksum, keep=True)
    write_intervals(store.folder, drawn)
    store.write_frame("classes.parquet", history.classes(store))
    matrix = history.matrix(store)
    if settings.matrix or len(matrix):
        store.write_frame("matrix.parquet", matrix)
        known = {name: {t: len(one.known_at(t)) for t in one.times} for name, one in history.streams.items()}
        store.write_frame("transfer.parquet", transfer_rows(matrix, known))
    write_board(frame, store.folder / "leaderboard.csv", force=True)
    return frame, years


def fresh_folder(folder: Path) -> Path:
    """The folder itself if nothing is there yet, else the first of FOLDER-2, FOLDER-3, ... that is not; it is made."""
    for number in count(1):
        place = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise DataError(f"the run folder {place} cannot be made: {error.strerror or error}") from error
        return place
    raise AssertionError("there is always a next number")


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
