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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.leaderboard.stats import kernels
from lgl_bench.leaderboard.stats.evidence import Evidence, of_seeds
from lgl_bench.leaderboard.stats.student import Difference

DRAWS = 2000
_FEWEST_NEW = 5
_CELLS = 2**17


@dataclass(frozen=True, slots=True)
class Cut:
    """What is asked in one task, the same for every method and seed.

    Attributes:
        new: (n,) which of the scored vertices are new.
        strata: (n,) vertices are drawn within equal numbers.
        block: Tasks of one block have the same vertices and are drawn together, as the folds of a fixed split.
    """

    new: BoolArray
    strata: IntArray
    block: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one method answered in one task: (seeds, n) each; `rejected` where it has a threshold."""

    novelty: FloatArray
    correct: BoolArray
    rejected: BoolArray | None = None


@dataclass(frozen=True, slots=True)
class Resampled:
    """A metric of one method.

    Attributes:
        tasks: What each task that defines the metric adds to it, (tasks, seeds).
        draws: The metric under every draw, (draws, seeds).
        df: Degrees of freedom of its vertices.
    """

    tasks: FloatArray
    draws: FloatArray
    df: float

    @property
    def points(self) -> FloatArray:
        """The metric as it is, (seeds,)."""
        found: FloatArray = self.tasks.sum(axis=0)
        return found


_KERNELS: dict[str, Callable[[Cut, Sheet], kernels.Kernel]] = {
    "accuracy": lambda cut, sheet: kernels.accuracy(cut.new, sheet.correct),
    "auroc_weighted": lambda cut, sheet: kernels.auroc(cut.new, sheet.novelty),
    "auroc_mean": lambda cut, sheet: kernels.auroc(cut.new, sheet.novelty),
    "micro_f1": lambda cut, sheet: kernels.micro_f1(cut.new, _decided(sheet)),
    "macro_f1": lambda cut, sheet: kernels.macro_f1(cut.new, _decided(sheet)),
    "mcc": lambda cut, sheet: kernels.mcc(cut.new, _decided(sheet)),
}
METRICS = tuple(_KERNELS)
"""Metrics that can be drawn."""


def resample(
    cuts: Sequence[Cut],
    methods: Mapping[Any, Sequence[Sheet]],
    metrics: Sequence[str],
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[Any, dict[str, Resampled]]:
    """Draws vertices and grades every method under each draw.

    Args:
        cuts: The tasks.
        methods: Per method, its sheet of every task.
        metrics: Which, of `METRICS`; one that no task defines is left out.
        draws: How many.
        seed: Of the draws; the same cuts and seed give the same draws whatever the methods.
    """
    shares = {metric: found for metric in metrics if (found := task_weights(cuts, metric)).any()}
    tasks: dict[tuple[Any, str], list[FloatArray]] = {(name, metric): [] for name in methods for metric in shares}
    drawn: dict[tuple[Any, str], FloatArray] = {}
    for at, cut in enumerate(cuts):
        used = [metric for metric, share in shares.items() if share[at]]
        made = {
            (name, metric): _KERNELS[metric](cut, sheets[at]) for name, sheets in methods.items() for metric in used
        }
        for start, weights in _weights(cut, draws, seed) if used else ():
            for (name, metric), kernel in made.items():
                value = kernel(weights) * shares[metric][at]
                if start < 0:
                    tasks[name, metric].append(value[0])
                    continue
                table = drawn.setdefault((name, metric), np.zeros((draws, value.shape[1])))
                table[start : start + len(value)] += value
    return {
        name: {
            metric: Resampled(np.stack(tasks[name, metric]), drawn[name, metric], _df(cuts, metric, share))
            for metric, share in shares.items()
        }
        for name in methods
    }


def task_weights(cuts: Sequence[Cut], metric: str) -> FloatArray:
    """The weight of each task in the aggregate over years: 0 where the task does not define the metric."""
    new = np.array([cut.new.sum() for cut in cuts], dtype=np.float64)
    known = np.array([(~cut.new).sum() for cut in cuts], dtype=np.float64)
    if metric == "auroc_weighted":
        raw = np.where(known > 0, new, 0.0)
    elif metric == "auroc_mean":
        raw = ((known > 0) & (new >= _FEWEST_NEW)).astype(np.float64)
    elif metric == "accuracy":
        raw = (known > 0).astype(np.float64)
    else:
        raw = (new + known > 0).astype(np.float64)
    return raw / raw.sum() if raw.any() else raw


def evidence(a: Resampled, b: Resampled) -> Evidence:
    """The difference b - a and what its error is made of; the seeds of both are paired in order."""
    each, drawn = (b.tasks - a.tasks).sum(axis=0), b.draws - a.draws
    seeds = len(each)
    one = float(np.mean(np.var(drawn, axis=0, ddof=1)))
    all_ = float(np.var(drawn.mean(axis=1), ddof=1))
    vertices = max(0.0, (seeds * all_ - one) / (seeds - 1)) if seeds > 1 else all_
    return of_seeds(each, fixed=vertices, df=max(min(a.df, b.df), 1.0))


def difference(a: Resampled, b: Resampled) -> Difference:
    """The difference b - a with interval and p; NaN below three seeds, unless the two agree under every draw."""
    return evidence(a, b).difference()


def _weights(cut: Cut, draws: int, seed: int) -> Any:
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
    """Degrees of freedom of the vertices: those of the rarer kind, less one a stratum."""
    used = [cut for cut, weight in zip(cuts, share, strict=True) if weight]
    new = sum(max(int(cut.new.sum()) - 1, 0) for cut in used)
    known = sum(max(int((~cut.new).sum()) - 1, 0) for cut in used)
    if metric.startswith("auroc"):
        return float(min(new, known))
    return float(known if metric == "accuracy" else new + known)


def _decided(sheet: Sheet) -> BoolArray:
    if sheet.rejected is None:
        raise ValueError("a decision is graded, and the method has no threshold")
    return sheet.rejected
