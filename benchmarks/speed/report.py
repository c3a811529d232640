"""Speed of the report: a site of 200 methods on 6 streams over 30 years, three seeds.

    python benchmarks/speed/report.py

The year rows are made up; nothing is trained and no data is needed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.grading.year_table import YEARS_FILE
from lgl_bench.leaderboard.build import board_rows
from lgl_bench.leaderboard.table.names import BOARD_FILE
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.report.site import build_site

METHODS, STREAMS, YEARS, SEEDS = 200, 6, 30, 3
ABOUT = {"suite": "made", "suite_version": 1, "budget": "quick", "budget_version": 2, "select": "preset"}


def year_rows() -> pd.DataFrame:
    """One row per stream, method, seed and year."""
    stream, method, seed, year = (part.ravel() for part in np.indices((STREAMS, METHODS, SEEDS, YEARS)))
    random = np.random.default_rng(0)
    count = len(stream)
    auroc = 0.6 + 0.3 * (method / METHODS) + random.normal(0, 0.03, count)
    new = np.where(year % 3 == 0, 0, 25)
    columns = {
        **ABOUT,
        "key": "k",
        "stream_checksum": "c" * 64,
        "stream": np.char.add("made-", stream.astype(str)),
        "protocol": "temporal",
        "split": "temporal",
        "history": "all",
        "restart": "warm",
        "label_delay": 0,
        "track": "inductive",
        "backbone": np.char.add("gnn-", (method % 10).astype(str)),
        "head": "softmax",
        "detector": np.char.add(np.char.add("method-", (method // 10).astype(str)), "(temperature=1000.0)"),
        "threshold": "",
        "preset": "made",
        "seed": seed,
        "time": 1990 + year,
        "fold": "",
        "role": np.where(year == 0, "validation", "test"),
        "tuning_trials": 0,
        "chosen": "",
        "device": "cpu",
        "fit_seconds": 1.0 + method,
        "peak_memory_mb": 500.0,
        "status": "ok",
        "reason": "",
        "n_new": new,
        "n_scored": 500,
        "accuracy": auroc - 0.1,
        "auroc": np.where(new > 0, auroc, np.nan),
        "auroc_reason": np.where(new > 0, "", "no new vertices"),
        "aupr": np.where(new > 0, auroc - 0.2, np.nan),
        "fpr95": np.where(new > 0, 1 - auroc, np.nan),
        "oscr": np.where(new > 0, auroc - 0.1, np.nan),
    }
    return pd.DataFrame(columns)


def main() -> None:
    """Prints how long it takes."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        years = year_rows()
        years.to_parquet(run / YEARS_FILE)
        write_board(board_rows(years), run / BOARD_FILE)
        began, worked = time.perf_counter(), time.process_time()
        made = build_site([run], Path(folder) / "site")
        took, work = time.perf_counter() - began, time.process_time() - worked
        print(
            f"site of {METHODS} methods x {STREAMS} streams x {YEARS} years, {len(years):,} year rows: {took:.1f} s "
            f"({work:.1f} s of work), {made['pages']} pages, {made['bytes'] / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    main()
