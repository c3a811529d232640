"""The stored answers of methods, ready to be drawn from: which vertices were new, novelty, what was right, rejected.

True labels come from the stream itself, whose checksum must be the one the rows were made on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray
from lgl_bench.grading.labels import Labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import read_years
from lgl_bench.leaderboard.aggregate import SeedValues, seed_values
from lgl_bench.leaderboard.stats.bootstrap import Cut
from lgl_bench.metrics import SeedAnswers
from lgl_bench.runs.answer_columns import AnswerColumns
from lgl_bench.runs.store import RunStore

Cells: TypeAlias = tuple[str, ...]
"""What names a method: its cells `KEY` as text."""


class Run:
    """A run folder as a source of answers and of one value per seed."""

    def __init__(self, folder: Path, years: pd.DataFrame | None = None) -> None:
        """A run folder, with its year rows if they are known already."""
        self.folder = Path(folder)
        self.store = RunStore(self.folder)
        self._years = years
        # Every detector of a head reads the same file; a task at a time is enough to remember.
        self.unit = lru_cache(maxsize=64)(self._unit)
        self.units = lru_cache(maxsize=None)(self._units)

    @cached_property
    def years(self) -> pd.DataFrame:
        """Year rows."""
        return read_years(self.folder) if self._years is None else self._years

    @cached_property
    def has_answers(self) -> bool:
        """Whether there are any; a folder may hold year rows alone."""
        return next((self.folder / "answers").glob("*.parquet"), None) is not None

    @cached_property
    def by_method(self) -> dict[Cells, Any]:
        """Positions of the year rows of each method, by its cells as text."""
        found: Mapping[Any, Any] = self.years.groupby(list(KEY), sort=False).indices
        return {tuple(str(cell) for cell in cells): at for cells, at in found.items()}

    @cached_property
    def seed_values(self) -> SeedValues:
        """One value per method, seed and metric."""
        return seed_values(self.years)

    def per_seed(self, method: Cells, metric: str) -> dict[int, float]:
        """Values of a metric by seed, of those that have one."""
        values = self.seed_values
        if metric not in values.values:
            return {}
        of_method = values.method == self._numbers.get(method, -1)
        rows = np.flatnonzero(of_method & ~np.isnan(values.values[metric]))
        return {int(values.seed[row]): float(values.values[metric][row]) for row in rows}

    def _units(self, method: Cells) -> dict[tuple[int, int, str], dict[str, Any]]:
        """Year rows of a method by (seed, time, fold): those of test tasks that were answered."""
        rows = self.years.iloc[self.by_method[method]] if method in self.by_method else self.years.iloc[:0]
        rows = rows[(rows["status"] == "ok") & (rows["role"] == "test")]
        wanted = [name for name in ("key", "detector", "threshold", "chosen") if name in rows]
        cells = zip(rows["seed"], rows["time"], rows["fold"], rows[wanted].to_dict("records"), strict=True)
        return {(int(seed), int(time), str(fold)): row for seed, time, fold, row in cells}

    def _unit(self, key: str) -> tuple[AnswerColumns, IntArray]:
        """The columns of a unit's answers by ascending vertex, and the classes known then."""
        record = self.store.fit(key)
        if record is None:
            raise DataError(f"{self.folder}/fits/{key} is missing")
        if not self.store.has_answers(key):
            raise DataError(f"{self.folder}/answers/{key}.parquet is missing")
        return self.store.columns(key).sorted_by_vertex(), np.array(record.known, dtype=np.int64)

    @cached_property
    def _numbers(self) -> dict[Cells, int]:
        found = {}
        methods = self.seed_values.methods[list(KEY)]
        for number, cells in enumerate(methods.itertuples(index=False, name=None)):
            found[tuple(str(cell) for cell in cells)] = number
        return found


@dataclass(slots=True)
class Answers:
    """All that some methods answered on one stream, task by task.

    Attributes:
        cuts: What was asked.
        sheets: Per method, its answers, seeds in ascending order.
    """

    cuts: list[Cut]
    sheets: dict[Cells, list[SeedAnswers]]


class SharedTasks(NamedTuple):
    """Seeds that several methods share, and the tasks (year, fold) that each answered with all of them."""

    seeds: tuple[int, ...]
    tasks: tuple[tuple[int, str], ...]
    left_out: int


Method: TypeAlias = tuple[Run, Cells]
"""A run, and a method in it."""


def shared(methods: Sequence[Method]) -> SharedTasks:
    """What of several methods can be set against each other."""
    tables = [run.units(method) for run, method in methods]
    seeds = sorted(set.intersection(*({seed for seed, *_ in table} for table in tables)))
    asked = sorted({(time, fold) for table in tables for _, time, fold in table})
    tasks = [task for task in asked if all((seed, *task) in table for table in tables for seed in seeds)]
    return SharedTasks(tuple(seeds), tuple(tasks) if seeds else (), len(asked) - len(tasks))


def load_answers(methods: Mapping[Cells, Method], plan: SharedTasks, labels: Labels, *, fixed_split: bool) -> Answers:
    """Answers of several methods on one stream.

    Args:
        methods: By a name of any cells.
        plan: Seeds and tasks that all of them have.
        labels: Of the stream.
        fixed_split: Whether all tasks score the same vertices (folds of a published split): then vertices are drawn
            within classes and together for all folds. Otherwise within new and known of each year.
    """
    tables = {name: run.units(method) for name, (run, method) in methods.items()}
    found = Answers([], {name: [] for name in methods})
    for task in plan.tasks:
        _add_task(found, methods, tables, labels, plan.seeds, task, fixed_split)
    return found


def _add_task(
    found: Answers,
    methods: Mapping[Cells, Method],
    tables: Mapping[Cells, dict[tuple[int, int, str], dict[str, Any]]],
    labels: Labels,
    seeds: Sequence[int],
    task: tuple[int, str],
    fixed_split: bool,
) -> None:
    vertices: IntArray | None = None
    cut: Cut | None = None
    for name, (run, _) in methods.items():
        parts = []
        for seed in seeds:
            row = tables[name][seed, *task]
            own, truth, known, part = _answer(run, row, labels)
            if vertices is None:
                new = ~np.isin(truth, known)
                strata = truth if fixed_split else new.astype(np.int64)
                vertices, cut = own, Cut(new, strata, 0 if fixed_split else len(found.cuts), fold=bool(task[1]))
            if not np.array_equal(vertices, own):
                raise DataError(f"in {task[0]} not all seeds or methods were scored on the same vertices")
            parts.append(part)
        novelty, correct, rejected = zip(*parts, strict=True)
        decided = None if rejected[0] is None else np.stack([part for part in rejected if part is not None])
        found.sheets[name].append(SeedAnswers(np.stack(novelty), np.stack(correct), decided))
    assert cut is not None
    found.cuts.append(cut)


def _answer(run: Run, row: dict[str, Any], labels: Labels) -> tuple[IntArray, IntArray, IntArray, tuple[Any, Any, Any]]:
    """Vertices in ascending order, their classes, the known classes, and novelty, what was right, what was rejected."""
    columns, known = run.unit(str(row["key"]))
    detector = str(row.get("chosen") or row["detector"])
    truth = labels.of(columns.vertices)
    novelty = columns.novelty(detector)
    if novelty is None:
        raise DataError(f"the answers hold no novelty of {detector}")
    rejected = columns.rejected(detector, str(row["threshold"]))
    return columns.vertices, truth, known, (novelty, truth == columns.predicted, rejected)
