from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.fdbd import Fdbd, fdbd
from tests.support.graphs import random_graph
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, gcn_weights, parts, small_case


def by_formula(w, z, f, mean):
    found = []
    for row, logits in zip(z, f, strict=True):
        top = int(np.argmax(logits))
        total = sum(
            (logits[top] - logits[c]) / np.sqrt(((w[top] - w[c]) ** 2).sum()) for c in range(len(w)) if c != top
        )
        found.append(-total / np.sqrt(((row - mean) ** 2).sum()))
    return found


def test_a_worked_example():
    # Distances (5 - 1) / 2 and (5 - 2) / 3 at a length of 5 from the mean; 8 / 2 and 4 / 4 at a length of 1.
    apart = np.array([[0.0, 2.0, 3.0], [2.0, 0.0, 4.0], [3.0, 4.0, 0.0]])
    z, logits = np.array([[4.0, 5.0], [1.0, 2.0]]), np.array([[5.0, 1.0, 2.0], [0.0, 8.0, 4.0]])
    assert fdbd(z, logits, apart, np.array([1.0, 1.0])) == pytest.approx([-3 / 5, -(8 / 2 + 4 / 4)])


def test_it_is_the_formula_in_plain_numpy_on_a_new_graph():
    model, train, labels = small_case()
    test = random_graph(n=20, edges=40, seed=5)
    used = np.arange(7)
    detector = fitted(Fdbd(), model, train, labels, fit_vertices=used)
    mean = parts(model, train)[0][used].mean(axis=0)
    expected = by_formula(gcn_weights(model)[0], *parts(model, test), mean)
    assert detector.score(model, test) == pytest.approx(expected, rel=1e-4)
    assert not Fdbd.bounded


def test_over_clipped_embeddings_it_reads_those_and_their_logits():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(fdbd, percentile=60)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    expected = by_formula(gcn_weights(model)[0], z, gcn_logits(model, g, z), z.mean(axis=0))
    assert detector.score(model, g) == pytest.approx(expected, rel=1e-3)


def test_equal_weights_and_an_embedding_at_the_mean_stay_finite():
    model, g, labels = small_case()
    with torch.no_grad():
        model.backbone.projections[1].weight.copy_(model.backbone.projections[1].weight[:, :1].expand(-1, 3))
        model.backbone.projections[0].weight.zero_()
    assert np.isfinite(fitted(Fdbd(), model, g, labels).score(model, g)).all()


@pytest.mark.parametrize("backbone", ["gcn", "graphsage", "gat", "mlp", "graph-mlp"])
def test_it_works_on_every_backbone(backbone):
    model, g, labels = small_case(backbone=backbone)
    scores = fitted(Fdbd(), model, g, labels).score(model, g)
    assert np.isfinite(scores).all() and scores.max() <= 0


def test_a_prototype_head_is_not_offered():
    assert Fdbd.heads == ("softmax",)
    model, g, labels = small_case(head="isomax+")
    with pytest.raises(UsageError, match="no linear last layer"):
        fitted(Fdbd(), model, g, labels)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="fdbd has not been fitted; call fit first"):
        Fdbd().score(model, g)
