"""The paired bootstrap over seeds and vertices; the years are fixed.

Vertices are drawn with replacement, new and known apart within each year, the same draw for every method and seed. A
stratum of m vertices is drawn m - 1 times and weighted by m / (m - 1), which makes the variance right for small m; a
stratum of one vertex stays as it is.

Three seeds cannot be resampled: a plain bootstrap of them rejects true nulls up to a quarter of the time. So seeds
enter by their spread. Of the difference d_s of each of S seeds and its draws, with V_1 the variance over draws of one
seed's difference (mean over seeds) and V_S that of the mean over seeds:

    vertices  V = max(0, (S V_S - V_1) / (S - 1))     what all seeds share; the rest of V_S is in the seeds' spread
    seeds     X = var(d_s) / S
    error     sqrt(V + X), with  1 / df = w / (S - 1) + (1 - w) / (n - strata),  w = X / (V + X)

n counts the vertices of the rarer kind the metric looks at. With w squared the middle line would be Satterthwaite's,
which at three seeds rejects up to 8 % of true nulls; docs/comparing.md prints what this one does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.leaderboard.stats.evidence import Evidence, of_seeds
from lgl_bench.leaderboard.stats.student import Difference
from lgl_bench.metrics import Aggregate, Kernel, Metric, PooledMetric, SeedAnswers, kernels, metrics
from lgl_bench.metrics.contract import MIN_NEW

Method = TypeVar("Method", bound=Hashable)
DRAWS = 2000
_CELLS = 2**17
_COUNTS = "counts"
"""What is added up for every pooled metric."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is asked in one task, the same for every method and seed.

    Attributes:
        new: (n,) which of the scored vertices are new.
        strata: (n,) vertices are drawn within equal numbers.
        block: Tasks of one block have the same vertices and are drawn together, as the folds of a fixed split.
        fold: Whether it is a fold of a static graph, not a year.
    """

    new: BoolArray
    strata: IntArray
    block: int
    fold: bool = False


@dataclass(frozen=True, slots=True)
class Resampled:
    """A metric of one method.

    Attributes:
        points: The metric as it is, (seeds,).
        tasks: What each task that defines the metric adds to it, (tasks, seeds); none if it is not a sum over tasks.
        draws: The metric under every draw, (draws, seeds).
        df: Degrees of freedom of its vertices.
    """

    points: FloatArray
    tasks: FloatArray
    draws: FloatArray
    df: float


def drawable(*, decisions: bool) -> list[str]:
    """Metrics that can be drawn: those of decisions, or the others."""
    able = [plugin for plugin in metrics.in_order() if plugin.has_kernel() or issubclass(plugin, PooledMetric)]
    return [plugin.name for plugin in able if ("decision" in plugin.needs) == decisions]


def resample(
    cuts: Sequence[Cut],
    methods: Mapping[Method, Sequence[SeedAnswers]],
    names: Sequence[str],
    draws: int = DRAWS,
    seed: int = 0,
    after_task: Callable[[], None] = lambda: None,
) -> dict[Method, dict[str, Resampled]]:
    """Draws vertices and grades every method under each draw.

    Args:
        cuts: The tasks.
        methods: Per method, its answers to every task.
        names: Which metrics, of those that are `drawable`; one that no task defines is left out.
        draws: How many.
        seed: Of the draws; the same cuts and seed make the same draws whatever the methods.
        after_task: Called when the draws of a task are graded.
    """
    shares = {metric: found for metric in names if (found := task_weights(cuts, metric)).any()}
    sums = {(name, metric): _Sum(draws) for name in methods for metric in {_sum_of(metric) for metric in shares}}
    for at, cut in enumerate(cuts):
        used = {_sum_of(metric): float(share[at]) for metric, share in shares.items() if share[at]}
        kernels_used = {_kernel_of(metric): metric for metric in used}
        made = {
            (name, kernel): _made_kernel(metric, cut, answers[at])
            for name, answers in methods.items()
            for kernel, metric in kernels_used.items()
        }
        for start, weights in _weights(cut, draws, seed) if used else ():
            for (name, kernel), score in made.items():
                values = score(weights)
                for metric, share in used.items():
                    if _kernel_of(metric) == kernel:
                        sums[name, metric].add(start, values * share)
        after_task()
    return {
        name: {
            metric: sums[name, _sum_of(metric)].resampled(metric, _df(cuts, metric, share))
            for metric, share in shares.items()
        }
        for name in methods
    }


class _Sum:
    """A metric, or the counts behind several, added up over tasks: (draws, seeds) in the last two places."""

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self.tasks: list[FloatArray] = []
        self.drawn: FloatArray | None = None

    def add(self, start: int, values: FloatArray) -> None:
        """What a task adds under some draws; a negative start stands for the vertices as they are."""
        if start < 0:
            self.tasks.append(values[..., 0, :])
            return
        if self.drawn is None:
            self.drawn = np.zeros((*values.shape[:-2], self.draws, values.shape[-1]))
        self.drawn[..., start : start + values.shape[-2], :] += values

    def resampled(self, metric: str, df: float) -> Resampled:
        """The metric."""
        assert self.drawn is not None
        tasks = np.stack(self.tasks)
        pooled = metrics.described(metric)
        if not issubclass(pooled, PooledMetric):
            return Resampled(tasks.sum(axis=0), tasks, self.drawn, df)
        score = pooled().pool
        return Resampled(score(*tasks.sum(axis=0)), np.empty((0, tasks.shape[-1])), score(*self.drawn), df)


def _sum_of(metric: str) -> str:
    """What is added up for a metric: itself, or counts that are graded afterwards."""
    return _COUNTS if issubclass(metrics.described(metric), PooledMetric) else metric


def _kernel_of(metric: str) -> str:
    """Metrics with the same kernel have the same name here, so that it is computed once."""
    described = metrics.described(metric)
    return (described.year_column or metric) if issubclass(described, Metric) else metric


def _made_kernel(metric: str, cut: Cut, answers: SeedAnswers) -> Kernel:
    if metric == _COUNTS:
        return kernels.counts(cut.new, answers.decided)
    return metrics.get(metric)().kernel(cut.new, answers)


def task_weights(cuts: Sequence[Cut], metric: str) -> FloatArray:
    """The weight of each task in the aggregate over years: 0 if the task does not define the metric.

    Counts of decisions are added up as they are; without new or without known vertices in all tasks they grade nothing.
    """
    new = np.array([cut.new.sum() for cut in cuts], dtype=np.float64)
    known = np.array([(~cut.new).sum() for cut in cuts], dtype=np.float64)
    both = (new > 0) & (known > 0)
    described = metrics.described(metric)
    if issubclass(described, PooledMetric):
        return np.where((new + known > 0) & new.any() & known.any(), 1.0, 0.0)
    defined = {"known": known > 0, "new": new > 0, "both": both, "all": new + known > 0}[described.looks_at]
    raw = defined.astype(np.float64)
    if described.over_years is Aggregate.BY_NEW:
        raw = np.where(defined, new, 0.0)
    elif described.over_years is Aggregate.ENOUGH_NEW:
        folds = np.array([cut.fold for cut in cuts], dtype=bool)
        raw = (defined & ((new >= MIN_NEW) | folds)).astype(np.float64)
    return raw / raw.sum() if raw.any() else raw


def evidence(a: Resampled, b: Resampled) -> Evidence:
    """The difference b - a and what its error is made of; the seeds of both are paired in order."""
    each, drawn = b.points - a.points, b.draws - a.draws
    seeds = len(each)
    one = float(np.mean(np.var(drawn, axis=0, ddof=1)))
    all_ = float(np.var(drawn.mean(axis=1), ddof=1))
    vertices = max(0.0, (seeds * all_ - one) / (seeds - 1)) if seeds > 1 else all_
    return of_seeds(each, fixed=vertices, df=max(min(a.df, b.df), 1.0))


def difference(a: Resampled, b: Resampled) -> Difference:
    """The difference b - a with interval and p; NaN below three seeds, unless the two agree under every draw."""
    return evidence(a, b).difference()


def interval(one: Resampled) -> tuple[float, float]:
    """The interval of a metric itself: that of its difference from 0; NaN below three seeds."""
    nothing = Resampled(np.zeros_like(one.points), np.zeros_like(one.tasks), np.zeros_like(one.draws), one.df)
    found = difference(nothing, one)
    return float(found.lo), float(found.hi)


def _weights(cut: Cut, draws: int, seed: int) -> Iterator[tuple[int, FloatArray]]:
    """Yields (-1, ones) for the vertices as they are, then (first draw, weights) in blocks that fit a cache."""
    yield -1, np.ones((len(cut.new), 1))
    rng = np.random.default_rng([seed, cut.block])
    size = max(1, _CELLS // max(len(cut.new), 1))
    members = [np.flatnonzero(cut.strata == code) for code in np.unique(cut.strata)]
    for start in range(0, draws, size):
        count = min(size, draws - start)
        weights = np.ones((len(cut.new), count))
        for stratum in members:
            m = len(stratum)
            if m > 1:
                taken = rng.integers(0, m, size=(m - 1, count))
                cells = taken * count + np.arange(count)
                times = np.bincount(cells.ravel(), minlength=m * count).reshape(m, count)
                weights[stratum] = times * (m / (m - 1))
        yield start, weights


def _df(cuts: Sequence[Cut], metric: str, share: FloatArray) -> float:
    """Degrees of freedom of the vertices: those of the rarer kind, less one per stratum."""
    used = [cut for cut, weight in zip(cuts, share, strict=True) if weight]
    new = sum(max(int(cut.new.sum()) - 1, 0) for cut in used)
    known = sum(max(int((~cut.new).sum()) - 1, 0) for cut in used)
    counted = {"known": known, "new": new, "both": min(new, known), "all": new + known}
    return float(counted[metrics.described(metric).looks_at])
