"""Names of a leaderboard CSV: of the file in a run folder, of the columns of a metric, and of the facts of a row.

The record of a row is in `schema.py`; these are the names by which other modules ask for its columns. Nobody else
spells them.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

BOARD_FILE: Final = "leaderboard.csv"
"""The board of a run folder, and of a bundle."""
Suffix: TypeAlias = Literal["mean", "std", "lo", "hi", "n_seeds", "n_years", "reason"]
"""Fields of `schema.Figures`."""


def metric_column(metric: str, suffix: Suffix) -> str:
    """The column that holds one figure of a metric.

    >>> metric_column("auroc_mean", "lo")
    'auroc_mean_lo'
    """
    return f"{metric}_{suffix}"


class Fact:
    """Columns of `schema.Facts`."""

    INTERVAL: Final = "interval"
    FAILED_YEARS: Final = "failed_years"
    FAILED_SEEDS: Final = "failed_seeds"
    ABOVE_FLOOR: Final = "above_floor"
    N_NEW: Final = "n_new"
    MEMORY_VERTICES: Final = "memory_vertices"
    MEMORY_MB: Final = "memory_mb"
    FIT_SECONDS: Final = "fit_seconds"
    PEAK_MEMORY_MB: Final = "peak_memory_mb"
    KERNELS: Final = "kernels"
    TUNING_TRIALS: Final = "tuning_trials"
    CHOSEN: Final = "chosen"
    TRUST: Final = "trust"
    SUBMITTER: Final = "submitter"
    CREATED_AT: Final = "created_at"
    LGL_BENCH: Final = "lgl_bench"
    TORCH: Final = "torch"
    DGL: Final = "dgl"
    NUMPY: Final = "numpy"
    PYTHON: Final = "python"
    DEVICE: Final = "device"
    GIT_COMMIT: Final = "git_commit"
    SCHEMA_VERSION: Final = "schema_version"


MADE_WITH: Final = (
    Fact.CREATED_AT,
    Fact.LGL_BENCH,
    Fact.TORCH,
    Fact.DGL,
    Fact.NUMPY,
    Fact.PYTHON,
    Fact.GIT_COMMIT,
)
"""When and with what a row was made, as plan.json says it too."""
CLAIMED: Final = (
    Fact.SUBMITTER,
    *MADE_WITH[:-1],
    Fact.DEVICE,
    Fact.KERNELS,
    Fact.GIT_COMMIT,
    Fact.MEMORY_VERTICES,
    Fact.MEMORY_MB,
    Fact.FIT_SECONDS,
    Fact.PEAK_MEMORY_MB,
)
"""Facts of a row that stay the word of who ran it, whatever its trust: nobody else can know them from its answers."""
PRINTED: Final = "printed"
"""The trust of a row that a paper prints: it has no checksum, no budget version and no interval."""
