"""Boards and year rows to report on, made in a moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lgl_bench.leaderboard.build import board_rows
from tests.support.plans import plan_text

ABOUT = {
    "suite": "made",
    "suite_version": 1,
    "budget": "quick",
    "budget_version": 2,
    "select": "preset",
    "provenance": {"created_at": "2026-01-01T00:00:00+00:00", "lgl_bench": "0.1.0", "torch": "2", "dgl": "1"},
}
FACTS = ("suite", "suite_version", "budget", "budget_version", "select")
DETECTORS = ("msp", "good(msp,alpha=0.5)", "energy(temperature=1.0)")


def year_frame(
    streams: Sequence[str] = ("dblp-easy-twin",),
    detectors: Sequence[str] = DETECTORS,
    backbones: Sequence[str] = ("gcn", "mlp"),
    thresholds: Sequence[str] = ("", "naive(delta=0.1)"),
    years: Sequence[int] = (2006, 2007, 2008, 2009),
    seeds: int = 3,
    **changes: Any,
) -> pd.DataFrame:
    """Year rows with plausible numbers; every second year has no new vertices and so no AUROC."""
    random = np.random.default_rng(0)
    rows = []
    for stream in streams:
        for at, (backbone, detector) in enumerate((b, d) for b in backbones for d in detectors):
            for threshold in thresholds:
                for seed in range(seeds):
                    for time in years:
                        new = 0 if time % 2 else 20
                        value = 0.9 - 0.08 * at + random.normal(0, 0.01)
                        rows.append(
                            {
                                **{name: ABOUT[name] for name in FACTS},
                                **{
                                    "key": "k",
                                    "stream": stream,
                                    "stream_checksum": "",
                                    "protocol": "temporal",
                                    "split": "temporal",
                                },
                                **{"strategy": "full", "history": "all", "restart": "warm", "label_delay": 0},
                                **{"track": "inductive"},
                                **{"backbone": backbone, "head": "softmax", "detector": detector},
                                **{"threshold": threshold, "preset": "paper", "seed": seed, "time": time, "fold": ""},
                                **{"role": "validation" if time == years[0] and len(years) > 1 else "test"},
                                **{"tuning_trials": 0, "chosen": "", "device": "cpu", "fit_seconds": 1.0 + at},
                                **{"peak_memory_mb": 300.0, "status": "ok", "reason": "", "n_new": new, "n_scored": 90},
                                **{"accuracy": value - 0.1, "auroc": value if new else None},
                                **{"auroc_reason": "" if new else "no new vertices", "aupr": value if new else None},
                                **{"fpr95": 1 - value if new else None, "oscr": value if new else None},
                                **{
                                    "micro_f1": value if threshold else None,
                                    "mcc": value if threshold and new else None,
                                },
                                **{"macro_f1": value - 0.2 if threshold and new else None},
                                # Of 20 new vertices many, of 70 or 90 known ones few; better methods more and fewer.
                                **{"new_rejected": round(new * value) if threshold else None},
                                **{"known_rejected": round(70 * (1 - value)) if threshold else None},
                                **changes,
                            }
                        )
    return pd.DataFrame(rows)


def board_of(years: pd.DataFrame) -> pd.DataFrame:
    """The leaderboard of year rows."""
    return board_rows(years, ABOUT["provenance"])


def write_run(folder: Path, years: pd.DataFrame, stand_ins: dict[str, str] | None = None) -> Path:
    """A run folder with these year rows."""
    folder.mkdir(parents=True)
    board_of(years).to_csv(folder / "leaderboard.csv", index=False)
    years.to_parquet(folder / "years.parquet")
    suite = {"name": "made", "version": 1, "title": "A made suite"}
    (folder / "plan.json").write_text(plan_text(suite, stand_ins=stand_ins or {}), encoding="utf-8")
    return folder
