"""Streams on disk by somebody who makes the checksums right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lgl_bench.core.errors import DataError
from lgl_bench.streams.store import open_stream, verify_stream
from tests.support.importing import HUGE, change, stored


def replaced(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    def how(found: pa.Table) -> pa.Table:
        column = values(found) if callable(values) else pa.array([values] * found.num_rows)
        return found.set_column(found.column_names.index(name), name, column)

    return how


DAMAGE: dict[str, tuple[str, Callable[[pa.Table], pa.Table], str]] = {
    "another type": ("vertices", replaced("id", "seven"), "has a column 'id' of type text, where int64 must be"),
    "a smaller type": ("edges", replaced("source", lambda t: t["source"].cast(pa.int32())), "'source' of type int32"),
    "a list": ("vertices", replaced("label", [1]), "has a column 'label' of type list<"),
    "a column twice": ("vertices", lambda t: t.append_column("id", t["id"]), "has the column 'id' 2 times"),
    "a column missing": ("edges", lambda t: t.drop_columns(["target"]), "has no column 'target'"),
    "other features": ("vertices", replaced("feature_index", lambda t: t["feature_value"]), "'feature_index' of type"),
    "empty places": ("vertices", replaced("label", lambda t: pa.nulls(t.num_rows, pa.int64())), "an empty place"),
    "an unknown label": ("vertices", replaced("label", HUGE), f"has the label {HUGE}; there are 3 classes"),
    "a negative label": ("vertices", replaced("label", -2), "has the label -2"),
    "ids that fall": ("vertices", replaced("id", lambda t: pa.array(t["id"].to_pylist()[::-1])), "do not ascend"),
    "ids of another year": ("vertices", replaced("id", lambda t: pa.array(range(t.num_rows))), "id in two years"),
    "an unknown split": ("vertices", replaced("split", lambda t: pa.array([9] * t.num_rows, pa.int8())), "a split"),
    "an unknown end": ("edges", replaced("target", HUGE), "an edge to a vertex that is not in the stream"),
    "an edge of another year": ("edges", replaced("source", 0), "does not go from a vertex of its year"),
    "edges out of order": ("edges", lambda t: t.take(list(range(t.num_rows))[::-1]), "edges twice or out of order"),
    "rows missing": ("vertices", lambda t: t.slice(1), "have 15 vertices, stream.json says 16"),
    "no rows": ("edges", lambda t: t.slice(0, 0), "edges, stream.json says"),
}


@pytest.mark.parametrize(("file", "how", "told"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_stream_whose_checksums_are_right_and_whose_arrays_are_wrong_is_refused(
    tmp_path: Path, file: str, how: Callable[[pa.Table], pa.Table], told: str
) -> None:
    folder = stored(tmp_path)
    change(folder, file, how)
    with pytest.raises(DataError, match="import the stream again") as raised:
        open_stream(folder)
    assert told in str(raised.value)
    assert verify_stream(folder) == [str(raised.value)]


@pytest.mark.parametrize(
    ("index", "value"),
    [([9], [1.0]), ([-1], [1.0]), ([2, 1], [1.0, 1.0]), ([1], [0.0]), ([1], [float("nan")]), ([1], [1.0, 2.0])],
    ids=["outside", "negative", "falling", "zero", "nan", "lengths"],
)
def test_sparse_features_that_are_not_as_they_should_be_are_refused(
    tmp_path: Path, index: list[int], value: list[float]
) -> None:
    folder = stored(tmp_path)
    rows = pa.list_(pa.int32()), pa.list_(pa.float32())
    change(folder, "vertices", replaced("feature_index", lambda t: pa.array([index] * t.num_rows, rows[0])))
    change(folder, "vertices", replaced("feature_value", lambda t: pa.array([value] * t.num_rows, rows[1])))
    with pytest.raises(DataError, match=r"time=2001/vertices\.parquet has .*feature"):
        open_stream(folder)


def test_dense_features_of_another_width_are_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path, "dense")
    wide = pa.list_(pa.float32(), 6)
    change(folder, "vertices", replaced("features", lambda t: pa.array([[1.0] * 6] * t.num_rows, wide)))
    with pytest.raises(DataError, match=r"a column 'features' of type .*, where a list of 5 float32 must be"):
        open_stream(folder)
