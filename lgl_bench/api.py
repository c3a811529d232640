"""Running a suite from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lgl_bench.core.registry import load_plugin
from lgl_bench.pipeline import RunResult, plan_run, run_plan
from lgl_bench.runs.options import IN_PROCESS, Settings
from lgl_bench.runs.progress import Listener

__all__ = ["RunResult", "Settings", "plan_run", "run", "run_plan"]


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
        backbones: Only these, as expressions: `appnp(steps=10, teleport=0.2)`.
        detectors: Only these, as expressions.
        thresholds: Only these, as expressions; "none" for none.
        seeds: How many; the budget's otherwise.
        budget: "smoke", "quick" or "paper".
        out: Run folder; `runs/SUITE` otherwise.
        listener: Called with every event.
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
    return run_plan(plan, opened, chosen, listener)
