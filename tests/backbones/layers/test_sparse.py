from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.backbones.layers.sparse import SparseMatrix, slice_rows, to_matrix
from tests.support.graphs import random_graph, to_sparse


def test_a_sparse_product_and_its_gradients_equal_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((9, 40)) < 0.1, rng.random((9, 40)), 0).astype(np.float32)
    dense[4] = 0
    weight = torch.randn(40, 5, requires_grad=True)
    sparse = SparseMatrix.of(to_sparse(dense))
    values = sparse.values.clone().requires_grad_(True)
    x = torch.from_numpy(dense).requires_grad_(True)
    coefficients = torch.randn(9, 5)
    (sparse.with_values(values) @ weight * coefficients).sum().backward()
    by_sparse, weight.grad = weight.grad.clone(), None
    ((x @ weight) * coefficients).sum().backward()
    assert torch.allclose(by_sparse, weight.grad, atol=1e-5)
    assert torch.allclose(values.grad, x.grad[dense != 0], atol=1e-5)
    moved = sparse.with_values(2 * sparse.values)
    assert torch.allclose(moved @ weight, 2 * x @ weight, atol=1e-5)
    rows = torch.tensor([4, 1, 1])
    assert torch.allclose(sparse.take(rows) @ weight, x[rows] @ weight, atol=1e-5)


def test_features_go_the_sparse_way_only_where_that_is_cheaper():
    few = np.zeros((50, 100), dtype=np.float32)
    few[:, 0] = 1
    assert isinstance(to_matrix(to_sparse(few)), SparseMatrix)
    assert isinstance(to_matrix(to_sparse(np.ones((50, 100), dtype=np.float32))), torch.Tensor)
    assert isinstance(to_matrix(to_sparse(few[:, :8])), torch.Tensor)
    tenth = np.where(np.arange(100) % 10 == 0, np.ones((50, 100)), 0).astype(np.float32)
    fifth = np.where(np.arange(100) % 5 == 0, np.ones((50, 100)), 0).astype(np.float32)
    assert all(isinstance(to_matrix(to_sparse(scale * tenth)), SparseMatrix) for scale in (1.0, 0.5))
    assert all(isinstance(to_matrix(to_sparse(scale * fifth)), torch.Tensor) for scale in (1.0, 0.5))


@pytest.mark.parametrize("sparse", [False, True])
def test_a_slice_of_rows_multiplies_as_these_rows_do_and_gradients_flow_into_its_values(sparse):
    features = random_graph(n=20, columns=40, sparse=sparse).features
    whole = SparseMatrix.of(features) if sparse else to_matrix(features)
    values = (whole.values if sparse else whole).clone().requires_grad_(True)
    matrix = whole.with_values(values) if sparse else values
    weight = torch.rand(40, 3)
    product = slice_rows(matrix, 5, 12) @ weight
    assert torch.allclose(product, (matrix @ weight)[5:12])
    (found,) = torch.autograd.grad(product.sum(), [values])
    (expected,) = torch.autograd.grad((matrix @ weight)[5:12].sum(), [values])
    assert torch.allclose(found, expected) and found.any()
