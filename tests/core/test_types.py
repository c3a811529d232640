from __future__ import annotations

from dataclasses import fields

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lgl_bench.core.types import Graph, Sparse, feature_rows


def sparse(dense: npt.NDArray[np.float32]) -> Sparse:
    csr = scipy.sparse.csr_matrix(dense)
    return Sparse(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, dense.shape[1])


MATRICES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.sampled_from([0.0, 0.0, 1.0, -2.5]),
)


@given(MATRICES)
def test_sparse_rows_made_dense_are_the_matrix_they_came_from(dense: npt.NDArray[np.float32]) -> None:
    rows = sparse(dense)
    assert rows.shape == dense.shape
    assert np.array_equal(rows.dense(), dense)


@given(MATRICES, st.data())
def test_any_span_of_rows_equals_the_same_span_of_the_dense_matrix(
    dense: npt.NDArray[np.float32], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(dense)))
    stop = data.draw(st.integers(start, len(dense)))
    part = feature_rows(sparse(dense), start, stop)
    assert isinstance(part, Sparse)
    assert part.indptr[0] == 0
    assert np.array_equal(part.dense(), dense[start:stop])
    assert np.array_equal(feature_rows(dense, start, stop), dense[start:stop])


@pytest.mark.parametrize("name", ["indptr", "indices", "values"])
def test_a_prefix_of_rows_copies_nothing(name: str) -> None:
    rows = sparse(np.eye(5, dtype=np.float32))
    assert np.shares_memory(getattr(rows, name), getattr(rows.rows(0, 3), name))


def test_the_bytes_of_sparse_rows_are_those_of_their_arrays() -> None:
    rows = sparse(np.eye(4, dtype=np.float32))
    assert rows.nbytes == 5 * 8 + 4 * 4 + 4 * 4


def test_a_graph_that_a_method_answers_has_no_labels() -> None:
    assert {field.name for field in fields(Graph)} == {"features", "edges", "num_vertices", "born"}
