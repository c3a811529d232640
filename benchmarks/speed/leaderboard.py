"""Speed of the leaderboard: building rows from a run, reading, and comparing tables.

    python benchmarks/speed/leaderboard.py

Everything is made up in a temporary folder; commands are timed as a user gives them, start of Python included.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.stats.bootstrap import Cut, resample
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.metrics import SeedAnswers

METRICS = ("accuracy", "auroc", "aupr", "fpr95", "oscr", "micro_f1", "macro_f1", "mcc", "open_f1")


def made_up_run(folder: Path, methods: int, seeds: int, years: int) -> None:
    """A run folder with methods x seeds x years year rows."""
    rng = np.random.default_rng(0)
    count = methods * seeds * years
    method, seed, year = (part.ravel() for part in np.indices((methods, seeds, years)))
    frame = pd.DataFrame(
        {
            "key": [f"{i:024x}" for i in range(count)],
            "suite": "made-up",
            "suite_version": 1,
            "budget": "quick",
            "budget_version": 2,
            "select": "preset",
            "stream_checksum": [f"{i % 10:064x}" for i in method],
            "stream": [f"stream-{i % 10}" for i in method],
            "protocol": "temporal",
            "split": "temporal",
            "history": "all",
            "restart": "warm",
            "label_delay": 0,
            "track": "inductive",
            "backbone": "gcn",
            "preset": "made up",
            "head": "softmax",
            "detector": [f"odin(eps={i / 1000},temperature=10.0)" for i in method],
            "threshold": "",
            "seed": seed,
            "time": 2000 + year,
            "fold": "",
            "role": np.where(year == 0, "validation", "test"),
            "fit_seconds": 1.0,
            "peak_memory_mb": 500.0,
            "status": "ok",
            "reason": "",
            "n_new": rng.integers(0, 30, count),
            "n_scored": 100,
            "new_rejected": np.nan,
            "known_rejected": np.nan,
        }
    )
    for metric in METRICS:
        frame[metric] = rng.random(count)
        frame[f"{metric}_reason"] = ""
    suite = {"name": "made-up", "version": 1, "protocol": "temporal", "restart": "warm", "label_delay": 0}
    suite |= {"select": "preset", "split": None, "history": None}
    streams = {f"stream-{i}": f"{i:064x}" for i in range(10)}
    plan = {"suite": suite, "budget": "quick", "budget_version": 2, "streams": streams, "rows": [], "seeds": seeds}
    plan |= {"fits": [], "chains": [], "thresholds": [], "stand_ins": {}, "provenance": {}, "lgl_bench": ""}
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps(plan))
    frame.to_parquet(folder / "years.parquet")


def command(*arguments: str) -> str:
    """Seconds a command of lgl-bench takes, and how many of them the processor worked on it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "lgl_bench.cli", *arguments], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.2f} s, {worked:.2f} s of processor time"


def draw(vertices: int, years: int, seeds: int) -> float:
    """Seconds the bootstrap of two methods takes."""
    rng = np.random.default_rng(0)
    new = np.arange(vertices) < vertices // 10
    cuts = [Cut(new, new.astype(np.int64), year) for year in range(years)]

    def sheet() -> SeedAnswers:
        return SeedAnswers(rng.random((seeds, vertices)) + 0.3 * new, rng.random((seeds, vertices)) < 0.7)

    methods = {name: [sheet() for _ in cuts] for name in "ab"}
    start = time.perf_counter()
    resample(cuts, methods, ["auroc_weighted", "accuracy"])
    return time.perf_counter() - start


def main() -> None:
    """Prints every figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made_up_run(folder / "run", methods=2500, seeds=4, years=10)
        start = time.perf_counter()
        rows = folder_rows(folder / "run")
        print(f"100,000 year rows to {len(rows):,} leaderboard rows: {time.perf_counter() - start:.2f} s")
        taken = command("leaderboard", "build", str(folder / "run"), "--out", str(folder / "board.csv"))
        print(f"lgl-bench leaderboard build, the same: {taken}")
        fourfold = pd.concat([rows.assign(suite_version=i) for i in range(1, 5)], ignore_index=True)
        for number, shift in ((1, 0.0), (2, 0.01)):
            moved = fourfold.assign(auroc_weighted_mean=(fourfold["auroc_weighted_mean"] + shift).clip(upper=1.0))
            for end in ("lo", "hi"):
                moved[f"auroc_weighted_{end}"] += shift
            moved["auroc_weighted_hi"] = moved[["auroc_weighted_hi", "auroc_weighted_mean"]].max(axis="columns")
            write_board(moved, folder / f"{number}.csv")
        taken = command("compare", str(folder / "1.csv"), str(folder / "2.csv"))
        print(f"lgl-bench compare, two tables of {len(fourfold):,} rows: {taken}")
        many = pd.concat([rows.assign(suite_version=i) for i in range(1, 41)], ignore_index=True)
        write_board(many, folder / "many.csv")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        read_board(folder / "many.csv")
        seconds = time.perf_counter() - start
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        size = (folder / "many.csv").stat().st_size / 2**20
        print(f"reading and checking {len(many):,} rows ({size:.0f} MiB): {seconds:.2f} s, peak memory +{more:.0f} MiB")
    print(f"bootstrap of two methods, 10 years x 2,000 vertices x 3 seeds, 2,000 draws: {draw(2000, 10, 3):.2f} s")


if __name__ == "__main__":
    main()
