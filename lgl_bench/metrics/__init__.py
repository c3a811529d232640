"""Metrics: how good answers are. Undefined is None with a reason, never a made-up number.

A metric is a class here and a pure function in a file beside it (`ranking`, `decisions`, `classification`,
`calibration`). The registry holds every metric of the leaderboard; `contract` says what one declares.
"""

from __future__ import annotations

from lgl_bench.metrics.contract import (
    Aggregate,
    BoardMetric,
    ChainAnswers,
    ChainMetric,
    GradedAnswers,
    Metric,
    Need,
    PooledMetric,
    Vertices,
)
from lgl_bench.metrics.kernels import Kernel, SeedAnswers
from lgl_bench.metrics.registry import MetricRegistry

__all__ = [
    "Aggregate",
    "BoardMetric",
    "ChainAnswers",
    "ChainMetric",
    "GradedAnswers",
    "Kernel",
    "Metric",
    "MetricRegistry",
    "Need",
    "PooledMetric",
    "SeedAnswers",
    "Vertices",
    "metrics",
]

metrics = MetricRegistry(
    tuple(
        f"lgl_bench.metrics.{name}"
        for name in (
            *("accuracy", "class_macro_f1", "ece", "prevalence"),
            *("auroc", "aupr", "fpr95", "oscr"),
            *("micro_f1", "macro_f1", "mcc", "open_f1", "rejected_share"),
            *("recall_new", "false_alarm_rate", "regret", "lifelong"),
        )
    ),
)
