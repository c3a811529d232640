from __future__ import annotations

import numpy as np
import torch

from lgl_bench.backbones.layers.sparse import SparseMatrix, to_matrix
from tests.support.graphs import to_sparse


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
