"""years.parquet: one `YearRow` per year or fold, method and seed. Its only schema, reader and writer.

A column is a field of the record; the key of the method has one column per field of `Key`, and every grade M is there
as a number M and a text M_reason, whether or not any row has a value. What is graded over all years so far has a
number M_behind too: the years or classes behind the value.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa

from lgl_bench.core.errors import DataError, PluginError
from lgl_bench.core.parquet import ParquetError, is_number, is_text, open_parquet
from lgl_bench.core.types import Value
from lgl_bench.grading.row_key import KEY, Key
from lgl_bench.metrics import Metric, metrics
from lgl_bench.metrics.over_time import OverYears
from lgl_bench.runs.store import RunStore

YEARS_FILE = "years.parquet"
_REASON, _BEHIND = "_reason", "_behind"
_AGAIN = "remove it and give the run's command again"


@dataclass(frozen=True, slots=True, kw_only=True)
class YearRow:
    """The grades of one method in one year or fold with one seed, or why it has none.

    Attributes:
        key: Of the fit that answered.
        method: The key of the row of the leaderboard it belongs to.
        fold: The class left out; empty for a year.
        status: "ok", or what became of the fit or the answer.
        chosen: What stands for a row whose detector is chosen.
        chosen_by: What it was chosen on.
        reason: Why there are no grades.
        new_rejected: New vertices that are called new.
        known_rejected: Known vertices that are called new.
        grades: By column.
        chain: What is graded over all years so far, by metric.
    """

    key: str
    method: Key
    fold: str
    role: str
    status: str
    chosen: str = ""
    chosen_by: str = ""
    device: str = ""
    kernels: str = ""
    reason: str = ""
    seed: int
    time: int
    tuning_trials: int = 0
    n_new: float | None = None
    n_scored: float | None = None
    new_rejected: float | None = None
    known_rejected: float | None = None
    fit_seconds: float | None
    peak_memory_mb: float | None
    memory_vertices: float | None = None
    memory_mb: float | None = None
    grades: Mapping[str, Value] = field(default_factory=dict)
    chain: Mapping[str, OverYears] = field(default_factory=dict)

    @property
    def task(self) -> tuple[int, int, str]:
        """What identifies a year row of a method."""
        return self.seed, self.time, self.fold


_UNGRADED = OverYears(None, 0)
YEAR_KEY = (*KEY, "seed", "time", "fold")
"""What identifies a year row."""
_TYPES = {name: kind for name, kind in get_type_hints(YearRow).items() if name not in ("method", "grades", "chain")}
_KEY_TYPES = {name: info.annotation for name, info in Key.model_fields.items()}
_KEY_TEXTS, _KEY_NUMBERS = ([name for name in KEY if _KEY_TYPES[name] is kind] for kind in (str, int))
_OWN_TEXTS, _OWN_WHOLE = ([name for name, found in _TYPES.items() if found is kind] for kind in (str, int))
_TEXTS = (_OWN_TEXTS[0], *_KEY_TEXTS, *_OWN_TEXTS[1:])
_WHOLE = (*_KEY_NUMBERS, *_OWN_WHOLE)
_NUMBERS = tuple(name for name in _TYPES if name not in (*_OWN_TEXTS, *_OWN_WHOLE))
_NEEDED = {*KEY, *(one.name for one in dataclasses.fields(YearRow) if one.default is dataclasses.MISSING)}
_FILLED = {*(name for name in _TEXTS if name in _NEEDED), *_WHOLE}


def graded_metrics() -> dict[str, type[Metric]]:
    """The metrics that are graded, by the column of year rows that holds their grades."""
    found = metrics.per_year()
    for name in found:
        if name in (*_TEXTS, *_WHOLE, *_NUMBERS):
            raise PluginError(f"the metric '{name}' has the name of a column of {YEARS_FILE}; choose another name")
    return found


def year_table(rows: Sequence[YearRow]) -> pd.DataFrame:
    """Rows as a table with every column, each of its type."""
    columns: dict[str, Any] = {}
    for name in _TEXTS:
        columns[name] = pd.Series([_cell(row, name) for row in rows], dtype=object)
    for name in _WHOLE:
        columns[name] = np.array([_cell(row, name) for row in rows], dtype=np.int64)
    for name in _NUMBERS:
        columns[name] = np.array([_cell(row, name) for row in rows], dtype=np.float64)  # None becomes NaN
    graded = list(graded_metrics())
    for name in graded:
        columns[name] = np.array([row.grades[name].value if name in row.grades else None for row in rows], np.float64)
    for name in graded:
        texts = [row.grades[name].reason if name in row.grades else "" for row in rows]
        columns[f"{name}{_REASON}"] = pd.Series(texts, dtype=object)
    for name in metrics.chained():
        values = [row.chain.get(name, _UNGRADED) for row in rows]
        columns[name] = np.array([one.value for one in values], np.float64)
        columns[f"{name}{_REASON}"] = pd.Series([one.reason for one in values], dtype=object)
        columns[behind_column(name)] = np.array([one.years for one in values], np.float64)
    return pd.DataFrame(columns)


def behind_column(metric: str) -> str:
    """The column with the years or classes behind what is graded over all years so far."""
    return f"{metric}{_BEHIND}"


def _cell(row: YearRow, name: str) -> object:
    return getattr(row.method, name) if name in _KEY_TYPES else getattr(row, name)


def write_years(store: RunStore, years: pd.DataFrame) -> None:
    """Keeps the year rows of a run."""
    store.write_frame(YEARS_FILE, years)


def years_checksum(folder: Path) -> str:
    """The sha256 of the year rows of a run folder: what is kept beside them belongs to these."""
    return hashlib.sha256((Path(folder) / YEARS_FILE).read_bytes()).hexdigest()


def read_years(folder: Path) -> pd.DataFrame:
    """The year rows of a run folder, with the columns they must have and all columns of the right type."""
    path = Path(folder) / YEARS_FILE
    if not path.exists():
        raise DataError(f"{path} is missing: the run has not ended; give its 'lgl-bench run' command again")
    return read_year_file(path)


def read_year_file(path: Path, remedy: str = _AGAIN) -> pd.DataFrame:
    """Year rows by the path of their file; `remedy` is what to do if something is wrong with it."""
    if not path.is_file():
        raise DataError(f"{path} is no file; {remedy}")
    try:
        file = open_parquet(path, path.stat().st_size)
    except (ParquetError, OSError) as error:
        raise DataError(f"{path} {error}; {remedy}") from error
    names = [str(name) for name in file.schema_arrow.names]
    kept = _checked(path, names, file, remedy)
    try:
        table = file.read(columns=kept)
    except (OSError, pa.ArrowException, OverflowError) as error:
        raise DataError(f"{path} cannot be read: {error}; {remedy}") from error
    for name in kept:
        if name in _FILLED and table[name].null_count:
            raise DataError(f"{path}, column '{name}': {table[name].null_count} of its rows are empty; {remedy}")
    found: pd.DataFrame = table.to_pandas()
    for name in found.columns[[isinstance(kind, pd.CategoricalDtype) for kind in found.dtypes]]:
        found[name] = found[name].astype(object)
    return found


def _checked(path: Path, names: Sequence[str], file: Any, remedy: str) -> list[str]:
    """The columns that are read; raises if one is missing, there twice, or of another type."""
    for name in (*_TEXTS, *_WHOLE, *_NUMBERS):
        if name in _NEEDED and name not in names and file.metadata.num_rows:
            raise DataError(f"{path} has no column '{name}'; {remedy}")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path} has the column {ascii(name)[:100]} twice; {remedy}")
    kept = [name for name in names if _kind(name, names)]
    for name in kept:
        kind = file.schema_arrow.field(name).type
        if not _fits(_kind(name, names), kind) and not (pa.types.is_null(kind) and name not in _FILLED):
            raise DataError(f"{path}, column '{name}': it is of type {kind}, not {_kind(name, names)}; {remedy}")
    return kept


def _kind(name: str, names: Iterable[str]) -> str:
    """What a column holds; "" for one that nobody reads."""
    if name in _TEXTS or (name.endswith(_REASON) and name.removesuffix(_REASON) in names):
        return "text"
    if name in _WHOLE:
        return "whole numbers"
    if name.endswith(_BEHIND) and f"{name.removesuffix(_BEHIND)}{_REASON}" in names:
        return "numbers"
    return "numbers" if name in _NUMBERS or name in metrics.per_year() or f"{name}{_REASON}" in names else ""


def _fits(wanted: str, kind: Any) -> bool:
    if wanted == "text":
        return is_text(kind)
    return bool(pa.types.is_signed_integer(kind)) if wanted == "whole numbers" else is_number(kind)
