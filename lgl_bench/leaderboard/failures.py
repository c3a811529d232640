"""What is missing from a row: test years or folds that failed, and the seeds they failed with."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lgl_bench.core.types import IntArray
from lgl_bench.leaderboard.pooled import same_detector
from lgl_bench.leaderboard.table.names import Fact


def failures(years: pd.DataFrame, methods: pd.DataFrame, method: IntArray) -> dict[str, IntArray]:
    """Per method, the test years or folds that failed or diverged with at least one seed, and the seeds with any.

    A task that one seed has and another lacks counts as failed too, and if a detector failed, so did the decisions on
    it. Skipped tasks, which nobody can answer, do not count.

    Args:
        years: Year rows.
        methods: One row per method.
        method: Of each year row, its method.
    """
    size = len(methods)
    test = (years["role"] == "test").to_numpy(dtype=bool)
    task = years.groupby(["time", "fold"], sort=False).ngroup().to_numpy(dtype=np.int64)
    cells = pd.DataFrame({"method": method, "task": task, "seed": years["seed"].to_numpy()})[test]
    bad = cells[~years["status"][test].isin(["ok", "skipped"]).to_numpy(dtype=bool)]
    bad = pd.concat([bad, _lacking(cells.drop_duplicates(), size)])
    bad = pd.concat([bad, _undecided(bad, methods)])
    return {
        Fact.FAILED_YEARS: np.bincount(bad[["method", "task"]].drop_duplicates()["method"], minlength=size),
        Fact.FAILED_SEEDS: np.bincount(bad[["method", "seed"]].drop_duplicates()["method"], minlength=size),
    }


def _lacking(cells: pd.DataFrame, size: int) -> pd.DataFrame:
    """Pairs of task and seed that a method should have, because another seed has the task, and does not."""
    counts = [
        np.bincount(cells[list(names)].drop_duplicates()["method"], minlength=size)
        for names in (("method", "task"), ("method", "seed"))
    ]
    whole = np.bincount(cells["method"], minlength=size) == counts[0] * counts[1]
    part = cells[~whole[cells["method"]]]
    every = part[["method", "task"]].drop_duplicates().merge(part[["method", "seed"]].drop_duplicates(), on="method")
    found = every.merge(part, how="left", indicator=True)
    lacking: pd.DataFrame = found.loc[found["_merge"] == "left_only", ["method", "task", "seed"]].astype(np.int64)
    return lacking


def _undecided(bad: pd.DataFrame, methods: pd.DataFrame) -> pd.DataFrame:
    """Failures of detectors, as those of the thresholds on them: a failed fit has no rows with a threshold."""
    base = same_detector(methods)
    plain = (methods["threshold"] == "").to_numpy(dtype=bool)
    decided = pd.DataFrame({"base": base[~plain], "method": np.flatnonzero(~plain)})
    of_detectors = bad[plain[bad["method"]]]
    of_detectors = of_detectors.assign(base=base[of_detectors["method"]]).drop(columns="method")
    return of_detectors.merge(decided, on="base")[["method", "task", "seed"]]
