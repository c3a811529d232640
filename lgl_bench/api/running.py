"""Running a suite from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from lgl_bench.core.progress import is_watched, progress_bar
from lgl_bench.core.registry import load_plugin
from lgl_bench.evaluation.board import Board
from lgl_bench.pipeline import RunResult, plan_run, run_plan
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.runs.progress import Counts, Event, Listener

__all__ = ["Result", "Settings", "plan_run", "run", "run_plan"]


@dataclass(repr=False)
class Result:
    """What a run returned.

    Attributes:
        found: As the pipeline has it.
    """

    found: RunResult

    @cached_property
    def board(self) -> Board:
        """The leaderboard of everything in the folder, best first."""
        return Board(self.found.folder)

    @property
    def frame(self) -> pd.DataFrame:
        """The columns of the leaderboard that are looked at first; `all` has the others."""
        return self.board.frame

    @property
    def all(self) -> pd.DataFrame:
        """Every column of the leaderboard."""
        return self.board.all

    @property
    def years(self) -> pd.DataFrame:
        """A row per year or fold, method and seed."""
        return self.found.years

    @property
    def counts(self) -> Counts:
        """Units done, and what failed with its reason."""
        return self.found.counts

    @property
    def folder(self) -> Path:
        """Where everything is kept."""
        return self.found.folder

    @property
    def plan(self) -> Plan:
        """What was run."""
        return self.found.plan

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.found.seconds

    def __repr__(self) -> str:
        failed = len(self.counts.failed)
        return f"{self.board!r}\n{self.seconds:.0f} s{f', {failed} answers failed' if failed else ''}"

    def _repr_html_(self) -> str:
        return self.board._repr_html_()


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
    progress: bool | None = None,
    axes: dict[str, Any] | None = None,
    **settings: Any,
) -> Result:
    """Runs a suite and writes its leaderboard.

    Args:
        suite: By name, or a TOML file.
        streams: Only these.
        backbones: Only these, as expressions: `appnp(steps=10, teleport=0.2)`.
        detectors: Only these, as expressions.
        thresholds: Only these, as expressions; "none" for none.
        seeds: How many; the budget's otherwise.
        budget: "smoke", "quick" or "paper".
        out: Run folder; `runs/SUITE` otherwise.
        listener: Called with every event.
        progress: Whether a bar is shown, if there is no listener; by default on a terminal and in a notebook.
        axes: Other fields of the suite to replace: `{"select": "t1", "history": 3}`.
        settings: Fields of `Settings`. Without `jobs`, or with one job, everything is done in this process; a limit of
            time or memory needs a process that can be ended, and takes one.
    """
    chosen = Settings(Path(out) if out else Path("runs") / Path(suite).stem, **({"jobs": 1} | settings))
    limited = chosen.time_limit is not None or chosen.memory_limit is not None
    if chosen.jobs == 1 and chosen.engine == "local" and not limited:
        chosen = replace(chosen, engine=IN_PROCESS)
    for path in chosen.plugins:
        load_plugin(Path(path))
    given = {"streams": streams, "backbones": backbones, "detectors": detectors, "thresholds": thresholds}
    plan, opened = plan_run(suite, chosen, seeds=seeds, budget=budget, **given, **(axes or {}))
    shown = listener is None and (is_watched() if progress is None else progress)
    if not shown:
        return Result(run_plan(plan, opened, chosen, listener))
    with progress_bar(len(plan.all_units), Path(suite).stem, "fit") as bar:

        def draw(event: Event) -> None:
            bar.total = event.total
            bar.update(event.done - bar.n)

        return Result(run_plan(plan, opened, chosen, draw))
