"""What a metric is: what it reads, what it returns, and how its columns are read everywhere else.

A metric grades the answers to one task and declares the rest: its range and direction, what it needs, how it is called
on the page, how its years become one value per seed, and, if it has one, its resampling kernel. Year rows, the
leaderboard, `compare`, the terminal, the page and the documentation take all of it from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal, TypeAlias

from lgl_bench.core.errors import PluginError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Value, flag_arrays
from lgl_bench.metrics.emerging import ClassShares
from lgl_bench.metrics.kernels import Kernel, SeedAnswers
from lgl_bench.metrics.over_time import OverYears
from lgl_bench.metrics.year_matrix import YearMatrix

Need: TypeAlias = Literal["labels", "novelty", "decision"]
"""The class each vertex was given; its novelty; whether it was rejected. The truth is always there."""
Vertices: TypeAlias = Literal["known", "new", "both", "all"]
"""The scored vertices a metric looks at: without any of them, or without both kinds, it has no value."""


MIN_NEW = 5
"""New vertices that a year must have to count in `Aggregate.ENOUGH_NEW`."""


class Aggregate(StrEnum):
    """How the years (or folds) of a seed become one value."""

    MEAN = "mean over test years"
    BY_NEW = "mean over test years, weighted by new vertices"
    ENOUGH_NEW = f"mean over test years with at least {MIN_NEW} new vertices"
    EVERY_YEAR = "mean over every year, the validation year included"
    AREA = "area under the test years"
    POOLED = "decisions of all test years counted together"
    SO_FAR = "of the last test year, over all years up to it"
    AGAINST_ORACLE = "the same of the threshold oracle, less the row's own"


@dataclass(frozen=True, slots=True)
class GradedAnswers:
    """The answers of one method to one task, beside the truth. Arrays have one entry per scored vertex.

    Attributes:
        truth: Global class ids.
        known: The classes known to the model that answered.
        new: Which vertices are of no known class.
        predicted: The class each was given.
        confidence: The probability of that class; NaN if answers made outside lgl-bench do not give it.
        scores: How novel each looks; `novelty` returns them to a metric that declares the need.
        decisions: Which are called new; `rejected` returns them to a metric that declares the need.
    """

    truth: IntArray
    known: IntArray
    new: BoolArray
    predicted: IntArray
    confidence: FloatArray
    scores: FloatArray | None = None
    decisions: BoolArray | None = None

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def correct(self) -> BoolArray:
        """Which were given their own class."""
        right: BoolArray = self.truth == self.predicted
        return right

    @property
    def novelty(self) -> FloatArray:
        """How novel each vertex looks, higher is more novel."""
        if self.scores is None:
            raise PluginError("it reads novelty, which needs = ('novelty',) asks for")
        return self.scores

    @property
    def rejected(self) -> BoolArray:
        """Which vertices are called new."""
        if self.decisions is None:
            raise PluginError("it reads decisions, which needs = ('decision',) asks for")
        return self.decisions


class BoardMetric(ABC):  # noqa: B024  its two kinds have the methods
    """What the columns of a metric on the leaderboard mean; the attributes of this class are those of an unknown one.

    Attributes:
        name: What `M_mean` and the other columns begin with; the registry sets it.
        label: A few words for the page; the name by default.
        about: One or two sentences for the page.
        range: Least and greatest value; None if there is none.
        higher_is_better: Whether more is better.
        needs: What it reads beside the truth. One that needs a decision has no value in rows without a threshold.
        over_years: How the years of a seed become one value.
        undefined: Why there is no value, if the years do not say.
        looks_at: The vertices that a task must have, and that the bootstrap counts.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    about: ClassVar[str] = ""
    range: ClassVar[tuple[float | None, float | None]] = (None, None)
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[tuple[Need, ...]] = ()
    over_years: ClassVar[Aggregate] = Aggregate.MEAN
    undefined: ClassVar[str] = "no value in any year"
    looks_at: ClassVar[Vertices] = "both"

    def kernel(self, new: BoolArray, answers: SeedAnswers) -> Kernel:
        """Optional: the metric under vertex weights, which the bootstrap draws; without it intervals are Student's."""
        raise NotImplementedError

    @classmethod
    def has_kernel(cls) -> bool:
        """Whether the bootstrap can draw it."""
        return cls.kernel is not BoardMetric.kernel


class Metric(BoardMetric):
    """Base of every metric that grades one task: write `__call__`.

    Attributes:
        year_column: Its column of the year rows, if several metrics share one; otherwise its name.
    """

    year_column: ClassVar[str] = ""

    @abstractmethod
    def __call__(self, answers: GradedAnswers) -> Value:
        """The grade of the answers to one task, or None with the reason why there is none."""


class PooledMetric(BoardMetric):
    """Base of what is graded from the decisions of all test years of a seed, counted together: write `pool`."""

    over_years = Aggregate.POOLED
    needs = ("decision",)

    @abstractmethod
    def pool(self, tp: FloatArray, tn: FloatArray, fp: FloatArray, fn: FloatArray) -> FloatArray:
        """From the sums of new and rejected, known and accepted, known and rejected, new and accepted vertices."""


@dataclass(frozen=True, slots=True)
class ChainAnswers:
    """What the models of a chain of fits, each going on from the last, have answered up to a year.

    Attributes:
        years: Of every year so far, what was made of each class.
        matrix: Every model so far on every year so far; None if the models were not asked.
        no_matrix: Why not.
    """

    years: Sequence[ClassShares]
    matrix: YearMatrix | None = None
    no_matrix: str = ""


class ChainMetric(BoardMetric):
    """Base of what is graded from the models of all years so far, whatever the detector: write `__call__`."""

    over_years = Aggregate.SO_FAR
    needs = ("labels",)
    looks_at = "known"

    @abstractmethod
    def __call__(self, chain: ChainAnswers) -> OverYears:
        """The grade, and how many years or classes stand behind it, or None with the reason why there is none."""
