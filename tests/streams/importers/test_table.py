from __future__ import annotations

import errno
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lgl_bench.core import parquet
from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.types import Sparse
from tests.support.importing import (
    INF,
    NAN,
    assert_refused,
    by_id,
    edges_of,
    from_table,
    import_,
    importing,
    lists,
    pairs,
    read,
)
from tests.support.stream_files import EDGES, VERTICES, table


def strict(**changes: Any) -> Any:
    make = from_table(**changes)
    return lambda folder: (make(folder)[0], ("--option", "unknown=error"))


TABLE_CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "missing vertex, csv": (
        strict(edges={"target": [10, 30, 31, 10, 5]}),
        ("edges.csv, line 4: the edge 10 - 31 names 31", "not a vertex of vertices.csv", "add the vertex or"),
    ),
    "missing vertex, parquet": (
        strict(edges={"source": [30, 6, 10, 10, 20]}, kind="parquet"),
        ("edges.parquet, line 2: the edge 6 - 30 names 6", "add the vertex or remove the edge"),
    ),
    "negative id": (
        from_table({"id": [30, 10, -20, 5]}),
        ("vertices.csv, row 2: vertex id -20 is negative; ids start at 0",),
    ),
    "negative end": (
        strict(edges={"source": [30, 5, -1, 10, 20]}),
        ("edges.csv, line 4: the edge -1 - 30 names -1, which is negative", "remove the edge"),
    ),
    "repeated id": (
        from_table({"id": [30, 10, 20, 10]}),
        ("vertices.csv, row 3: vertex id 10 stands there a second time", "must be distinct"),
    ),
    "id without a value": (
        from_table({"id": [30, None, 20, 5]}),
        ("vertices.csv, row 1: 'id' is empty", "every row needs one"),
    ),
    "no edge between vertices": (
        from_table({"id": ["a", "b", "c", "d"]}),
        (
            "no edge of edges.csv joins two vertices of vertices.csv",
            "edge is '30' - '10', the first vertex 'a'",
            "--option id",
        ),
    ),
    "repeated name": (
        from_table({"id": ["a", "b", "c", "b"]}),
        ("vertices.csv, row 3: vertex id 'b' stands there a second time", "must be distinct"),
    ),
    "nan in sparse lists": (
        from_table(lists(NAN), kind="parquet"),
        ("vertices.parquet, row 2, feature 2: the value is nan", "must be finite"),
    ),
    "inf in a list": (
        from_table({"features": [[1.0, 2.0], [1.0, INF], [1.0, 2.0], [1.0, 2.0]]}, kind="parquet"),
        ("vertices.parquet, row 1, feature 1: the value is inf", "must be finite"),
    ),
    "half a year": (
        from_table({"time": [2001, 2000, 2001.5, 1999]}),
        ("vertices.csv, row 2: the time 2001.5 is not a whole number", "correct the row"),
    ),
    "a year without end": (
        from_table({"time": [2001.0, INF, 2001.0, 1999.0]}, kind="parquet"),
        ("vertices.parquet, row 1: the time inf is not a whole number", "correct the row"),
    ),
    "no year": (
        from_table({"time": [2001, 2000, None, 1999]}),
        ("vertices.csv, row 2: 'time' is empty", "every row needs one"),
    ),
    "a word for a year": (
        from_table({"time": ["soon", "2000", "2001", "1999"]}),
        (
            "vertices.csv, row 0: the time 'soon' is neither a year nor an ISO date such as 2014-05-06",
            "correct the row",
        ),
    ),
    "a month that does not exist": (
        from_table({"time": ["2001-05", "2000-13", "2001-01", "1999-12"]}),
        ("vertices.csv, row 1: the time '2000-13' is neither a year nor an ISO date", "correct the row"),
    ),
    "no rows, csv": (
        from_table({key: [] for key in VERTICES}),
        ("vertices.csv has no vertices", "needs at least one"),
    ),
    "no rows, parquet": (
        from_table(
            {key: pa.array([], pa.string()) for key in VERTICES} | {"features": pa.array([], pa.int8())}, kind="parquet"
        ),
        ("vertices.parquet has no vertices", "needs at least one"),
    ),
}


@pytest.mark.parametrize(("make", "phrases"), TABLE_CASES.values(), ids=TABLE_CASES.keys())
def test_bad_rows_of_a_table_are_refused_with_file_row_and_remedy(
    tmp_path: Path, make: Callable[[Path], tuple[Path, tuple[str, ...]]], phrases: tuple[str, ...]
) -> None:
    source, options = make(tmp_path / "source")
    assert_refused(import_(tmp_path, source, *options), tmp_path, *phrases)


def test_a_table_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(parquet.pq, "ParquetFile", deny)
    result = import_(tmp_path, table(tmp_path / "source", "parquet"))
    assert_refused(result, tmp_path, "vertices.parquet cannot be read", "Permission denied")


