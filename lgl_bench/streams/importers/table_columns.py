"""Which columns of a table are read, and of which type each must be: checked before the first one is read."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.csv
from pydantic import Field

from lgl_bench.core.errors import DataError
from lgl_bench.core.parquet import (
    ColumnError,
    ColumnType,
    ParquetError,
    check_columns,
    is_list,
    is_number,
    is_text,
    open_parquet,
    read_columns,
)
from lgl_bench.streams.importers.files import MAX_FEATURES, Options


class TableOptions(Options):
    """Names of the columns; `features` is a list column or a pattern such as `f_*`."""

    id: str = "id"
    time: str = "time"
    label: str = "label"
    split: str = "split"
    features: str = "features"
    feature_index: str = "feature_index"
    feature_value: str = "feature_value"
    feature_count: int | None = Field(default=None, ge=1, le=MAX_FEATURES)
    source: str = "source"
    target: str = "target"


def _is_plain(kind: Any) -> bool:
    """Numbers, or what a message can show that says why it is none."""
    if pa.types.is_dictionary(kind):
        return is_text(kind) or is_number(kind.value_type)
    others = (pa.types.is_boolean, pa.types.is_null, pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp)
    return is_number(kind) or is_text(kind) or any(check(kind) for check in others)


def _is_label(kind: Any) -> bool:
    return _is_plain(kind) and not pa.types.is_temporal(kind) and not pa.types.is_decimal(kind)


def _is_feature(kind: Any) -> bool:
    return is_number(kind) or bool(pa.types.is_boolean(kind))


def _is_word(kind: Any) -> bool:
    return is_text(kind) or bool(pa.types.is_null(kind))


def _is_number_list(kind: Any) -> bool:
    return is_list(kind) and is_number(kind.value_type)


def _is_index_list(kind: Any) -> bool:
    return is_list(kind) and bool(pa.types.is_integer(kind.value_type))


_NUMBER = ColumnType("a number per row", _is_plain)
_TIME = ColumnType("a number per row", _is_plain, optional=True)
_LABEL = ColumnType("a number or a name per row", _is_label, optional=True)
_SPLIT = ColumnType("a word per row", _is_word, optional=True)
_FEATURE = ColumnType("a number per row", _is_feature)
_LIST = ColumnType("a list of numbers per row", _is_number_list)
_INDEX = ColumnType("a list of whole numbers per row", _is_index_list)

Columns: TypeAlias = Callable[[pa.Schema], dict[str, ColumnType]]
"""What is wanted of a table, by its schema."""


def vertex_columns(names: TableOptions) -> Columns:
    """Features are lists of index and value, else a list, else every column that fits the pattern."""

    def wanted(schema: pa.Schema) -> dict[str, ColumnType]:
        plain = {names.id: _NUMBER, names.time: _TIME, names.label: _LABEL, names.split: _SPLIT}
        if names.feature_index in schema.names:
            return {**plain, names.feature_index: _INDEX, names.feature_value: _LIST}
        one_list = any(field.name == names.features and not _is_feature(field.type) for field in schema)
        if one_list:
            return {**plain, names.features: _LIST}
        # A pattern that fits all columns must not make features of label and time.
        return {name: _FEATURE for name in schema.names if fnmatchcase(name, names.features)} | plain

    return wanted


def edge_columns(names: TableOptions) -> Columns:
    """Two ids."""
    return lambda schema: {names.source: _NUMBER, names.target: _NUMBER}


def read_table_file(path: Path, wanted: Columns) -> pa.Table:
    """The columns that are wanted of a Parquet or CSV file, each once and of its type."""
    try:
        if path.suffix == ".parquet":
            file = open_parquet(path, path.stat().st_size)
            return read_columns(file, wanted(file.schema_arrow))
        table = pyarrow.csv.read_csv(path)
        return table.select(check_columns(table.schema, wanted(table.schema)))
    except ColumnError as error:
        raise DataError(
            f"{path.name} {error}. Name the right columns with --option, for example --option id=paper_id"
        ) from error
    except ParquetError as error:
        raise DataError(f"{path} {error}; is the file cut short? Write it again") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); is the file cut short? Write it again") from error
