from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.msp import Msp
from lgl_bench.detectors.propagate import propagate
from lgl_bench.detectors.scale import Scale, scale
from tests.support.stubs import fitted
from tests.support.trained import gcn_logits, logsumexp, parts, small_case


def by_formula(z, percentile):
    """Vertex by vertex; rows of zeros stay as they are."""
    scaled = []
    for row in z:
        k = max(1, len(row) - round(len(row) * percentile / 100))
        kept = sum(sorted(row, reverse=True)[:k])
        scaled.append(row * math.exp(sum(row) / kept) if kept else row)
    return np.stack(scaled)


def test_embeddings_grow_with_the_share_of_the_sum_that_small_units_hold():
    z = torch.tensor([[1.0, 9.0, 0.0, 2.0], [3.0, 3.0, 3.0, 3.0]])
    # The largest unit holds 9 of 12, and one of four equal ones a quarter.
    expected = [[x * math.exp(12 / 9) for x in (1, 9, 0, 2)], [3 * math.exp(4)] * 4]
    assert scale(z, 75).numpy() == pytest.approx(np.array(expected), rel=1e-5)
    assert scale(z, 0).numpy() == pytest.approx(z.numpy() * math.e, rel=1e-5)


@pytest.mark.parametrize("percentile", [0, 35, 60, 90])
def test_it_is_the_formula_in_plain_numpy_with_the_last_layer_applied_to_changed_neighbours(percentile):
    model, g, labels = small_case(hidden=9)
    detector = fitted(Scale(Energy(), percentile=percentile), model, g, labels)
    expected = -logsumexp(gcn_logits(model, g, by_formula(parts(model, g)[0], percentile)))
    assert detector.score(model, g) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_propagate_over_scale_propagates_the_energy_of_scaled_embeddings():
    model, g, labels = small_case()
    detector = fitted(build(parse("propagate(scale(energy))"), detectors), model, g, labels)
    raw = -logsumexp(gcn_logits(model, g, by_formula(parts(model, g)[0], 85)))
    assert detector.score(model, g) == pytest.approx(propagate(raw, g.edges, 2, 0.5), rel=1e-4, abs=1e-4)
    assert Scale(Msp()).bounded and not Scale(Energy()).bounded


def test_units_that_do_not_add_up_to_more_than_zero_have_a_ratio_of_one():
    z = torch.tensor([[0.0, 0.0], [-1.0, -2.0]])
    assert scale(z, 50).numpy() == pytest.approx(z.numpy() * math.e)


def test_no_ratio_makes_embeddings_infinite():
    assert torch.isfinite(scale(torch.full((1, 2000), 3.0), 99.9)).all()
    assert torch.isfinite(scale(torch.tensor([[1e-30, -1e6, 0.0]]), 60)).all()


def test_a_percentile_that_leaves_no_unit_is_refused():
    with pytest.raises(UsageError, match=r"percentile = 100: it must lie in \[0, 100\)"):
        Scale(Energy(), percentile=100)


def test_it_has_to_be_fitted():
    model, g, _ = small_case()
    with pytest.raises(PluginError, match="scale has not been fitted; call fit first"):
        Scale(Energy()).score(model, g)