@pytest.mark.parametrize("index", [3_000_000_000, -1, 2**63 - 1])
def test_a_feature_index_that_no_int32_holds_is_refused(tmp_path: Path, index: int) -> None:
    lists = {"feature_index": [[0], [index], [1, 2], []], "feature_value": [[1.0], [1.0], [1.0, 2.0], []]}
    with pytest.raises(DataError, match=f"a feature index lies outside 0 to 2147483646: {index}"):
        importing(tmp_path, table(tmp_path / "source", "parquet", VERTICES | lists), "table")


@pytest.mark.parametrize("value", [0, "x"])
def test_a_parquet_file_whose_few_bytes_stand_for_many_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    monkeypatch.setattr(parquet, "_FLOOR", 2**20)
    source = table(tmp_path / "source", "parquet")
    pq.write_table(pa.table({"source": [value] * 10**6, "target": [value] * 10**6}), source / "edges.parquet")
    with pytest.raises(DataError, match=r"edges\.parquet has .* bytes, but its columns would take [\d,]+ bytes"):
        importing(tmp_path, source, "table")


def test_long_names_of_classes_stay_coded_as_they_are_in_the_file(tmp_path: Path) -> None:
    rows = 10_000
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 500_000]))
    source = table(tmp_path / "source", "parquet", {"id": list(range(rows)), "label": names}, {k: [0] for k in EDGES})
    stream = importing(tmp_path, source, "table", time="none", features="none")  # spelled out, the labels are 5 GB
    assert stream.info.class_names == ("x" * 500_000,) and stream.labels.max() == 0


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"id": pa.array([[1], [2], [3], [4]])}, "'id' of type list<"),
        ({"label": pa.array([{"a": 1}] * 4)}, "'label' of type struct<"),
        ({"label": pa.array([date(2001, 1, 1)] * 4)}, "'label' of type"),
        ({"split": [1, 2, 3, 4]}, "'split' of type int64, where a word per row must be"),
        ({"features": pa.array([["a"], ["b"], ["c"], ["d"]])}, "'features' of type list<"),
        ({"feature_index": [[0.5]] * 4, "feature_value": [[1.0]] * 4}, "'feature_index' of type list<"),
    ],
    ids=["list", "struct", "date", "number", "words", "fractions"],
)
def test_a_column_of_another_type_is_named_with_both(tmp_path: Path, columns: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=r"vertices\.parquet has a column") as raised:
        importing(tmp_path, table(tmp_path / "source", "parquet", VERTICES | columns), "table")
    assert told in str(raised.value)


def test_a_pattern_that_fits_every_column_makes_no_feature_of_label_or_time(tmp_path: Path) -> None:
    numbers = {"id": [1, 2, 3, 4], "time": [1, 2, 3, 4], "label": [0, 1, 0, 1], "x": [0.5, 1, 2, 3]}
    source = table(tmp_path / "source", "parquet", numbers, {"source": [1], "target": [2]})
    assert importing(tmp_path, source, "table", features="*").features[:, 0].tolist() == [0.5, 1, 2, 3]


# table
LABELS = {30: 1, 10: 0, 20: -1, 5: 0}


SPLIT = {30: "train", 10: "test", 20: "none", 5: "validation"}


TIMES = {30: 2001, 10: 2000, 20: 2001, 5: 1999}


KINDS = pytest.mark.parametrize("kind", ["parquet", "csv"])


@KINDS
def test_table_rows_belong_to_their_id_and_names_become_classes(tmp_path: Path, kind: str) -> None:
    stream = read("table", table(tmp_path, kind))
    found = by_id(stream)
    assert {v: row["time"] for v, row in found.items()} == TIMES
    assert {v: row["label"] for v, row in found.items()} == LABELS
    assert {v: row["split"] for v, row in found.items()} == SPLIT
    assert stream.info.class_names == ("bird", "fish")
    assert edges_of(stream) == pairs((30, 10), (5, 30), (20, 5))
    assert stream.info.imported == {"edge_lines": 5, "self_loops": 1, "repeated_edges": 1}
    assert {v: row["features"] for v, row in found.items()} == {30: [3.0], 10: [1.0], 20: [2.0], 5: [0.5]}


@KINDS
def test_table_columns_can_be_named_by_options(tmp_path: Path, kind: str) -> None:
    names = {"id": "work", "time": "epoch", "label": "kind", "split": "part", "features": "words"}
    vertices = {names[key]: values for key, values in VERTICES.items()}
    vertices["id"] = [1, 2, 3, 4]  # the default name must not be taken
    edges = {"one": EDGES["source"], "other": EDGES["target"]}
    stream = read("table", table(tmp_path, kind, vertices, edges), **names, source="one", target="other")
    found = by_id(stream)
    assert {v: (row["time"], row["label"], row["split"]) for v, row in found.items()} == {
        v: (TIMES[v], LABELS[v], SPLIT[v]) for v in TIMES
    }
    assert edges_of(stream) == pairs((30, 10), (5, 30), (20, 5))


