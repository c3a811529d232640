from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.vim import Vim, residual_axes, vim
from tests.support.graphs import random_graph
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, gcn_weights, logsumexp, parts, small_case


def by_formula(w, b, z, f, fresh_z, fresh_f, dim):
    """The formula in plain numpy: eigenvectors from an SVD of z - u, residual by projecting out the first ones."""
    u = -np.linalg.pinv(w) @ b
    _, _, axes = np.linalg.svd(z - u, full_matrices=True)
    principal = axes[:dim]

    def residual(rows):
        around = rows - u
        return np.linalg.norm(around - around @ principal.T @ principal, axis=1)

    a = f.max(axis=1).mean() / residual(z).mean()
    return a * residual(fresh_z) - logsumexp(fresh_f)


def lively_case():
    """Every unit fires, so that there is a residual whatever is kept."""
    model, g, labels = small_case(n=40, hidden=8)
    model.backbone.projections[0].bias.data.add_(1.0)
    return model, g, labels


def test_a_worked_example():
    # Rows 3, 1 and 4 along the first axis, at most 1 along the second: that one is left over.
    around = np.array([[3.0, 0.0], [1.0, 1.0], [4.0, 0.0]])
    axes = residual_axes(around, 1)
    assert np.abs(np.array([0.1, 0.99]) @ axes) > 0.8
    z = np.array([[2.0, 5.0], [2.0, -1.0]])
    logits = torch.tensor([[0.0, 0.0], [0.0, 0.0]])
    # The residuals from (1, 1) along the second axis are 4 and 2; logsumexp is log 2.
    found = vim(z, logits, np.array([1.0, 1.0]), np.array([[0.0], [1.0]]), 0.5)
    assert found == pytest.approx([2 - np.log(2), 1 - np.log(2)])


@pytest.mark.parametrize(("dim", "kept"), [(0.5, 4), (0.25, 2), (3, 3), (0.01, 1), (100, 7)])
def test_it_is_the_formula_in_plain_numpy_on_a_trained_and_a_new_graph(dim, kept):
    model, train, labels = lively_case()
    test = random_graph(n=20, edges=40, seed=5)
    used = np.arange(30)
    detector = fitted(Vim(dim=dim), model, train, labels, fit_vertices=used)
    (z, f), (fresh_z, fresh_f) = parts(model, train), parts(model, test)
    expected = by_formula(*gcn_weights(model), z[used], f[used], fresh_z, fresh_f, kept)
    assert detector.score(model, test) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert not Vim.bounded


def test_without_a_residual_the_energy_is_left():
    model, g, labels = small_case()
    with torch.no_grad():
        model.backbone.projections[0].weight.zero_()
        model.backbone.projections[0].bias.fill_(1.0)
    detector = fitted(Vim(), model, g, labels)
    assert detector.scale_ == 0.0
    assert detector.score(model, g) == pytest.approx(-logsumexp(parts(model, g)[1]))


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "mlp", "graph-mlp"])
def test_it_works_on_every_backbone(backbone):
    model, g, labels = small_case(backbone=backbone)
    assert np.isfinite(fitted(Vim(), model, g, labels).score(model, g)).all()


def test_over_clipped_embeddings_it_reads_those_and_their_logits():
    model, g, labels = lively_case()
    detector = fitted(build(parse("react(vim, percentile=90)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    f = gcn_logits(model, g, z)
    assert detector.score(model, g) == pytest.approx(by_formula(*gcn_weights(model), z, f, z, f, 4), abs=1e-4)


def test_a_prototype_head_is_not_offered():
    assert Vim.heads == ("softmax",)
    model, g, labels = small_case(head="isomax+")
    with pytest.raises(UsageError, match="no linear last layer"):
        fitted(Vim(), model, g, labels)


@pytest.mark.parametrize("dim", [0, -1.0, 2.5])
def test_a_dim_that_is_neither_a_share_nor_a_number_of_axes_is_refused(dim):
    with pytest.raises(UsageError, match=f"dim = {dim}: it must be a share between 0 and 1, or a whole number of axes"):
        Vim(dim=dim)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="vim has not been fitted; call fit first"):
        Vim().score(model, g)
