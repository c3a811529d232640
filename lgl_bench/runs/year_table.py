"""years.parquet: one row per year or fold, method and seed. What its columns are called, and of which type they are.

Every metric M is there as a number M and a text M_reason, whether or not any row has a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from lgl_bench.core.errors import DataError
from lgl_bench.core.parquet import ParquetError, is_number, is_text, open_parquet

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
SPENT = ("fit_seconds", "peak_memory_mb")
COUNTS = ("n_new", "n_scored", "new_rejected", "known_rejected", *SPENT)
METRICS = (
    *("accuracy", "class_macro_f1", "ece", "prevalence"),
    *("auroc", "aupr", "aupr_known", "fpr95", "fpr95_known", "oscr"),
    *("micro_f1", "macro_f1", "mcc", "open_f1", "rejected_share"),
)
_REASON = "_reason"
_FILLED = {*NEEDED_TEXTS, *WHOLE}
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
    if not path.is_file():
        raise DataError(f"{path} is no file; {_AGAIN}")
    try:
        file = open_parquet(path, path.stat().st_size)
    except (ParquetError, OSError) as error:
        raise DataError(f"{path} {error}; {_AGAIN}") from error
    rows = file.metadata.num_rows
    names = [str(name) for name in file.schema_arrow.names]
    for name in (*NEEDED_TEXTS, *NEEDED_NUMBERS, *SPENT):
        if name not in names and rows:
            raise DataError(f"{path} has no column '{name}'; {_AGAIN}")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path} has the column {ascii(name)[:100]} twice; {_AGAIN}")
    kept = [name for name in names if _kind(name, names)]
    for name in kept:
        kind = file.schema_arrow.field(name).type
        if not _fits(_kind(name, names), kind) and not (pa.types.is_null(kind) and name not in _FILLED):
            raise DataError(f"{path}, column '{name}': it is of type {kind}, not {_kind(name, names)}; {_AGAIN}")
    try:
        table = file.read(columns=kept)
    except (OSError, pa.ArrowException, OverflowError) as error:
        raise DataError(f"{path} cannot be read: {error}; {_AGAIN}") from error
    for name in kept:
        if name in _FILLED and table[name].null_count:
            raise DataError(f"{path}, column '{name}': {table[name].null_count} of its rows are empty; {_AGAIN}")
    found: pd.DataFrame = table.to_pandas()
    for name in found.columns[[isinstance(kind, pd.CategoricalDtype) for kind in found.dtypes]]:
        found[name] = found[name].astype(object)
    return found


def _kind(name: str, names: Iterable[str]) -> str:
    """What a column holds; "" for one that nobody reads."""
    if name in TEXTS or (name.endswith(_REASON) and name.removesuffix(_REASON) in names):
        return "text"
    if name in WHOLE:
        return "whole numbers"
    return "numbers" if name in COUNTS or name in METRICS or f"{name}{_REASON}" in names else ""


def _fits(wanted: str, kind: Any) -> bool:
    if wanted == "text":
        return is_text(kind)
    return bool(pa.types.is_signed_integer(kind)) if wanted == "whole numbers" else is_number(kind)
