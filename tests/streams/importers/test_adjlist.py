from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import Sparse
from tests.support.importing import INF, NAN, Touch, assert_refused, by_id, edges_of, from_adjlist, import_, pairs, read
from tests.support.stream_files import adjlist, zipped


def sparse_x(value: float) -> np.ndarray[Any, Any]:
    features = np.zeros((5, 40))
    features[3, 7] = value
    return features


def dense_x(value: float) -> np.ndarray[Any, Any]:
    features = np.ones((5, 4))
    features[3, 2] = value
    return features


ADJLIST_CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "missing vertex, adjlist": (
        from_adjlist("4 0 2\n\n1 5\n"),
        ("adjlist.txt, line 3: the edge 1 - 5 names 5", "add the vertex or remove the edge"),
    ),
    "negative neighbour": (
        from_adjlist("4 0 2\n1 -3\n"),
        ("adjlist.txt, line 2: the edge 1 - -3 names -3, which is negative", "remove the edge"),
    ),
    "word among neighbours": (
        from_adjlist("4 0 2\n1 three\n"),
        ("adjlist.txt, line 2:", "three", "a vertex id and the ids of its neighbours"),
    ),
    "X too short": (
        from_adjlist(X=np.ones((4, 3))),
        ("X.npy, y.npy and t.npy in", "have 4, 5 and 5 rows", "must be equally long"),
    ),
    "y too long": (from_adjlist(y=np.zeros(6)), ("have 5, 6 and 5 rows", "must be equally long")),
    "t too short": (from_adjlist(t=np.zeros(2)), ("have 5, 5 and 2 rows", "must be equally long")),
    "X of one dimension": (from_adjlist(X=np.ones(5)), ("X with a row of features each",)),
    "nan in dense X": (
        from_adjlist(X=dense_x(NAN)),
        ("X.npy, row 3, feature 2: the value is nan", "must be finite"),
    ),
    "inf in dense X": (
        from_adjlist(X=dense_x(-INF)),
        ("X.npy, row 3, feature 2: the value is -inf", "must be finite"),
    ),
    "too large for a float": (
        from_adjlist(X=dense_x(1e300)),
        ("X.npy, row 3, feature 2: the value is inf", "must be finite"),
    ),
    "nan in sparse X": (
        from_adjlist(X=sparse_x(NAN)),
        ("X.npy, row 3, feature 7: the value is nan", "must be finite"),
    ),
    "inf in sparse X": (
        from_adjlist(X=sparse_x(INF)),
        ("X.npy, row 3, feature 7: the value is inf", "must be finite"),
    ),
    "features that are words": (
        from_adjlist(X=np.array([["a", "b"]] * 5)),
        ("X.npy: its values are of type", "must be a number"),
    ),
    "half a year in t": (
        from_adjlist(t=np.array([2003, 2001, 2002, 2001.25, 2000])),
        ("t.npy, row 3: the time 2001.25 is not a whole number", "correct the row"),
    ),
    "half a label": (
        from_adjlist(y=np.array([2, 0, 1, 0.5, 2])),
        ("y.npy, row 3: the label 0.5 is not a whole number", "correct the row"),
    ),
    "no rows, adjlist": (
        from_adjlist("", X=np.ones((0, 3)), y=np.zeros(0), t=np.zeros(0)),
        ("y.npy has no vertices", "needs at least one"),
    ),
}


@pytest.mark.parametrize(("make", "phrases"), ADJLIST_CASES.values(), ids=ADJLIST_CASES.keys())
def test_bad_rows_of_an_adjlist_are_refused_with_file_row_and_remedy(
    tmp_path: Path, make: Callable[[Path], tuple[Path, tuple[str, ...]]], phrases: tuple[str, ...]
) -> None:
    source, options = make(tmp_path / "source")
    assert_refused(import_(tmp_path, source, *options), tmp_path, *phrases)


def test_an_array_of_pickled_objects_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    source = adjlist(tmp_path / "source")
    np.save(source / "y.npy", np.array([Touch(proof)] * 5, dtype=object), allow_pickle=True)
    assert_refused(import_(tmp_path, source, "--format", "adjlist"), tmp_path, "y.npy: its values are of type object")
    assert not proof.exists()


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
    with pytest.raises(UsageError, match="the format adjlist: field 'id': .*its options are: none"):
        read("adjlist", adjlist(tmp_path / "set"), id="x")
