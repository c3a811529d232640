from __future__ import annotations

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.ash import Ash, ash
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.mahalanobis import Mahalanobis
from lgl_bench.detectors.msp import Msp
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, logsumexp, parts, small_case


def by_formula(z, percentile):
    """Vertex by vertex; k units are kept."""
    shaped = np.zeros_like(z)
    for row, out in zip(z, shaped, strict=True):
        k = max(1, len(row) - round(len(row) * percentile / 100))
        kept = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        out[kept] = row.sum() / k
    return shaped


def test_the_largest_units_share_the_sum_and_the_others_are_zero():
    z = torch.tensor([[1.0, 9.0, 0.0, 2.0], [4.0, 4.0, 4.0, 0.0]])
    assert ash(z, 75).tolist() == [[0.0, 12.0, 0.0, 0.0], [12.0, 0.0, 0.0, 0.0]]
    assert ash(z, 50).tolist() == [[0.0, 6.0, 0.0, 6.0], [6.0, 6.0, 0.0, 0.0]]
    assert ash(z, 0).tolist() == [[3.0] * 4, [3.0] * 4]
    assert ash(z, 99).tolist() == ash(z, 75).tolist()


@pytest.mark.parametrize("percentile", [0, 35, 60, 90])
def test_it_is_the_formula_in_plain_numpy_with_the_last_layer_applied_to_changed_neighbours(percentile):
    model, g, labels = small_case(hidden=9)
    detector = fitted(Ash(Energy(), percentile=percentile), model, g, labels)
    shaped = by_formula(parts(model, g)[0], percentile)
    expected = -logsumexp(gcn_logits(model, g, shaped))
    assert detector.score(model, g) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_a_wrapped_detector_is_fitted_on_changed_embeddings():
    model, g, labels = small_case()
    detector = fitted(Ash(Mahalanobis(), percentile=60), model, g, labels)
    shaped = by_formula(parts(model, g)[0], 60)
    assert detector.base.means_ == pytest.approx(np.stack([shaped[labels == k].mean(axis=0) for k in range(3)]), 1e-5)


def test_good_over_ash_is_bounded_and_ash_takes_over_bounds_and_heads():
    assert Ash(Msp()).bounded and not Ash(Energy()).bounded
    assert build(parse("ash(isomax+)"), detectors).heads == ("isomax+",)
    model, g, labels = small_case()
    scores = fitted(build(parse("good(ash(energy))"), detectors), model, g, labels).score(model, g)
    assert scores.min() >= 0 and scores.max() <= 1


def test_nothing_but_zeros_stays_zero():
    assert ash(torch.zeros(2, 5), 80).tolist() == [[0.0] * 5] * 2


@pytest.mark.parametrize("percentile", [-1.0, 100.0])
def test_a_percentile_that_leaves_no_unit_is_refused(percentile):
    with pytest.raises(UsageError, match=rf"percentile = {percentile}: it must lie in \[0, 100\)"):
        Ash(Energy(), percentile=percentile)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="ash has not been fitted; call fit first"):
        Ash(Energy()).score(model, g)
