"""For every layout: features, labels, times and edges belong to the right vertex."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from makers import EDGES, VERTICES, adjlist, ogb, planetoid, python2_pickle, table, zipped

from lgl_bench.core.errors import DataError, UnknownNameError, UsageError
from lgl_bench.core.types import Sparse
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.pickles import read_pickle
from lgl_bench.streams.raw import build
from lgl_bench.streams.stream import SPLIT_NAMES, Stream, StreamInfo


def read(format_name: str, path: Path, /, **options: Any) -> Stream:
    return build(importers.get(format_name)(path, options), StreamInfo("test"))


def by_id(stream: Stream) -> dict[int, dict[str, Any]]:
    """What a stream tells of each vertex."""
    features = stream.features
    dense = features.dense() if isinstance(features, Sparse) else features
    names = [SPLIT_NAMES[code] for code in stream.split] if stream.split is not None else None
    return {
        int(v): {
            "time": int(stream.born[i]),
            "label": int(stream.labels[i]),
            "features": dense[i].tolist(),
            **({} if names is None else {"split": names[i]}),
        }
        for i, v in enumerate(stream.ids)
    }


def edges_of(stream: Stream) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in stream.ids[stream.arcs].T.tolist()}


def pairs(*edges: tuple[int, int]) -> set[frozenset[int]]:
    return {frozenset(edge) for edge in edges}


def test_an_unknown_format_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown format 'adjlits'; did you mean 'adjlist'?"):
        read("adjlits", tmp_path)


# planetoid


def test_planetoid_rows_belong_to_the_vertices_the_test_index_names(tmp_path: Path) -> None:
    stream = read("planetoid", planetoid(tmp_path / "raw"), prefix="toy", validation=2)
    found = by_id(stream)
    labels = {0: 0, 1: 1, 2: 2, 3: 0, 4: 1, 9: 2, 5: 1, 8: 0, 6: 2, 7: 0}
    split = {0: "train", 1: "train", 2: "validation", 3: "validation", 4: "none", 7: "none"}
    assert len(found) == 10
    for v in range(10):
        expected = [0.0] * 12
        if v != 7:
            expected[v] = float(v + 1)
        assert found[v]["features"] == expected
        assert found[v]["label"] == labels[v]
        assert found[v]["split"] == split.get(v, "test")
    assert edges_of(stream) == pairs((0, 9), (0, 3), (1, 2), (5, 8))
    assert stream.info.imported == {"edge_lines": 10, "self_loops": 1, "repeated_edges": 5}
    assert stream.static
    assert isinstance(stream.features, Sparse)


def test_planetoid_vertices_of_a_gap_may_stay_without_a_label(tmp_path: Path) -> None:
    found = by_id(read("planetoid", planetoid(tmp_path / "raw"), prefix="toy", unlabelled="none"))
    assert [v for v in found if found[v]["label"] < 0] == [7]


def test_planetoid_needs_to_know_its_prefix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="option 'prefix' of the format planetoid: Field required"):
        read("planetoid", planetoid(tmp_path / "raw"))


def test_planetoid_without_one_of_its_files_names_it(tmp_path: Path) -> None:
    (planetoid(tmp_path / "raw") / "ind.toy.ally").unlink()
    with pytest.raises(DataError, match=r"ind\.toy\.ally is missing in .*raw"):
        read("planetoid", tmp_path / "raw", prefix="toy")


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (b"9\n5\n8", "lists 3 vertices where tx has 4 rows"),
        (b"9\n5\n8\n8", "every row needs its own number"),
        (b"9\n5\n8\n4", "from 5 on"),
        (b"9\n5\n8\nsix", "is no list of vertex numbers"),
    ],
)
def test_a_planetoid_test_index_that_does_not_fit_is_refused(tmp_path: Path, index: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        read("planetoid", planetoid(tmp_path / "raw", **{"test.index": index}), prefix="toy")
    assert "ind.toy.test.index" in str(caught.value)


class Command:
    """Pickled, it names a function and its arguments."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_names_a_foreign_function_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    import os

    proof = tmp_path / "proof"
    path = tmp_path / "bad"
    path.write_bytes(pickle.dumps(Command(os.system, f"touch {proof}"), protocol=protocol))
    with pytest.raises(DataError, match=r"bad (names (posix|os|nt)\.system|holds the operation).*refused"):
        read_pickle(path)
    assert not proof.exists()


