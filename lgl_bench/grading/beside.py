"""Tables beside a board, so that whoever has `NAME.csv` and these sees every panel, without a run folder or a stream.

`NAME.years.parquet` has the year rows (`board_years.py`), `NAME.matrix.parquet` every model on every year
(`board_matrix.py`), `NAME.delays.parquet` the delays of detection (`board_delays.py`), `NAME.tests.parquet` the tests
between rows (`leaderboard/compare/board_tests.py`). Each is there only if the board has such rows, and holds what is
shown, and no more, in single precision if it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import clear_leftovers, writing
from lgl_bench.core.parquet import ColumnType, ParquetError, is_number, is_text, open_parquet, read_columns
from lgl_bench.grading.row_key import KEY
from lgl_bench.grading.year_table import YEARS_FILE

MATRIX_FILE, DELAYS_FILE, TESTS_FILE = "matrix.parquet", "delays.parquet", "tests.parquet"
REMEDY = "remove it, or make the board anew from its run folders"
TEXT, NUMBER = ColumnType("text", is_text), ColumnType("a number", is_number)
_LEVEL = 19


def beside(board: Path, file: str) -> Path:
    """Where a table of a board is.

    >>> beside(Path("leaderboard/static.csv"), DELAYS_FILE).name
    'static.delays.parquet'
    """
    board = Path(board)
    return board.with_name(f"{board.name.removesuffix('.csv')}.{file}")


def files_beside(board: Path) -> list[Path]:
    """Every file that may be beside a board.

    >>> [path.name for path in files_beside(Path("static.csv"))]
    ['static.years.parquet', 'static.matrix.parquet', 'static.delays.parquet', 'static.tests.parquet']
    """
    return [beside(board, file) for file in (YEARS_FILE, MATRIX_FILE, DELAYS_FILE, TESTS_FILE)]


def rows_of_board(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table whose key is that of a row of the board."""
    texts = table[list(KEY)].astype(str)
    there = set(rows[list(KEY)].astype(str).itertuples(index=False, name=None))
    return table[[cells in there for cells in texts.itertuples(index=False, name=None)]]


def write_beside(parts: Iterable[pd.DataFrame], path: Path, *, single: bool = True) -> Path | None:
    """Writes a table beside a board; without any rows, none is left there that belongs to an older one.

    Args:
        parts: Its rows.
        path: Where `beside` says.
        single: Whether numbers are written in single precision.

    Returns:
        The file; None if there are no rows.

    Raises:
        DataError: It cannot be written.
    """
    found = [part for part in parts if len(part)]
    try:
        clear_leftovers(path)
        if not found:
            path.unlink(missing_ok=True)
            return None
        table = pd.concat(found, ignore_index=True)
        if single:
            table = table.astype(dict.fromkeys(table.select_dtypes("float").columns, np.float32))
        # Grades are all different: a dictionary of them would be larger than they are.
        coded = [str(name) for name in table if not pd.api.types.is_float_dtype(table[name])]
        with writing(path) as partial:
            arrow = pa.Table.from_pandas(table, preserve_index=False)
            pq.write_table(arrow, partial, compression="zstd", compression_level=_LEVEL, use_dictionary=coded)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def read_beside(path: Path, wanted: Mapping[str, ColumnType]) -> pd.DataFrame:
    """A table beside a board, with these columns; empty if it is not there.

    Raises:
        DataError: It is damaged, or a column is missing or of another type.
    """
    if not path.is_file():
        return pd.DataFrame(columns=list(wanted))
    try:
        table = read_columns(open_parquet(path, path.stat().st_size), wanted)
    except (ParquetError, OSError) as error:
        raise DataError(f"{path} {error}; {REMEDY}") from error
    return doubles(table.to_pandas())


def read_of_run(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """Such a table in a run folder; empty if it is not there or cannot be read: the run's command makes it again."""
    names = list(columns)
    try:
        found: pd.DataFrame = open_parquet(path, path.stat().st_size).read().to_pandas()
    except (ParquetError, OSError, pa.ArrowException, ValueError):
        return pd.DataFrame(columns=names)
    return found[names] if set(names) <= set(found) else pd.DataFrame(columns=names)


def doubles(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose numbers are in double precision again, and whose texts are texts."""
    coded = [name for name, kind in table.dtypes.items() if isinstance(kind, pd.CategoricalDtype)]
    single = table.select_dtypes("float32").columns
    return table.astype(dict.fromkeys(single, np.float64)).astype(dict.fromkeys(coded, object))
