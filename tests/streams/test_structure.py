from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.core.errors import DataError
from lgl_bench.streams.importers import importers
from lgl_bench.streams.structure import signs, structure_features

BORN = [2000, 2001, 2002, 2003]
CITATIONS = [(1, 0), (2, 0), (2, 1)]


def features(citations: list[tuple[int, int]], born: list[int], dimensions: int = 20) -> npt.NDArray[np.float32]:
    edges = np.array(citations, dtype=np.int64).reshape(-1, 2).T
    return structure_features(edges, np.array(born), dimensions, "edge.csv.gz")


def sign(vertex: int, dimension: int) -> int:
    """Splitmix64 once more, in Python's own integers."""
    mask = 2**64 - 1
    z = ((vertex << 20) + dimension + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return -1 if (z ^ z >> 31) >> 63 else 1


def test_signs_never_change_from_release_to_release() -> None:
    assert signs(np.array([0, 1, 169_342]), 124, 128).tolist() == [
        [-1, -1, 1, 1],
        [-1, -1, -1, 1],
        [1, 1, 1, -1],
    ]


@given(st.integers(0, 10**9), st.integers(0, 500))
def test_signs_are_bits_of_an_integer_hash_of_id_and_dimension(vertex: int, dimension: int) -> None:
    assert signs(np.array([vertex]), dimension, dimension + 1).tolist() == [[sign(vertex, dimension)]]


def test_signs_are_balanced_and_differ_from_vertex_to_vertex() -> None:
    drawn = signs(np.arange(2000), 0, 128)
    assert abs(drawn.mean()) < 0.01
    assert len({row.tobytes() for row in drawn}) == 2000


def test_a_small_example_worked_by_hand() -> None:
    found = features(CITATIONS, BORN)
    zero, one = (np.array([sign(v, d) for d in range(20)]) for v in (0, 1))
    assert found.dtype == np.float32
    assert not found[0].any()
    assert np.array_equal(found[1], zero.astype(np.float32))
    # two references; of those only vertex 1 cites, and it cites vertex 0
    assert np.array_equal(found[2], ((zero + one) / np.sqrt(2.0) + zero).astype(np.float32))
    assert not found[3].any()


@pytest.mark.parametrize("extra", [(0, 3), (1, 2), (2, 1), (1, 1)])
def test_a_citation_of_a_later_year_or_of_itself_or_given_twice_changes_nothing(
    extra: tuple[int, int],
) -> None:
    assert np.array_equal(features([*CITATIONS, extra], BORN), features(CITATIONS, BORN))


def test_a_citation_within_the_same_year_counts() -> None:
    assert features([(1, 0)], [2000, 2000])[1].any()


@given(
    st.lists(st.integers(2000, 2004), min_size=2, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=5),
)
def test_appending_a_later_year_changes_no_earlier_row(
    born: list[int], citations: list[tuple[int, int]], new: list[tuple[bool, int]]
) -> None:
    n = len(born)
    citations = [(a % n, b % n) for a, b in citations]
    more = [(n, v % (n + 1)) if out else (v % (n + 1), n) for out, v in new]
    before = features(citations, born)
    assert np.array_equal(features([*citations, *more], [*born, 2005])[:n], before)


def test_a_label_plays_no_role(tmp_path: Path) -> None:
    rows = {
        "edge": "1,0\n2,0\n2,1\n",
        "node_year": "2000\n2001\n2002\n2003\n",
    }
    found = []
    for labels in ("0\n1\n0\n1\n", "1\nnan\n0\n0\n"):
        for name, text in (rows | {"node-label": labels}).items():
            (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        found.append(importers.get("ogb")(tmp_path, {"features": "structure", "dimensions": 20}))
    assert not np.array_equal(found[0].labels, found[1].labels)
    assert np.array_equal(np.asarray(found[0].features), np.asarray(found[1].features))
    assert np.array_equal(np.asarray(found[0].features), features(CITATIONS, BORN))


@pytest.mark.parametrize("bad", [(1, 4), (-1, 0)])
def test_a_citation_of_a_paper_that_does_not_exist_names_its_line(bad: tuple[int, int]) -> None:
    with pytest.raises(DataError, match=rf"edge\.csv\.gz, line 2: the citation {bad[0]} - {bad[1]} names"):
        features([(1, 0), bad], BORN)