@pytest.mark.parametrize(
    "name", ["builtins\neval", "__builtin__\neval", "numpy\nload", "collections\nnamedtuple", "os\npath.join"]
)
def test_names_outside_the_short_list_are_refused_even_in_known_modules(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad"
    path.write_bytes(b"\x80\x02c" + name.encode() + b"\n.")
    with pytest.raises(DataError, match="bad names .*refused"):
        read_pickle(path)


def test_a_planetoid_matrix_whose_indices_lie_outside_it_is_refused(tmp_path: Path) -> None:
    matrix = scipy.sparse.csr_matrix(np.eye(5, 12, dtype=np.float32))
    matrix.indices = np.array([0, 1, 2, 3, 10**6], dtype=np.int32)
    planetoid(tmp_path / "raw", allx=python2_pickle(matrix))
    with pytest.raises(DataError, match=r"ind\.toy\.allx holds no sparse matrix"):
        read("planetoid", tmp_path / "raw", prefix="toy")


# ogb


@pytest.mark.parametrize("packed", [False, True])
def test_ogb_rows_belong_to_their_vertex_in_a_folder_and_in_a_zip(tmp_path: Path, packed: bool) -> None:
    source = ogb(tmp_path / "arxiv")
    stream = read("ogb", zipped(source, tmp_path / "arxiv.zip") if packed else source)
    labels, years = [3, 0, -1, 1, 0], [2005, 1999, 2020, 1999, 2004]
    assert by_id(stream) == {
        v: {"time": years[v], "label": labels[v], "features": [v + 0.5, -v, 1.0]} for v in range(5)
    }
    assert stream.ids.tolist() == [1, 3, 4, 0, 2]
    assert edges_of(stream) == pairs((0, 1), (2, 4), (0, 4))
    assert stream.info.imported == {"edge_lines": 5, "self_loops": 1, "repeated_edges": 1}


def test_ogb_without_official_features_says_which_file_is_missing(tmp_path: Path) -> None:
    (ogb(tmp_path / "arxiv") / "raw" / "node-feat.csv.gz").unlink()
    with pytest.raises(DataError, match=r"node-feat\.csv\.gz is missing"):
        read("ogb", tmp_path / "arxiv")
    assert read("ogb", tmp_path / "arxiv", features="none").features.shape == (5, 0)
    assert read("ogb", tmp_path / "arxiv", features="structure", dimensions="7").features.shape == (5, 7)


@pytest.mark.parametrize("name", ["num-node-list", "num-edge-list"])
def test_ogb_counts_that_do_not_hold_are_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=rf"has 5 rows, {name}\.csv\.gz says 6"):
        read("ogb", ogb(tmp_path / "arxiv", **{name: [6]}))


# adjlist


@pytest.mark.parametrize("packed", [False, True])
def test_adjlist_arrays_are_indexed_by_id_whatever_order_the_lines_are_in(tmp_path: Path, packed: bool) -> None:
    source = adjlist(tmp_path / "set")
    stream = read("adjlist", zipped(source, tmp_path / "set.zip") if packed else source)
    labels, years = [2, 0, 1, 0, 2], [2003, 2001, 2002, 2001, 2000]
    assert by_id(stream) == {
        v: {"time": years[v], "label": labels[v], "features": [4.0 * v + k + 1 for k in range(4)]} for v in range(5)
    }
    assert stream.ids.tolist() == [4, 1, 3, 2, 0]
    assert edges_of(stream) == pairs((4, 0), (4, 2), (1, 3))
    assert stream.info.imported == {"edge_lines": 5, "self_loops": 1, "repeated_edges": 1}


def test_adjlist_features_that_are_mostly_zero_become_sparse_and_keep_their_place(tmp_path: Path) -> None:
    features = np.zeros((5, 9))
    features[[0, 3, 3], [8, 0, 5]] = [1.0, 2.0, 3.0]
    stream = read("adjlist", adjlist(tmp_path / "set", X=features))
    assert isinstance(stream.features, Sparse)
    assert {v: row["features"] for v, row in by_id(stream).items()} == dict(enumerate(features.tolist()))


def test_adjlist_class_names_come_from_their_file_where_there_is_one(tmp_path: Path) -> None:
    (adjlist(tmp_path / "set") / "classes.txt").write_text("ACL\nEMNLP\nNAACL main\n")
    assert read("adjlist", tmp_path / "set").info.class_names == ("ACL", "EMNLP", "NAACL main")


def test_adjlist_has_no_options(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="option 'id' of the format adjlist.*its options are: none"):
        read("adjlist", adjlist(tmp_path / "set"), id="x")


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
    assert stream.features.shape == (4, 0)


@KINDS
def test_table_columns_can_be_named_by_options(tmp_path: Path, kind: str) -> None:
    names = {"id": "paper", "time": "year", "label": "venue", "split": "part"}
    vertices = {names[key]: values for key, values in VERTICES.items()}
    vertices["id"] = [1, 2, 3, 4]  # the default name must not be taken
    edges = {"citing": EDGES["source"], "cited": EDGES["target"]}
    stream = read("table", table(tmp_path, kind, vertices, edges), **names, source="citing", target="cited")
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
    stream = read("table", table(tmp_path, kind, {"id": VERTICES["id"]}))
    assert stream.static
    assert stream.split is None
    assert stream.labels.tolist() == [-1] * 4


@KINDS
def test_table_without_edges_is_a_graph_of_isolated_vertices(tmp_path: Path, kind: str) -> None:
    stream = read("table", table(tmp_path, kind, VERTICES, {"source": [], "target": []}))
    assert (stream.num_vertices, stream.num_edges) == (4, 0)


@KINDS
def test_table_with_a_column_missing_lists_those_it_has(tmp_path: Path, kind: str) -> None:
    vertices = {"paper" if key == "id" else key: values for key, values in VERTICES.items()}
    with pytest.raises(DataError, match="has no column 'id'; its columns are paper, time.*--option"):
        read("table", table(tmp_path, kind, vertices))


@KINDS
def test_table_with_a_split_of_an_unknown_name_tells_row_and_names(tmp_path: Path, kind: str) -> None:
    vertices = VERTICES | {"split": ["train", "test", "dev", "test"]}
    with pytest.raises(DataError, match=f"vertices.{kind}, row 2: the split 'dev' is none of none, train"):
        read("table", table(tmp_path, kind, vertices))


def test_table_with_an_unknown_option_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="option 'tme' of the format table.*its options are: feature_count"):
        read("table", table(tmp_path, "csv"), tme="year")


def test_files_in_a_sub_folder_are_found(tmp_path: Path) -> None:
    table(tmp_path / "deep", "csv")
    (tmp_path / "above").mkdir()
    shutil.move(tmp_path / "deep", tmp_path / "above")
    assert read("table", tmp_path / "above").num_vertices == 4
