from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.core.errors import PluginError, UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.energy import Energy
from lgl_bench.detectors.good import Good
from lgl_bench.detectors.mapping import Mapping
from lgl_bench.detectors.odin import Odin
from lgl_bench.detectors.propagate import GnnSafe, Propagate, propagate
from tests.support.graphs import graph, random_graph
from tests.support.stubs import Fixed, fitted, points
from tests.support.trained import gcn_logits, logsumexp, parts, small_case

# A path 0, 1, 2; vertex 3 is isolated.
PATH = graph([(0, 1), (1, 2)], np.ones((4, 1), dtype=np.float32))


def propagated(base, g=PATH, **parameters):
    return fitted(Propagate(base, **parameters), None, g).score(None, g)


def test_each_step_mixes_a_score_with_the_mean_of_the_neighbours():
    # One step, alpha 0.75: 0.75 * 8 + 0.25 * 0, 0.75 * 0 + 0.25 * (8 + 4) / 2, 0.75 * 4 + 0.25 * 0.
    assert propagated(Fixed([8.0, 0.0, 4.0, 5.0]), steps=1, alpha=0.75) == pytest.approx([6.0, 1.5, 3.0, 5.0])
    # And once more: 0.75 * 6 + 0.25 * 1.5, 0.75 * 1.5 + 0.25 * (6 + 3) / 2, 0.75 * 3 + 0.25 * 1.5.
    assert propagated(Fixed([8.0, 0.0, 4.0, 5.0]), steps=2, alpha=0.75) == pytest.approx([4.875, 2.25, 2.625, 5.0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0, 1))
def test_on_random_graphs_it_is_the_formula_vertex_by_vertex(seed, steps, alpha):
    g = random_graph(seed=seed)
    s = np.random.default_rng(seed).normal(size=12) * 5
    found = propagate(s, g.edges, steps, alpha)
    for _ in range(steps):
        means = [np.mean(into) if len(into := s[g.edges[0][g.edges[1] == v]]) else s[v] for v in range(12)]
        s = alpha * s + (1 - alpha) * np.array(means)
    assert found == pytest.approx(s)


def test_an_isolated_vertex_keeps_its_score():
    s = [0.3, -7.0, 11.0]
    assert propagated(Fixed(s, bounded=False), points(3), steps=9, alpha=0.1) == pytest.approx(s)


def test_with_alpha_1_scores_stay_as_they_are():
    assert propagated(Fixed([8.0, 0.0, 4.0, 5.0]), alpha=1.0).tolist() == [8.0, 0.0, 4.0, 5.0]


def test_scores_stay_within_the_range_of_the_wrapped_detector():
    g = random_graph(edges=60)
    s = np.random.default_rng(0).random(12)
    found = propagated(Fixed(s), g, steps=4)
    assert s.min() <= found.min() and found.max() <= s.max()


def test_good_is_one_step_on_mapped_scores():
    g, raw = random_graph(), np.random.default_rng(0).normal(size=12)
    good = fitted(Good(Fixed(raw, bounded=False), 0.3), None, g).score(None, g)
    one_step = propagate(Mapping.of(raw)(raw), g.edges, steps=1, alpha=0.7)
    assert good == pytest.approx(one_step)


def test_gnnsafe_is_the_energy_propagated_in_two_steps():
    model, g, _ = small_case()
    found = fitted(GnnSafe(), model, g).score(model, g)
    assert found.tolist() == fitted(Propagate(Energy()), model, g).score(model, g).tolist()
    assert found == pytest.approx(propagate(-logsumexp(parts(model, g)[1]), g.edges, 2, 0.5), abs=1e-6)
    assert str(parse("gnnsafe")) == "gnnsafe" and build(parse("gnnsafe"), detectors).steps == 2


def test_a_wrapped_detector_sees_changed_outputs():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(gnnsafe, percentile=60)"), detectors), model, g, labels)
    z = np.minimum(parts(model, g)[0], detector.limit_)
    expected = propagate(-logsumexp(gcn_logits(model, g, z)), g.edges, 2, 0.5)
    assert detector.score(model, g) == pytest.approx(expected, abs=1e-5)


def test_it_takes_over_heads_bounds_and_what_is_read():
    assert build(parse("propagate(isomax+)"), detectors).heads == ("isomax+",)
    assert Propagate(Fixed([0.1])).bounded and not GnnSafe().bounded
    assert not Propagate(Odin()).reads_outputs and GnnSafe().reads_outputs


def test_it_fits_what_it_wraps_and_has_to_be_fitted():
    model, g, labels = small_case()
    assert fitted(build(parse("propagate(mahalanobis)"), detectors), model, g, labels).base.means_.shape == (3, 5)
    with pytest.raises(PluginError, match="propagate has not been fitted; call fit first"):
        Propagate(Energy()).score(model, g)
    with pytest.raises(PluginError, match="gnnsafe has not been fitted"):
        GnnSafe().score(model, g)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [({"steps": 0}, "steps = 0: it must be at least 1"), ({"alpha": 1.5}, r"alpha = 1.5: it must lie in \[0, 1\]")],
)
def test_values_out_of_range_are_refused(parameters, said):
    with pytest.raises(UsageError, match=said):
        GnnSafe(**parameters)
