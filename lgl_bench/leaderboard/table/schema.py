"""A row of the leaderboard: what each column means, its type and its range. Version 4.

A CSV has the columns of `Key`, then for each metric M the seven of `Figures` (`M_mean`, `M_std`, ...), then those of
`Facts`, the last of which is `schema_version`. The headline metrics are always there; any other metric may be added,
with all of its seven columns. These models say names and types, and `lgl_bench.metrics` the ranges of metrics: the one
reader and the one writer of whole tables take their checks from there (`columns.py`, `problems.py`), and
`docs/leaderboard.md` is held against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field

from lgl_bench.grading.row_key import KEY, Key
from lgl_bench.leaderboard.table.names import Suffix

SCHEMA_VERSION = 4

Count = Annotated[int, Field(ge=0)]
Trust = Literal["printed", "self-reported", "recomputed", "rescored", "reproduced"]
TRUST: tuple[Trust, ...] = get_args(Trust)
"""In rising order: a paper says so; who ran it says so; every metric made again from the answers; every answer made
again from the weights; every weight trained again."""
Interval = Literal["bootstrap", "student", ""]
Kernels = Literal["native", "torch", "dgl", ""]
AboveFloor = Literal["yes", "no", "untested", "floor", ""]


class _ColumnRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Figures(_ColumnRecord):
    """The seven columns of a metric. Undefined is empty, with a reason."""

    mean: float | None = Field(description="mean over seeds of the aggregate over years or folds")
    std: Annotated[float, Field(ge=0)] | None = Field(description="deviation over seeds; from two seeds on")
    lo: float | None = Field(description="lower end of the 95 % interval, which `interval` names; from three seeds on")
    hi: float | None = Field(description="upper end")
    n_seeds: Count | None = Field(description="seeds behind the mean; empty if a paper does not say")
    n_years: Count | None = Field(
        description="years or folds behind the value of a seed, the least over seeds; empty if a paper does not say"
    )
    reason: str = Field(description="why there is no mean; empty if there is one")


class Facts(_ColumnRecord):
    """What else is known of a row."""

    interval: Interval = Field(
        description="what the interval of the ranking metric is: `bootstrap` over seeds and vertices, or `student`"
    )
    failed_years: Count | None = Field(description="test years or folds that failed or diverged with at least one seed")
    failed_seeds: Count | None = Field(description="seeds with at least one such year or fold")
    above_floor: AboveFloor = Field(
        description="whether it beats the best of `random`, `degree` and `recency` beyond noise; `floor` for these"
    )
    n_new: Count | None = Field(
        description="new vertices scored in test years or folds, per seed; empty if a paper does not say"
    )
    memory_vertices: Count | None = Field(description="most vertices that its strategy remembered; empty if unknown")
    memory_mb: Annotated[float, Field(ge=0)] | None = Field(description="most that its strategy kept, in MiB")
    fit_seconds: Annotated[float, Field(ge=0)] | None = Field(description="training time of all its fits together")
    peak_memory_mb: Annotated[float, Field(ge=0)] | None = Field(description="most memory a worker held")
    kernels: Kernels = Field(description="what computed its fits; empty if a paper or an older run does not say")
    tuning_trials: Count = Field(description="trials spent on hyperparameters")
    chosen: str = Field(description="what a selection chose")
    trust: Trust = Field(description="who has seen the number come about")
    submitter: str = Field(description="who handed it in; for printed rows the paper")
    created_at: str = Field(description="when, UTC")
    lgl_bench: str = Field(description="version")
    torch: str = Field(description="version")
    dgl: str = Field(description="version")
    numpy: str = Field(description="version")
    python: str = Field(description="version")
    device: str = Field(description="`cpu` or `cuda`")
    git_commit: str = Field(description="of the checkout the run was made in")
    schema_version: Literal[4] = Field(description="of this table")


HEADLINE = (
    *("accuracy", "auroc_weighted", "auroc_mean", "auroc_paper", "aupr", "fpr95", "oscr"),
    *("mcc", "recall_new", "false_alarm_rate", "micro_f1", "macro_f1", "open_f1"),
)
"""The metrics that every table has, in their order; `lgl_bench.metrics` knows what each means."""
DECISIONS = ("mcc", "recall_new", "false_alarm_rate", "open_f1", "regret")
"""What is shown of a decision: what ranks it, and beside that what it consists of."""
SUFFIXES: tuple[Suffix, ...] = get_args(Suffix)
FACTS = tuple(Facts.model_fields)
METHOD = ("stream", "strategy", "backbone", "head", "detector", "threshold")
"""Key columns that name a method on a stream."""
COMPARABLE = (
    "suite",
    "suite_version",
    "stream_checksum",
    "protocol",
    "split",
    "label_delay",
    "track",
    "budget",
    "budget_version",
)
"""Key columns in which rows of a stream must agree before their numbers may be set against each other."""
PLACE = tuple(name for name in KEY if name == "stream" or name in COMPARABLE)
"""Where rows may be compared: one stream, cut one way."""
VARIANT = tuple(name for name in KEY if name not in PLACE)
"""What distinguishes the rows of a place: the method, where its parameters came from, and how they were chosen."""


class BoardRow(NamedTuple):
    """A row of a leaderboard: its key, its metrics by name, and what else is known of it.

    `read.py` and `write.py` hold whole tables against these models; `rows.py` makes single rows of a table.
    """

    key: Key
    metrics: Mapping[str, Figures]
    facts: Facts
