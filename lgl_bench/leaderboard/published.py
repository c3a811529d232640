"""Figures printed in papers as leaderboard rows: `trust = printed`, no interval, no checksum.

"Open-World Lifelong Graph Learning" prints accuracy and AUROC of every backbone and detector, and the micro F1 of four
thresholds, each applied to "the best performing model" of its stream, which it does not name: those rows have `best`
for backbone and detector. Its AUROC is the plain mean over years or left-out classes, our `auroc_paper`.
docs/comparing.md says which printed figures come from a fault in the published code.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from lgl_bench.core.expressions import build, complete, parse
from lgl_bench.leaderboard.table.names import PRINTED, Fact, metric_column
from lgl_bench.leaderboard.table.schema import HEADLINE
from lgl_bench.leaderboard.table.write import canonical

PAPER = "Hoffmann, Galke, Scherp: Open-World Lifelong Graph Learning (2023)"
SUITE = "open-world-lgl"
SEEDS = 10
BEST = "best"
THRESHOLDS = ("open-wrf", "gdoc", "openwgl", "naive")
"""Those of its table of decisions, as it has them from left to right."""


def open_world_lgl() -> pd.DataFrame:
    """The paper's tables."""
    from lgl_bench.plans.paper_presets import table

    rows = [_result(row) for row in table("results")]
    for row in table("thresholds"):
        rows += [_threshold(row["dataset"], name, float(row[name])) for name in THRESHOLDS]
    return canonical(pd.DataFrame(rows))


def _result(row: dict[str, str]) -> dict[str, Any]:
    from lgl_bench.detectors import detectors, head_of
    from lgl_bench.plans.paper_presets import detector_preset, resolve_good

    place = (row["dataset"], row["split"], row["backbone"])
    text = "good(preset)" if row["detector"] == "good" else row["detector"]
    expression = complete(resolve_good(parse(text), *place), detectors, lambda name: detector_preset(*place, name))
    about = {"backbone": row["backbone"], "head": head_of(build(expression, detectors)), "detector": str(expression)}
    figures = {"accuracy": float(row["accuracy"]), "auroc_paper": float(row["auroc"])}
    return _row(row["dataset"], row["split"], about, figures)


def _threshold(stream: str, name: str, printed: float) -> dict[str, Any]:
    from lgl_bench.plans.paper_presets import STATIC
    from lgl_bench.thresholds import thresholds

    about = {"backbone": BEST, "head": "", "detector": BEST, "threshold": str(complete(parse(name), thresholds))}
    return _row(stream, "60-20-20" if stream in STATIC else "temporal", about, {"micro_f1": printed})


def _row(stream: str, split: str, about: dict[str, str], figures: dict[str, float]) -> dict[str, Any]:
    temporal = split == "temporal"
    row: dict[str, Any] = {
        "suite": SUITE,
        "suite_version": 1,
        "stream": stream,
        "protocol": "temporal" if temporal else "leave-class-out",
        "split": split,
        "strategy": "full" if temporal else "",
        "history": "all",
        "label_delay": 0,
        "track": "inductive",
        "threshold": "",
        "preset": "paper",
        "budget": "paper",
        "budget_version": 0,
        "select": "preset",
        **about,
    }
    for metric in HEADLINE:
        printed = figures.get(metric)
        row[metric_column(metric, "mean")] = printed
        row[metric_column(metric, "n_seeds")] = SEEDS if printed is not None else 0
        row[metric_column(metric, "reason")] = "" if printed is not None else "not printed"
    return row | {Fact.TUNING_TRIALS: 0, Fact.TRUST: PRINTED, Fact.SUBMITTER: PAPER}
