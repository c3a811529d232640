"""Reading leaderboard CSVs, every cell checked.

A file is read block by block, so that memory holds typed columns and one block of text, whatever the number of rows.
"""

from __future__ import annotations

import contextlib
import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lgl_bench.core.errors import DataError
from lgl_bench.leaderboard.table.columns import LAST, Column, columns, metrics_in
from lgl_bench.leaderboard.table.problems import Problem, duplicates, problems, refuse
from lgl_bench.leaderboard.table.schema import SCHEMA_VERSION

MAX_ROWS = 2_000_000
"""More rows than this are refused: a table that size is several boards in one."""
_BLOCK = 16 * 2**20
_TYPES = {"text": pa.string(), "whole": pa.int64(), "real": pa.float64()}
_WANTED = {"whole": "a whole number", "real": "a number"}


def read_board(path: Path) -> pd.DataFrame:
    """A leaderboard CSV, checked cell by cell.

    Raises:
        DataError: With file, line, column, value and what to do.
    """
    path = Path(path)
    header = _header(path)
    metrics = metrics_in(header)
    wanted = columns(metrics)
    _check_header(path, header, [column.name for column in wanted])
    blocks, rows = [], 0
    for batch in _batches(path, header):
        block = _typed(path, batch, wanted, rows)
        refuse(str(path), _moved(problems(block, metrics), rows), lambda row: line_of(path, row))
        blocks.append(block)
        rows += len(block)
        if rows > MAX_ROWS:
            raise DataError(f"{path} has more than {MAX_ROWS:,} rows; split it, for instance by stream")
    if not rows:
        raise DataError(f"{path} has no rows, only a header; 'lgl-bench leaderboard build OUT' makes a table")
    frame = pd.concat(blocks, ignore_index=True) if len(blocks) > 1 else blocks[0]
    refuse(str(path), duplicates(frame), lambda row: line_of(path, row))
    return frame


def line_of(path: Path, row: int) -> int:
    """The line of the file on which a data row begins; a cell may hold line breaks."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        ended = 0
        with contextlib.suppress(csv.Error):  # a huge cell on the way: then every row is taken for a line
            for number, _ in enumerate(cells for cells in reader if cells):
                if number == row + 1:
                    return ended + 1
                ended = reader.line_num
    return row + 2


def _header(path: Path) -> list[str]:
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no plain file; it should be a leaderboard CSV or the folder of a run")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; it should be a leaderboard CSV or the folder of a run") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read as a CSV file in UTF-8: {error}") from error
    if not names:
        raise DataError(f"{path} is empty; a leaderboard CSV begins with the names of its columns")
    return names


def _check_header(path: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise DataError(f"{path}, line 1: the column '{twice[0]}' is there twice; leave one out")
    if LAST not in header:
        raise DataError(
            f"{path}, line 1: the column '{LAST}' is missing, so nobody can tell what the others mean; this is no "
            "leaderboard, or one of an older version: 'lgl-bench leaderboard build OUT' makes it anew"
        )
    missing = [name for name in wanted if name not in header]
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(
            f"{path}, line 1: the column '{missing[0]}' is missing{others}; docs/leaderboard.md lists all; a table of "
            "an older lgl-bench is made anew from its run by 'lgl-bench leaderboard build OUT'"
        )
    unknown = [name for name in header if name not in set(wanted)]
    if unknown:
        raise DataError(
            f"{path}, line 1: the column '{unknown[0]}' is unknown; a metric of your own needs all seven columns "
            "NAME_mean, NAME_std, ...; docs/leaderboard.md lists the others"
        )


def _batches(path: Path, header: Sequence[str]) -> Iterable[pa.RecordBatch]:
    try:
        yield from pyarrow.csv.open_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(
                block_size=_BLOCK, use_threads=False, skip_rows_after_names=0, column_names=None
            ),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.string() for name in header}, strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read as a CSV file: {' '.join(str(error).split())[:300]}") from error


def _typed(path: Path, batch: pa.RecordBatch, wanted: Sequence[Column], before: int) -> pd.DataFrame:
    """A block of text as columns of their types."""
    versions = batch.column(LAST)
    other = pc.not_equal(versions, str(SCHEMA_VERSION))
    if pc.any(other).as_py():
        row = int(np.flatnonzero(other.to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{path}, line {line_of(path, before + row)}, column '{LAST}': '{versions[row]}', but this lgl-bench reads "
            f"version {SCHEMA_VERSION}; build the table again from its run, or use the lgl-bench that wrote it"
        )
    found = {}
    for column in wanted:
        text = batch.column(column.name)
        if column.kind == "text":
            found[column.name] = text.to_pandas()
            continue
        filled = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        try:
            values = pc.cast(filled, _TYPES[column.kind])
        except pa.ArrowInvalid:
            wrong = [Problem(row, column.name, *cell) for row, cell in enumerate(_wrong(filled, column)) if cell]
            refuse(str(path), _moved(wrong, before), lambda row: line_of(path, row))
            raise
        if column.kind == "real":
            odd = [Problem(int(row), column.name, str(text[int(row)]), "is no number") for row in _not_numbers(values)]
            refuse(str(path), _moved(odd, before), lambda row: line_of(path, row))
            found[column.name] = values.to_pandas()
        else:
            found[column.name] = values.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
            if not column.empty and not values.null_count:
                found[column.name] = found[column.name].astype("int64")
    return pd.DataFrame(found)


def _wrong(cells: pa.Array, column: Column) -> Iterable[tuple[str, str] | None]:
    for cell in cells.to_pylist():
        try:
            if cell is not None:
                pc.cast(pa.scalar(cell), _TYPES[column.kind])
            yield None
        except pa.ArrowInvalid:
            yield cell, f"is not {_WANTED[column.kind]}"


def _not_numbers(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Cells that spell NaN: undefined is an empty cell with a reason."""
    return np.flatnonzero(pc.is_nan(pc.fill_null(values, 0.0)).to_numpy(zero_copy_only=False))


def _moved(found: Iterable[Problem], by: int) -> list[Problem]:
    return [problem._replace(row=problem.row + by) for problem in found]
