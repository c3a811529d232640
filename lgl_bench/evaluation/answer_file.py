"""Answers made elsewhere, in a Parquet or CSV file: whatever is wrong with one is named by its row and column.

vertex      id of the vertex in its stream, as `stream.ids` has it
time        year of the task that asks about it
class_pred  id of a class that is known by then
novelty     finite, on any scale; higher is more novel
rejected    optional: whether it is called new
confidence  optional: probability of the predicted class
fold        of protocols without years: what the task leaves out
seed        optional: several seeds in one file
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.parquet import ParquetError, open_parquet
from lgl_bench.core.types import BoolArray, IntArray, Task, Truth
from lgl_bench.evaluation.answer import Answer, checked_answer
from lgl_bench.runs.answer_columns import CONFIDENCE, PREDICTED, TIME, VERTEX
from lgl_bench.streams.lookup import positions

NOVELTY, REJECTED, FOLD, SEED = "novelty", "rejected", "fold", "seed"
_NEEDED = (VERTEX, TIME, PREDICTED, NOVELTY)
_WHOLE = (VERTEX, TIME, PREDICTED, SEED)
_COLUMNS = (*_NEEDED, REJECTED, CONFIDENCE, FOLD, SEED)
_PANDAS_INDEX = "__index_level_"  # what pandas calls an index without a name
NO_ROWS = "the file has no row of this task"


class AnswerFile:
    """A table of answers, whose columns have the right names and types.

    Args:
        path: A file whose name ends in .parquet or .csv.

    Raises:
        DataError: It cannot be read, or a column is missing, unknown or of another type.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        frame = _read(path)
        missing = [name for name in _NEEDED if name not in frame]
        if missing:
            raise DataError(f"{path} has no column '{missing[0]}'; it has {', '.join(map(str, frame)) or 'none'}")
        other = [str(name) for name in frame if name not in _COLUMNS]
        if other:
            raise DataError(f"{path} has a column {quoted(other[0])}; columns of answers are {', '.join(_COLUMNS)}")
        self._columns: dict[str, npt.NDArray[Any]] = {str(name): self._typed(frame, str(name)) for name in frame}
        fold = self._columns.get(FOLD)
        self._folds = np.full(len(frame), "", dtype=object) if fold is None else fold

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of a file that names them; empty for one that does not."""
        return tuple(sorted({*self._columns[SEED].tolist()})) if SEED in self._columns else ()

    def check_tasks(self, tasks: Sequence[tuple[int, str]]) -> None:
        """Raises if a row is of no task: tasks go by year and fold."""
        asked = set(tasks)
        for row, place in enumerate(zip(self._columns[TIME].tolist(), self._folds.tolist(), strict=True)):
            if place not in asked:
                column = TIME if place[0] not in {time for time, _ in tasks} else FOLD
                there = sorted({str(one[column == FOLD]) for one in tasks})
                raise self._wrong(row, column, f"is asked about by no task; asked about are {', '.join(there[:30])}")

    def answer(self, task: Task, truth: Truth, ids: IntArray, method: str, seed: int | None) -> Answer | None:
        """The answer to a task; None if the file has no row of it.

        Args:
            task: The task.
            truth: Of it, for where the scored vertices stand in the stream.
            ids: Of all vertices of the stream.
            method: Name of the method.
            seed: Which rows are meant; None if the file names no seeds.
        """
        mine = (self._columns[TIME] == task.time) & (self._folds == task.fold)
        mine &= True if seed is None else self._columns[SEED] == seed
        rows = np.flatnonzero(mine)
        if not len(rows):
            return None
        order = rows[self._places(task, ids[truth.vertices], rows)]
        self._check(
            PREDICTED, order, np.isin(self._columns[PREDICTED], task.known), "is no class that is known by then"
        )
        given = {name: self._columns[name][order] for name in (REJECTED, CONFIDENCE) if name in self._columns}
        return checked_answer(
            task,
            method,
            self._columns[PREDICTED][order],
            self._columns[NOVELTY][order],
            given.get(REJECTED),
            given.get(CONFIDENCE),
        )

    def _places(self, task: Task, asked: IntArray, rows: IntArray) -> IntArray:
        """For each vertex that is asked about, which of the rows answers for it."""
        vertices = self._columns[VERTEX]
        at = positions(asked)(vertices[rows])
        which = task.fold or task.time
        self._check(VERTEX, rows, _at(rows, at >= 0, len(vertices)), f"is not asked about in the task of {which}")
        counts = np.bincount(at, minlength=len(asked))
        if (counts > 1).any():
            first, second = rows[at == int(np.flatnonzero(counts > 1)[0])][:2]
            raise self._wrong(second, VERTEX, f"is answered twice in the task of {which}; row {first} is the other")
        if (counts == 0).any():
            absent = asked[counts == 0]
            raise DataError(
                f"{self.path}: {len(absent):,} of the {len(asked):,} vertices that the task of {which} asks about have "
                f"no row; the first is vertex {absent[0]}"
            )
        return np.argsort(at, kind="stable")

    def _check(self, column: str, rows: IntArray, right: BoolArray, reason: str) -> None:
        wrong = np.sort(rows)[~right[np.sort(rows)]]
        if len(wrong):
            raise self._wrong(int(wrong[0]), column, reason)

    def _wrong(self, row: int, column: str, reason: str) -> DataError:
        value = self._folds[row] if column == FOLD else self._columns[column][row]
        return DataError(f"{self.path}, row {row} (counted from 0), column {column}: {value} {reason}")

    def _typed(self, frame: pd.DataFrame, name: str) -> npt.NDArray[Any]:
        """A column as an array of its type."""
        values = frame[name]
        empty = np.flatnonzero(values.isna())
        if len(empty):
            raise DataError(f"{self.path}, row {empty[0]} (counted from 0), column {name}: it is empty or not a number")
        if name == FOLD:
            return values.astype(str).to_numpy(dtype=object)
        array = values.to_numpy()
        if name == REJECTED:
            if array.dtype != np.bool_ and not (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
                raise DataError(
                    f"{self.path}, column {name}: it is of type {array.dtype}, where true and false must be"
                )
            return array.astype(np.bool_)
        if array.dtype.kind not in ("iu" if name in _WHOLE else "fiu"):
            wanted = "whole numbers" if name in _WHOLE else "numbers"
            raise DataError(f"{self.path}, column {name}: it is of type {array.dtype}, where {wanted} must be")
        finite = array.astype(np.int64 if name in _WHOLE else np.float64)
        low, high = (0.0, 1.0) if name == CONFIDENCE else (-np.inf, np.inf)
        wrong = np.flatnonzero(~(np.isfinite(finite) & (finite >= low) & (finite <= high)))
        if len(wrong):
            reason = "a probability lies in [0, 1]" if name == CONFIDENCE else "it is not finite"
            where = f"{self.path}, row {wrong[0]} (counted from 0), column {name}"
            raise DataError(f"{where}: {finite[wrong[0]]}: {reason}")
        return finite


def _at(rows: IntArray, right: BoolArray, length: int) -> BoolArray:
    """Whether rows are right, as an array over all rows."""
    found = np.ones(length, dtype=np.bool_)
    found[rows] = right
    return found


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise DataError(f"{path} is no file; give a Parquet or CSV file of answers")
    try:
        if path.suffix == ".csv":
            # Of Arrow: every digit counts, and the reader of pandas rounds in some versions.
            read = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types={FOLD: pa.string()}))
            return pd.DataFrame({name: read.column(name).to_numpy() for name in read.column_names})
        file = open_parquet(path, path.stat().st_size)
        table: pd.DataFrame = file.read(use_threads=False).to_pandas(ignore_metadata=True)
        return table[[name for name in table if not str(name).startswith(_PANDAS_INDEX)]]
    except (OSError, ValueError, OverflowError, ParquetError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read as a table of answers: {error}") from error
