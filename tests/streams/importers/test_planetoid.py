from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.types import Sparse
from tests.support.importing import (
    HUGE,
    assert_refused,
    by_id,
    edges_of,
    from_planetoid,
    import_,
    importing,
    pairs,
    read,
)
from tests.support.stream_files import onehot, planetoid, python2_pickle

PLANETOID_CASES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "missing vertex, planetoid": (
        from_planetoid(graph=python2_pickle({0: [1], 1: [10]})),
        ("ind.toy.graph, line 2: the edge 1 - 10 names 10", "add the vertex or remove the edge"),
    ),
    "planetoid labels too few": (
        from_planetoid(ally=python2_pickle(onehot(0, 1, 2))),
        ("ind.toy.allx has 5 rows, ind.toy.ally the shape (3, 3)", "Get the files again"),
    ),
}


@pytest.mark.parametrize(("make", "phrases"), PLANETOID_CASES.values(), ids=PLANETOID_CASES.keys())
def test_bad_rows_of_a_planetoid_set_are_refused_with_file_row_and_remedy(
    tmp_path: Path, make: Callable[[Path], tuple[Path, tuple[str, ...]]], phrases: tuple[str, ...]
) -> None:
    source, options = make(tmp_path / "source")
    assert_refused(import_(tmp_path, source, *options), tmp_path, *phrases)


def test_a_list_of_neighbours_that_stands_for_many_vertices_is_refused(tmp_path: Path) -> None:
    shared = list(range(10)) * 100
    source = planetoid(tmp_path / "source", graph=python2_pickle({vertex: shared for vertex in range(1000)}))
    with pytest.raises(DataError, match=r"1,000,000 neighbours, more than it has bytes"):
        importing(tmp_path, source, "planetoid", prefix="toy")


def test_a_test_index_far_beyond_the_rows_is_refused(tmp_path: Path) -> None:
    source = planetoid(tmp_path / "source", **{"test.index": f"9\n5\n8\n{HUGE}".encode()})
    with pytest.raises(DataError, match=f"names the vertex {HUGE}, but there are 9 rows"):
        importing(tmp_path, source, "planetoid", prefix="toy")


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
    with pytest.raises(UsageError, match="the format planetoid: field 'prefix': Field required"):
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


# a file of times
def with_times(folder: Path, numbers: object) -> Path:
    np.save(planetoid(folder) / "when.npy", np.array(numbers))
    return folder


def test_a_file_of_times_makes_a_stream_of_years_without_the_split(tmp_path: Path) -> None:
    """Number 1 is 1971 and number 2 is 1974: no number stands for 1972 and 1973."""
    source = with_times(tmp_path / "raw", [0, 0, 1, 2, 3, 0, 1, 1, 2, 3])
    stream = read("planetoid", source, prefix="toy", times="when.npy", first_year=1970, empty_years="1972 1973")
    found = by_id(stream)
    born = [1970, 1970, 1971, 1974, 1975, 1970, 1971, 1971, 1974, 1975]
    assert [found[v]["time"] for v in range(10)] == born
    assert stream.times == (1970, 1971, 1974, 1975)
    assert stream.split is None
    assert edges_of(stream) == pairs((0, 9), (0, 3), (1, 2), (5, 8))


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ([0.5] * 10, "has no list of whole numbers"),
        ([[1, 2]] * 5, "has no list of whole numbers"),
        ([], "has no list of whole numbers"),
        ([-1] + [0] * 9, "has a number outside 0 to 9,999"),
        ([HUGE] + [0] * 9, "has a number outside 0 to 9,999"),
        ([0] * 9, r"10 vertices, but there are 9 times in when\.npy"),
    ],
)
def test_a_file_of_times_that_is_none_is_refused_by_its_name(tmp_path: Path, numbers: object, reason: str) -> None:
    source = with_times(tmp_path / "raw", numbers)
    with pytest.raises(DataError, match=reason) as caught:
        read("planetoid", source, prefix="toy", times="when.npy")
    assert "when.npy" in str(caught.value)


def test_a_file_of_times_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"when\.npy is missing in"):
        read("planetoid", planetoid(tmp_path / "raw"), prefix="toy", times="when.npy")
