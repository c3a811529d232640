"""The one place where a leaderboard is made again from answers and streams."""

from __future__ import annotations

import pandas as pd

from lgl_bench.grading.answers import Reader
from lgl_bench.grading.choices import Choices
from lgl_bench.grading.years import year_rows
from lgl_bench.leaderboard.boards import graded_run
from lgl_bench.leaderboard.compare.answers import Run
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.stream import Stream


def recompute(
    plan: Plan, store: RunStore, streams: dict[str, Stream], provenance: dict[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Year rows and leaderboard of the answers in a store: choices made and intervals drawn anew, as a run does it.

    A fit that is not there counts as failed: a row that leaves out years or seeds must not look complete.

    Args:
        plan: What was run.
        store: Where the answers are.
        streams: Where the truth is.
        provenance: Columns that cannot be recomputed.
    """
    reader = Reader(store, streams)
    years = year_rows(plan, reader, Choices(plan, reader))
    on = {(name, plan.checksums[name]): stream for name, stream in streams.items()}
    frame, _ = graded_run(Run(store.folder, years), provenance, on, keep=False)
    return years, frame
