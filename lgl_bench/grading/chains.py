"""What is graded from the models of several years together: forgetting, transfer, emergence.

It depends on the chain of fits alone, so every detector of a chain has the same. The row of a year has it over all
years up to that one; the board takes the last. A row whose head is chosen has that of the chain that answers the year.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray
from lgl_bench.grading.answers import Reader
from lgl_bench.metrics import ChainAnswers, metrics
from lgl_bench.metrics.emerging import ClassShares, YearAnswers, class_shares
from lgl_bench.metrics.over_time import OverYears
from lgl_bench.metrics.year_matrix import YearMatrix, class_counts
from lgl_bench.plans.fits import ChainSpec, Unit
from lgl_bench.plans.plan import Plan
from lgl_bench.runs.matrix_row import matrix_vertices, matrix_years

NO_CHAIN = "tasks do not build on each other"
NO_MATRIX = "not every model answered for every year: a run with --matrix lets them"


@dataclass(slots=True)
class _Growing:
    """The matrix of a chain while its models join, one after the other; arrays as in `YearMatrix`.

    Attributes:
        years: All that exist, from the first that is learned or answered for.
        asked: The columns that models answer for: those from the first year of the matrix on.
        year: Of every vertex, its column.
        label: Of every vertex, its class, by number.
        classes: Global ids of the classes.
        truth: Of every vertex, its class.
    """

    years: list[int]
    asked: BoolArray
    year: IntArray
    label: IntArray
    classes: IntArray
    truth: IntArray
    right: FloatArray
    known: BoolArray

    def add(self, row: int, predicted: IntArray, known: Sequence[int]) -> None:
        """Takes a model in; of two that learned up to the same year the newer one stands."""
        shape = len(self.years), len(self.classes)
        counts = class_counts(self.year, self.label, predicted == self.truth, *shape)
        self.right[row] = np.where(self.asked[:, None], counts, np.nan)
        self.known[row] = np.isin(self.classes, known)

    def upto(self, row: int, year: int) -> YearMatrix:
        """The models up to a row, on the years up to one."""
        columns = max(sum(one <= year for one in self.years), row + 1)
        everything = np.ones(len(self.year), dtype=np.bool_)
        count = class_counts(self.year, self.label, everything, len(self.years), len(self.classes))
        years = tuple(self.years[:columns])
        return YearMatrix(years, count[:columns], self.right[: row + 1, :columns].copy(), self.known[: row + 1].copy())


class ChainGrades:
    """Grades the units of a plan; a chain is graded as a whole, once."""

    def __init__(self, plan: Plan, reader: Reader) -> None:
        self.plan, self.reader = plan, reader
        self._of = cache(self._grade)

    def of(self, unit: Unit) -> dict[str, OverYears]:
        """The grades of a unit's row, by metric."""
        return self._of(unit.chain).get(unit.key) or nothing(NO_CHAIN)

    def _grade(self, chain: ChainSpec) -> dict[str, dict[str, OverYears]]:
        if not chain.strategy.name:
            return {}
        units = self.plan.units[chain]
        matrices = dict(year_matrices(self.reader, units))
        graders = {name: plugin() for name, plugin in metrics.chained().items()}
        years: list[ClassShares] = []
        found = {}
        for unit in units:
            answered = self.reader.answered(unit)
            if answered is not None:
                year = YearAnswers(answered.time, answered.truth, answered.known, answered.columns.predicted)
                years.append(class_shares(year))
            matrix = matrices.get(unit.key)
            so_far = ChainAnswers(tuple(years), matrix, "" if matrix else NO_MATRIX)
            found[unit.key] = {name: grade(so_far) for name, grade in graders.items()}
        return found


def nothing(reason: str) -> dict[str, OverYears]:
    """No grades, for a reason."""
    return {name: OverYears(None, 0, reason) for name in metrics.chained()}


def year_matrices(reader: Reader, units: Sequence[Unit]) -> Iterator[tuple[str, YearMatrix]]:
    """After each unit of a chain, the matrix of the models so far on the years so far; none once a row is missing.

    A row is missing if a model that ended well was not asked. A fit that failed has no model: its row is NaN.
    """
    growing: _Growing | None = None
    for unit in units:
        record = reader.record(unit)
        if record is None or record.status != "ok" or record.trained_up_to is None:
            continue
        predicted = reader.store.matrix_row(unit.key)
        if predicted is None:
            return
        if growing is None:
            growing = _started(reader, units, record.trained_up_to)
        if len(predicted) != len(growing.truth):
            raise DataError(
                f"{reader.store.folder}/fits/{unit.key}: its row of the matrix of years has {len(predicted):,} "
                f"classes for {len(growing.truth):,} vertices"
            )
        row = growing.years.index(record.trained_up_to)
        growing.add(row, predicted, record.known)
        yield unit.key, growing.upto(row, unit.time)


def _started(reader: Reader, units: Sequence[Unit], first: int) -> _Growing:
    stream = reader.stream(units[0].chain.stream)
    answered = matrix_years(stream.times, [unit.time for unit in units])
    vertices = matrix_vertices(stream, answered)
    years = [year for year in stream.times if min(first, answered[0]) <= year <= answered[-1]]
    classes, label = np.unique(stream.labels[vertices], return_inverse=True)
    size = len(years), len(years), len(classes)
    return _Growing(
        years,
        np.array(years) >= answered[0],
        np.searchsorted(years, stream.born[vertices]),
        label,
        classes,
        stream.labels[vertices],
        np.full(size, np.nan),
        np.zeros((len(years), len(classes)), dtype=np.bool_),
    )
