"""A row of the leaderboard: what each column means, its type and its range. Version 2.

A CSV has the columns of `Key`, then for each metric M the seven of `Figures` (`M_mean`, `M_std`, ...), then those of
`Facts`, the last of which is `schema_version`. The headline metrics are always there; any other metric may be added,
with all of its seven columns. These models are the only place that knows names, types and ranges: reading and writing
whole tables take their checks from here (`columns.py`, `problems.py`), and `docs/leaderboard.md` is held against them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION = 2
NO_REASON = "is empty, and so is the reason; say why there is no value"
HALF_INTERVAL = "leaves half an interval; give both ends or neither"
OUTSIDE = "puts the mean outside its interval; lo <= mean <= hi must hold"
NO_CHECKSUM = "is empty; only printed rows have no checksum"
NO_BUDGET_VERSION = "is 0; only printed rows have no budget version"

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Trust = Literal["printed", "self-reported", "recomputed", "rescored", "reproduced"]
TRUST: tuple[Trust, ...] = get_args(Trust)
"""In rising order: a paper says so; who ran it says so; every metric made again from the answers; every answer made
again from the weights; every weight trained again."""
Interval = Literal["bootstrap", "student", ""]
AboveFloor = Literal["yes", "no", "untested", "floor", ""]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Key(_Part):
    """What tells a row apart; no two rows of a table have the same key."""

    suite: Name = Field(description="the suite it belongs to")
    suite_version: int = Field(ge=1, description="results of another version are not comparable")
    stream: Name = Field(description="the graph; a twin has its own name")
    stream_checksum: str = Field(description="sha256 of the stream; empty only in printed rows")
    protocol: Name = Field(
        description="how the stream was cut into tasks; `temporal(t0=2004)` at another t0 than its manifest's"
    )
    split: Name = Field(description="`temporal`, `60-20-20`, `planetoid`")
    history: str = Field(description="`all`, or the number of years that were kept")
    restart: str = Field(description="`warm` or `cold`; empty where tasks do not build on each other")
    label_delay: Count = Field(description="years until a label arrived")
    track: Name = Field(description="`inductive`, `transductive`, or `upper bound` where a threshold saw the truth")
    backbone: Name = Field(description="the graph neural network, with parameters where they were swept")
    head: str = Field(description="what was made of its output")
    detector: Name = Field(description="canonical expression of the novelty score")
    threshold: str = Field(description="canonical expression of the decision; empty in rows without one")
    preset: str = Field(description="where hyperparameters came from")
    budget: Name = Field(description="how much a fit could spend")
    budget_version: Count = Field(description="of that budget; results of another are not comparable; 0 if printed")
    select: str = Field(description="how parameters were chosen")


class Figures(_Part):
    """The seven columns of a metric. Undefined is empty, with a reason."""

    mean: float | None = Field(description="mean over seeds of the aggregate over years or folds")
    std: Annotated[float, Field(ge=0)] | None = Field(description="deviation over seeds; from two seeds on")
    lo: float | None = Field(description="lower end of the 95 % interval, which `interval` names; from three seeds on")
    hi: float | None = Field(description="upper end")
    n_seeds: Count | None = Field(description="seeds behind the mean; empty where a paper does not say")
    n_years: Count | None = Field(
        description="years or folds behind the value of a seed, the least over seeds; empty where a paper does not say"
    )
    reason: str = Field(description="why there is no mean; empty where there is one")

    @model_validator(mode="after")
    def _hang_together(self) -> Figures:
        if self.mean is None and not self.reason:
            raise ValueError(f"mean: {NO_REASON}")
        if (self.lo is None) != (self.hi is None):
            raise ValueError(f"lo: {HALF_INTERVAL}")
        if self.lo is not None and self.hi is not None and (self.mean is None or not self.lo <= self.mean <= self.hi):
            raise ValueError(f"lo: {OUTSIDE}")
        return self


class Facts(_Part):
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
        description="new vertices scored in test years or folds, per seed; empty where a paper does not say"
    )
    fit_seconds: Annotated[float, Field(ge=0)] | None = Field(description="training time of all its fits together")
    peak_memory_mb: Annotated[float, Field(ge=0)] | None = Field(description="most memory a worker held")
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
    schema_version: Literal[2] = Field(description="of this table")


class Metric(NamedTuple):
    """What is known of a metric: the range of its values, and whether more is better."""

    low: float | None
    high: float | None
    higher_is_better: bool = True


_SHARE = Metric(0.0, 1.0)
HEADLINE: dict[str, Metric] = {
    "accuracy": _SHARE,
    "auroc_weighted": _SHARE,
    "auroc_mean": _SHARE,
    "auroc_paper": _SHARE,
    "aupr": _SHARE,
    "fpr95": Metric(0.0, 1.0, higher_is_better=False),
    "oscr": _SHARE,
    "mcc": Metric(-1.0, 1.0),
    "recall_new": _SHARE,
    "false_alarm_rate": Metric(0.0, 1.0, higher_is_better=False),
    "micro_f1": _SHARE,
    "macro_f1": _SHARE,
    "open_f1": _SHARE,
}
OTHERS: dict[str, Metric] = {
    "class_macro_f1": _SHARE,
    "aupr_known": _SHARE,
    "fpr95_known": Metric(0.0, 1.0, higher_is_better=False),
    "prevalence": _SHARE,
    "rejected_share": _SHARE,
    "auroc_area": _SHARE,
    "accuracy_area": _SHARE,
    "ece": Metric(0.0, 1.0, higher_is_better=False),
    "regret": Metric(-2.0, 2.0, higher_is_better=False),
}
CLAIMED = (
    *("submitter", "created_at", "lgl_bench", "torch", "dgl", "numpy", "python", "device", "git_commit"),
    *("fit_seconds", "peak_memory_mb"),
)
"""Facts of a row that stay the word of who ran it, whatever its trust: nobody else can tell them from its answers."""
DECISIONS = ("mcc", "recall_new", "false_alarm_rate", "open_f1", "regret")
"""What is shown of a decision: what ranks it, and beside that what it consists of."""
STATIC_PROTOCOLS = ("leave-class-out", "transductive")
"""Protocols whose tasks are folds of one graph, not years."""

KEY = tuple(Key.model_fields)
SUFFIXES = tuple(Figures.model_fields)
FACTS = tuple(Facts.model_fields)
METHOD = ("stream", "backbone", "head", "detector", "threshold")
COMPARABLE = (
    "suite",
    "suite_version",
    "stream_checksum",
    "protocol",
    "split",
    "history",
    "restart",
    "label_delay",
    "track",
    "budget",
    "budget_version",
)
"""Key columns in which rows must agree before their numbers may be set against each other."""


def metric(name: str) -> Metric:
    """What is known of a metric; nothing is assumed of one that nobody has described."""
    return HEADLINE.get(name) or OTHERS.get(name) or Metric(None, None)


def ranks_by(protocol: str, threshold: str) -> str:
    """The metric that ranks a row; rows are ranked among those with the same one.

    Rows with a threshold share their detector's AUROC and are ranked by their decisions. Folds of a static graph count
    alike; years count by their number of new vertices, because many have but one or two.
    """
    if threshold:
        return "mcc"
    return "auroc_mean" if protocol in STATIC_PROTOCOLS else "auroc_weighted"


class Row(_Part):
    """One row, in its three parts."""

    key: Key
    metrics: dict[str, Figures]
    facts: Facts

    @model_validator(mode="after")
    def _metrics_are_right(self) -> Row:
        missing = [name for name in HEADLINE if name not in self.metrics]
        if missing:
            raise ValueError(f"the headline metric {missing[0]} is missing")
        for name, figures in self.metrics.items():
            known = metric(name)
            if figures.mean is None:
                continue
            if known.low is not None and figures.mean < known.low:
                raise ValueError(f"{name}_mean: {figures.mean} is below {known.low:g}")
            if known.high is not None and figures.mean > known.high:
                raise ValueError(f"{name}_mean: {figures.mean} is above {known.high:g}")
        if not self.key.stream_checksum and self.facts.trust != "printed":
            raise ValueError(f"stream_checksum: {NO_CHECKSUM}")
        if not self.key.budget_version and self.facts.trust != "printed":
            raise ValueError(f"budget_version: {NO_BUDGET_VERSION}")
        return self

    @classmethod
    def from_flat(cls, cells: dict[str, Any]) -> Row:
        """From one value a column."""
        names = [column.removesuffix("_reason") for column in cells if column.endswith("_reason")]
        return cls(
            key=Key(**{column: cells[column] for column in KEY}),
            metrics={name: Figures(**{suffix: cells[f"{name}_{suffix}"] for suffix in SUFFIXES}) for name in names},
            facts=Facts(**{column: cells[column] for column in FACTS}),
        )

    def flat(self) -> dict[str, Any]:
        """One value a column, in the order of a CSV."""
        cells = self.key.model_dump()
        for name, figures in self.metrics.items():
            cells |= {f"{name}_{suffix}": value for suffix, value in figures.model_dump().items()}
        return cells | self.facts.model_dump()
