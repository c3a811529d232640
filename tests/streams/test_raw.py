from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lgl_bench.core.errors import DataError
from tests.support.importing import HUGE, assert_nothing_left, import_, importing
from tests.support.stream_files import VERTICES, adjlist, ogb, table


# what is dropped, and what is changed afterwards
def test_self_loops_and_repeated_edges_are_dropped_and_counted_in_the_summary(tmp_path: Path) -> None:
    result = import_(tmp_path, table(tmp_path / "source", "csv"))
    assert result.exit_code == 0
    assert "3 edges from 5 lines (dropped: 1 self-loops, 1 repeats)" in result.stdout
    result = import_(tmp_path, tmp_path / "source", "--force", "--json")
    summary = json.loads(result.stdout)
    assert (summary["edges"], summary["edge_lines"]) == (3, 5)
    assert (summary["self_loops"], summary["repeated_edges"]) == (1, 1)


def with_label(kind: str, label: int) -> Callable[[Path], Path]:
    sources: dict[str, Callable[[Path], Path]] = {
        "adjlist": lambda folder: adjlist(folder, y=np.array([0, 1, label, 0, 1])),
        "ogb": lambda folder: ogb(folder, **{"node-label": [0, 1, label, 0, 1]}),
        "table": lambda folder: table(folder, "parquet", VERTICES | {"label": [0, 1, label, 0]}),
    }
    return sources[kind]


@pytest.mark.parametrize("kind", ["adjlist", "ogb", "table"])
def test_a_label_of_two_thousand_millions_is_refused_and_not_allocated(tmp_path: Path, kind: str) -> None:
    with pytest.raises(DataError, match=r"row 2: the label 2000000000 would be one of 2,000,000,001 classes"):
        importing(tmp_path, with_label(kind, HUGE)(tmp_path / "source"), kind)
    assert_nothing_left(tmp_path)


WRAPS = np.array([1, 2, 2**64 - 5, 1, 0], dtype=np.uint64)


@pytest.mark.parametrize(("name", "what"), [("t", "time"), ("y", "label")])
def test_an_unsigned_number_that_would_wrap_is_refused(tmp_path: Path, name: str, what: str) -> None:
    source = adjlist(tmp_path / "source", **{name: WRAPS})
    with pytest.raises(DataError, match=rf"{name}\.npy, row 2: the {what} 18446744073709551611 is too large"):
        importing(tmp_path, source, "adjlist")


@pytest.mark.parametrize("column", ["id", "time", "label"])
def test_an_unsigned_column_that_would_wrap_is_refused(tmp_path: Path, column: str) -> None:
    vertices = VERTICES | {column: pa.array([1, 2, 2**64 - 5, 4], pa.uint64())}
    with pytest.raises(DataError, match=r"vertices\.parquet, row 2: the .* 18446744073709551611 is too large"):
        importing(tmp_path, table(tmp_path / "source", "parquet", vertices), "table")


def test_moments_in_the_place_of_years_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lgl_bench.streams.raw.MAX_TIMES", 2)
    with pytest.raises(DataError, match=r"t\.npy has 4 different times.*round them"):
        importing(tmp_path, adjlist(tmp_path / "source"), "adjlist")
