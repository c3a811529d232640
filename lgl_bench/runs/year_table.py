"""years.parquet: one row per year or fold, method and seed. What its columns are called, and of which type they are.

Every metric M is there as a number M and a text M_reason, whether or not any row has a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError

# What tells a row of the leaderboard apart, then what tells its year rows apart.
KEY_TEXTS = (
    *("suite", "stream", "stream_checksum", "protocol", "split", "history", "restart", "track", "backbone"),
    *("head", "detector", "threshold", "preset", "budget", "select"),
)
KEY_NUMBERS = ("suite_version", "label_delay", "budget_version")
NEEDED_TEXTS = ("key", *KEY_TEXTS, "fold", "role", "status")
NEEDED_NUMBERS = (*KEY_NUMBERS, "seed", "time")
TEXTS = (*NEEDED_TEXTS, "chosen", "chosen_by", "device", "reason")
WHOLE = (*NEEDED_NUMBERS, "tuning_trials")
COUNTS = ("n_new", "n_scored", "new_rejected", "known_rejected", "fit_seconds", "peak_memory_mb")
METRICS = (
    *("accuracy", "class_macro_f1", "ece", "prevalence"),
    *("auroc", "aupr", "aupr_known", "fpr95", "fpr95_known", "oscr"),
    *("micro_f1", "macro_f1", "mcc", "open_f1", "rejected_share"),
)
_REASON = "_reason"
_AGAIN = "remove it and give the run's command again"


def year_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a table with every column, each of its type."""
    frame = pd.DataFrame(list(rows), dtype=object)
    columns: dict[str, Any] = {}
    for name in TEXTS:
        columns[name] = _texts(frame, name)
    for name in WHOLE:
        columns[name] = frame[name].astype("int64") if len(frame) else pd.Series(dtype="int64")
    for name in (*COUNTS, *METRICS):
        values = frame[name] if name in frame else pd.Series(None, index=frame.index, dtype=object)
        columns[name] = pd.to_numeric(values).astype("float64")
    for name in METRICS:
        columns[f"{name}{_REASON}"] = _texts(frame, f"{name}{_REASON}")
    return pd.DataFrame(columns)


def _texts(frame: pd.DataFrame, name: str) -> Any:
    if name not in frame:
        return pd.Series("", index=frame.index, dtype=object)
    return frame[name].where(frame[name].notna(), "").astype(object)


def read_year_table(path: Path) -> pd.DataFrame:
    """Year rows from their file, with the columns they must have and all columns of the right type."""
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())[:300]}; {_AGAIN}") from error
    names = [str(name) for name in table.column_names]
    for name in (*NEEDED_TEXTS, *NEEDED_NUMBERS):
        if name not in names and table.num_rows:
            raise DataError(f"{path} has no column '{name}'; {_AGAIN}")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path} has the column {ascii(name)[:100]} twice; {_AGAIN}")
    kept = []
    for name in names:
        wrong = _wrong(table, name, names)
        if wrong:
            raise DataError(f"{path}, column '{name}': it is of type {str(table[name].type)[:80]}{wrong}; {_AGAIN}")
        kept += [name] if wrong is not None else []
    found: pd.DataFrame = table.select(kept).to_pandas()
    return found


def _wrong(table: Any, name: str, names: Iterable[str]) -> str | None:
    """What is wrong with a column; "" for nothing, None for a column that nobody reads."""
    column = table[name]
    text = name in TEXTS or (name.endswith(_REASON) and name.removesuffix(_REASON) in names)
    whole = name in WHOLE
    number = name in COUNTS or name in METRICS or f"{name}{_REASON}" in names
    if not (text or whole or number):
        return None
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if pa.types.is_null(kind):
        right = not (name in NEEDED_TEXTS or whole) or not len(column)
    else:
        right = is_text if text else pa.types.is_integer(kind) if whole else is_number
    if not right:
        return f", not {'text' if text else 'whole numbers' if whole else 'numbers'}"
    if (name in NEEDED_TEXTS or whole) and column.null_count:
        return f", and {column.null_count} of its rows are empty"
    return ""
