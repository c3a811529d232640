"""From a suite to a plan, and from a plan to a board: what the command line and Python both do."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.fingerprint import digest
from lgl_bench.grading.answers import Reader
from lgl_bench.grading.beside import MATRIX_FILE
from lgl_bench.grading.best import Best
from lgl_bench.grading.board_delays import CLASSES_FILE
from lgl_bench.grading.choices import Choices, decisions
from lgl_bench.grading.history import is_current, keep_plan, kept_plans, open_history
from lgl_bench.grading.year_table import write_years
from lgl_bench.grading.years import year_rows
from lgl_bench.leaderboard.boards import graded_run
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.leaderboard.folder import write_intervals
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.plans.budget import budget as budget_of
from lgl_bench.plans.plan import Plan, make_plan
from lgl_bench.plans.plan_file import Description
from lgl_bench.plans.preset_file import load_presets
from lgl_bench.plans.rebuild import description_of
from lgl_bench.plans.suite import load_suite
from lgl_bench.plans.tasks import KEPT_TASKS, TaskCache
from lgl_bench.runs.cleanup import remove_damaged, remove_failures
from lgl_bench.runs.devices import device_named
from lgl_bench.runs.engines.base import engine_class, start_engine
from lgl_bench.runs.isolation.processes import check_loadable
from lgl_bench.runs.lineage import forget_outdated
from lgl_bench.runs.options import Settings
from lgl_bench.runs.progress import Counts, Listener
from lgl_bench.runs.provenance import provenance
from lgl_bench.runs.records import StoreWarning
from lgl_bench.runs.scheduler import Scheduler
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stand_ins import open_streams
from lgl_bench.streams.stream import Stream


@dataclass(slots=True)
class RunResult:
    """What a run returned.

    Attributes:
        frame: The leaderboard of everything in the folder, best first.
        years: A row per year or fold, method and seed.
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


def plan_run(
    suite: str, settings: Settings, *, seeds: int | None = None, budget: str = "quick", **axes: Any
) -> tuple[Plan, dict[str, Stream]]:
    """The plan of a run, with its streams opened; axes are fields of the suite to replace."""
    engine_class(settings.engine)  # an unknown one is refused before anything is opened
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in axes.items()}
    chosen = load_suite(suite).within(budget).override(**given)
    if (settings.matrix or chosen.matrix) and settings.checkpoints != "all":
        who = "--matrix" if settings.matrix else f"the suite {chosen.name}"
        raise UsageError(f"{who} needs the weights of every year; give --checkpoints all")
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
        # Only if the same process works on them: each task of a static stream has a graph of its own.
        tasks=TaskCache(opened, kept=KEPT_TASKS if settings.in_process else 0),
    )
    plan.stand_ins = stand_ins
    return plan, opened


def run_plan(plan: Plan, streams: dict[str, Stream], settings: Settings, listener: Listener | None = None) -> RunResult:
    """Carries a plan out and writes the leaderboard of everything in its folder."""
    start = time.monotonic()
    out = fresh_folder(settings.out) if settings.fresh else settings.out
    description = description_of(plan, provenance())
    with _store_of(plan, out, streams, settings) as store:
        counts = _carry_out(plan, description, store, streams, settings, listener)
        frame, years = write_graded(plan, description, store, streams, settings.data_dir)
    return RunResult(plan, frame, years, counts, out, time.monotonic() - start)


def answer_plan(plan: Plan, streams: dict[str, Stream], settings: Settings, listener: Listener | None = None) -> Counts:
    """Carries a plan out and grades nothing: part of a plan has no whole row, and several may be graded together."""
    with _store_of(plan, settings.out, streams, settings) as store:
        return _carry_out(plan, description_of(plan, provenance()), store, streams, settings, listener)


def grade_years(plan: Plan, streams: dict[str, Stream], settings: Settings) -> None:
    """Writes the year rows of all that a folder holds, and no board, whose intervals and tests take far longer."""
    with _store_of(plan, settings.out, streams, settings) as store:
        history = open_history(store, plan, description_of(plan, provenance()), streams, settings.data_dir)
        write_years(store, history.years(store))


@contextmanager
def _store_of(plan: Plan, out: Path, streams: dict[str, Stream], settings: Settings) -> Iterator[RunStore]:
    """The store of a run folder, for this plan alone."""
    if not settings.in_process:
        check_loadable(plan)
    # What is scored in this process may change its working folder while the writer is at work.
    store = RunStore(out.absolute() if settings.in_process else out)
    store.prepare()
    plan.tasks.streams.update(streams)
    try:
        with store.alone():
            yield store
    finally:
        plan.tasks.clear()


def _carry_out(
    plan: Plan,
    description: Description,
    store: RunStore,
    streams: dict[str, Stream],
    settings: Settings,
    listener: Listener | None,
) -> Counts:
    """Does what the store lacks of a plan."""
    for damage in remove_damaged(store, {*description.fits, *(key for kept in kept_plans(store) for key in kept.fits)}):
        warnings.warn(f"{damage}; it is made again if this run needs it", StoreWarning, stacklevel=3)
    plugins = digest([Path(path) for path in settings.plugins])
    remove_failures(store, description.fits, None if settings.retry_failed else plugins)
    forget_outdated(plan, store)
    keep_plan(store, description)
    reader = Reader(store, streams, is_current)
    choices = Choices(plan, reader)
    engine = start_engine(settings, plan.tasks)
    best = Best(streams, [row.detector for row in plan.rows]) if listener else None
    try:
        kept, again = settings.checkpoints, settings.force
        wanted = settings.matrix or plan.suite.matrix
        scheduler = Scheduler(plan, store, engine, kept, listener, best, force=again, matrix=wanted, plugins=plugins)
        scheduler.run(("validation",))
        reader.forget()
        if plan.suite.select in ("t1", "nested"):
            choices.score_chosen()
        validation = year_rows(plan, reader, choices, ("validation",)) if _needs_best(plan) else pd.DataFrame()
        counts = scheduler.run(("validation", "test"), decisions(plan, choices, validation))
        if wanted:
            scheduler.run_matrix()
    finally:
        engine.close()
    return counts


def write_graded(
    plan: Plan, description: Description, store: RunStore, streams: dict[str, Stream], data_dir: Path | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Grades all that the store holds, of this plan and of every one before, and writes its board and year rows."""
    history = open_history(store, plan, description, streams, data_dir)
    years = history.years(store)
    write_years(store, years)
    frame, drawn = graded_run(Run(store.folder, years), provenance(), history.by_checksum, keep=True)
    write_intervals(store.folder, drawn)
    store.write_frame(CLASSES_FILE, history.classes(store))
    matrix = history.matrix(store)
    if len(matrix):
        store.write_frame(MATRIX_FILE, matrix)
    write_board(frame, store.folder / BOARD_FILE, force=True)
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


def _needs_best(plan: Plan) -> bool:
    return bool(plan.thresholds) and plan.suite.thresholds_on == "best"