@KINDS
def test_table_one_column_a_feature_is_chosen_by_a_pattern(tmp_path: Path, kind: str) -> None:
    features = {"f_a": [3, 1, 2, 5], "f_b": [0.25, 0.5, 0.75, 1.0], "note": [9, 9, 9, 9]}
    found = by_id(read("table", table(tmp_path, kind, VERTICES | features), features="f_*"))
    assert {v: row["features"] for v, row in found.items()} == {
        30: [3.0, 0.25],
        10: [1.0, 0.5],
        20: [2.0, 0.75],
        5: [5.0, 1.0],
    }


@KINDS
def test_table_a_single_feature_column_can_be_named(tmp_path: Path, kind: str) -> None:
    found = by_id(read("table", table(tmp_path, kind, VERTICES | {"features": [3, 1, 2, 5]})))
    assert {v: row["features"] for v, row in found.items()} == {30: [3.0], 10: [1.0], 20: [2.0], 5: [5.0]}


@pytest.mark.parametrize("fixed", [False, True])
def test_table_list_features_belong_to_their_row(tmp_path: Path, fixed: bool) -> None:
    rows = [[3.0, 1.5], [1.0, -1.0], [2.0, 7.0], [5.0, 4.0]]
    kind = pa.list_(pa.float32(), 2) if fixed else pa.list_(pa.float64())
    found = by_id(read("table", table(tmp_path, "parquet", VERTICES | {"features": pa.array(rows, kind)})))
    assert {v: row["features"] for v, row in found.items()} == dict(zip(VERTICES["id"], rows, strict=True))


def test_table_sparse_lists_belong_to_their_row_and_stay_sparse(tmp_path: Path) -> None:
    lists = {"feature_index": [[4, 1], [], None, [0]], "feature_value": [[1.0, 2.0], [], None, [3.0]]}
    table(tmp_path, "parquet", VERTICES | lists)
    stream = read("table", tmp_path)
    assert isinstance(stream.features, Sparse)
    found = {v: row["features"] for v, row in by_id(stream).items()}
    assert found == {30: [0, 2, 0, 0, 1], 10: [0] * 5, 20: [0] * 5, 5: [3, 0, 0, 0, 0]}
    assert read("table", tmp_path, feature_count="9").features.shape == (4, 9)
    with pytest.raises(DataError, match=r"vertices\.parquet: a feature index lies outside 0 to 3"):
        read("table", tmp_path, feature_count="4")


def test_table_sparse_lists_without_values_name_the_column_that_is_missing(tmp_path: Path) -> None:
    table(tmp_path, "parquet", VERTICES | {"feature_index": [[1], [], [], [0]]})
    with pytest.raises(DataError, match=r"vertices\.parquet has no column 'feature_value'"):
        read("table", tmp_path)


@KINDS
def test_table_labels_may_be_numbers_and_a_negative_or_missing_one_is_none(tmp_path: Path, kind: str) -> None:
    found = by_id(read("table", table(tmp_path, kind, VERTICES | {"label": [2, 0, None, -5]})))
    assert {v: row["label"] for v, row in found.items()} == {30: 2, 10: 0, 20: -1, 5: -1}


@KINDS
def test_table_with_ids_and_nothing_else_is_a_static_graph_without_labels(tmp_path: Path, kind: str) -> None:
    source = table(tmp_path, kind, {"id": VERTICES["id"]})
    stream = read("table", source, time="none", label="none", features="none")
    assert stream.static
    assert stream.split is None
    assert stream.labels.tolist() == [-1] * 4


@KINDS
def test_table_without_edges_is_a_graph_of_isolated_vertices(tmp_path: Path, kind: str) -> None:
    stream = read("table", table(tmp_path, kind, VERTICES, {"source": [], "target": []}))
    assert (stream.num_vertices, stream.num_edges) == (4, 0)


@KINDS
def test_table_with_a_column_missing_lists_those_it_has(tmp_path: Path, kind: str) -> None:
    vertices = {"work" if key == "id" else key: values for key, values in VERTICES.items()}
    with pytest.raises(
        DataError, match=r"has no column with ids: none of its columns work, time, .*--option id=COLUMN"
    ):
        read("table", table(tmp_path, kind, vertices))
    with pytest.raises(DataError, match=r"has no column 'wrk'; its columns are work, time.*--option"):
        read("table", table(tmp_path, kind, vertices), id="wrk")


@KINDS
def test_table_with_a_split_of_an_unknown_name_tells_row_and_names(tmp_path: Path, kind: str) -> None:
    vertices = VERTICES | {"split": ["train", "test", "dev", "test"]}
    with pytest.raises(DataError, match=f"vertices.{kind}, row 2: the split 'dev' is none of none, train"):
        read("table", table(tmp_path, kind, vertices))


def test_table_with_an_unknown_option_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the format table: field 'tme': .*its options are: dimensions, feature_count"):
        read("table", table(tmp_path, "csv"), tme="year")
