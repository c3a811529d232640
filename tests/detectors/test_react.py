from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.mahalanobis import Mahalanobis
from lgl_bench.detectors.mapping import Mapping
from lgl_bench.detectors.msp import Msp
from lgl_bench.detectors.odin import Odin
from lgl_bench.detectors.react import React
from lgl_bench.training.model import build_model
from tests.support.graphs import random_graph
from tests.support.stubs import Says, calibration, fitted, points


def trained(seed=0):
    torch.manual_seed(seed)
    return build_model("gcn", "softmax", 6, np.arange(3), {"hidden": 5}).eval(), random_graph()


def clipped_by_hand(model, g, limit):
    """Embeddings clipped, and the logits of the last layer of a GCN from the dense formula."""
    z = np.minimum(model.outputs(g).embeddings.numpy(), limit)
    a = np.eye(g.num_vertices)
    a[g.edges[1], g.edges[0]] = 1
    a = a / np.sqrt(a.sum(0)) / np.sqrt(a.sum(1))[:, None]
    last = model.backbone.projections[1]
    return z, a @ z @ last.weight.detach().numpy() + last.bias.detach().numpy()


def test_the_limit_is_the_percentile_over_all_units_of_training_embeddings():
    z = np.arange(21).reshape(7, 3)
    g = points(7)
    model = Says((g, None, z))
    # The units of vertices 0 to 3 are 0 to 11; positions run from 0 to 11, so 90 % is 9.9 and 50 % is 5.5.
    assert fitted(React(Msp()), model, g, fit_vertices=range(4)).limit_ == pytest.approx(9.9)
    assert fitted(React(Msp(), percentile=50), model, g, fit_vertices=range(4)).limit_ == pytest.approx(5.5)


def test_clipped_embeddings_go_through_the_last_layer_before_the_wrapped_detector_sees_them():
    model, g = trained()
    detector = fitted(React(Energy(), percentile=70), model, g, fit_vertices=range(6))
    limit = np.percentile(model.outputs(g).embeddings.numpy()[:6], 70)
    assert detector.limit_ == pytest.approx(limit, rel=1e-5)
    _, logits = clipped_by_hand(model, g, limit)
    assert detector.score(model, g) == pytest.approx(-np.log(np.exp(logits).sum(1)), abs=1e-5)
    assert np.abs(detector.score(model, g) - Energy().score(model, g)).max() > 0.01


def test_at_the_largest_training_value_react_changes_nothing_on_the_training_graph():
    model, g = trained()
    detector = fitted(React(Msp(), percentile=100), model, g)
    assert detector.score(model, g) == pytest.approx(Msp().score(model, g), abs=1e-6)


def test_a_wrapped_detector_is_fitted_on_clipped_embeddings():
    model, g = trained()
    labels = np.arange(12) % 3
    detector = fitted(React(Mahalanobis(), percentile=60), model, g, labels)
    z, _ = clipped_by_hand(model, g, detector.limit_)
    expected = np.stack([z[labels == k].mean(axis=0) for k in range(3)])
    assert np.allclose(detector.base.means_, expected, atol=1e-6)


def test_react_takes_over_heads_and_bounds_of_what_it_wraps():
    assert React(Msp()).bounded
    assert not React(Energy()).bounded
    assert build(parse("react(isomax+)"), detectors).heads == ("isomax+",)


@pytest.mark.parametrize("text", ["react(odin)", "react(genodin)", "react(good(odin))"])
def test_react_refuses_what_computes_gradients_of_the_input(text):
    with pytest.raises(UsageError, match="react cannot wrap .*: it computes gradients of the input"):
        build(parse(text), detectors)
    with pytest.raises(UsageError, match="react cannot wrap odin"):
        React(Odin())


def test_good_over_react_mixes_the_mapped_energy_of_clipped_embeddings():
    model, g = trained()
    detector = fitted(build(parse("good(react(energy, percentile=80), alpha=1)"), detectors), model, g)
    _, logits = clipped_by_hand(model, g, detector.base.limit_)
    raw = -np.log(np.exp(logits).sum(1))
    low, middle, high = np.quantile(raw, [0.25, 0.5, 0.75])
    s = [1 / (1 + math.exp(-(x - middle) / (high - low))) for x in raw]
    expected = []
    for v in range(12):
        into = g.edges[0][g.edges[1] == v]
        expected.append(np.mean([s[u] for u in into]) if len(into) else s[v])
    assert detector.score(model, g) == pytest.approx(expected, abs=1e-4)


def test_react_over_good_learns_the_mapping_from_clipped_embeddings():
    model, g = trained()
    detector = fitted(build(parse("react(good(energy), percentile=80)"), detectors), model, g)
    _, logits = clipped_by_hand(model, g, detector.limit_)
    expected = Mapping.of(-np.log(np.exp(logits).sum(1)))
    assert detector.base.mapping_.median == pytest.approx(expected.median, abs=1e-5)
    assert detector.base.mapping_.spread == pytest.approx(expected.spread, abs=1e-5)


def test_a_model_of_the_year_before_is_clipped_at_its_own_limit():
    (now, g), (before, _) = trained(0), trained(1)
    detector = fitted(build(parse("good(react(energy, percentile=80))"), detectors), now, g)
    earlier = fitted(
        build(parse("good(react(energy, percentile=80))"), detectors), now, g, calibrated=calibration(before, g)
    )
    limit = np.percentile(before.outputs(g).embeddings.numpy(), 80)
    _, logits = clipped_by_hand(before, g, limit)
    assert earlier.mapping_.median == pytest.approx(np.median(-np.log(np.exp(logits).sum(1))), abs=1e-5)
    assert earlier.base.limit_ == detector.base.limit_


def test_react_has_to_be_fitted():
    model, g = trained()
    with pytest.raises(PluginError, match="react has not been fitted"):
        React(Msp()).score(model, g)
