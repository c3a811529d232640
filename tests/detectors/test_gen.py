from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import build, parse
from lgl_bench.detectors import detectors
from lgl_bench.detectors.gen import Gen
from tests.support.stubs import LOGITS, fitted, scores_of_logits
from tests.support.trained import gcn_logits, parts, small_case, softmax


def by_formula(p, gamma, m):
    return [sum(x**gamma * (1 - x) ** gamma for x in sorted(row, reverse=True)[:m]) for row in p]


def test_a_worked_example():
    # p = 0.8, 0.2: twice 0.16 to the power of a half; the largest alone once.
    logits = [[math.log(0.8), math.log(0.2)]]
    assert scores_of_logits(Gen(gamma=0.5), logits) == pytest.approx([0.8])
    assert scores_of_logits(Gen(gamma=0.5, m=1), logits) == pytest.approx([0.4])


@pytest.mark.parametrize(("gamma", "m"), [(0.1, 100), (0.5, 2), (2.0, 1)])
def test_it_is_the_formula_in_plain_numpy(gamma, m):
    expected = by_formula(softmax(np.array(LOGITS)), gamma, m)
    assert scores_of_logits(Gen(gamma=gamma, m=m)) == pytest.approx(expected, rel=1e-5)
    assert not Gen.bounded


def test_a_surer_model_has_a_lower_score_however_sure_it_is():
    scores = scores_of_logits(Gen(), [[x, 0.0, 0.0] for x in (0.0, 10.0, 100.0, 200.0, 1000.0)])
    assert all(b < a for a, b in pairwise(scores)) and np.isfinite(scores).all()


def test_the_most_uncertain_vertex_has_the_highest_score():
    scores = scores_of_logits(Gen(), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    assert scores.argmax() == 0


def test_over_clipped_embeddings_probabilities_are_of_those():
    model, g, labels = small_case()
    detector = fitted(build(parse("react(gen, percentile=40)"), detectors), model, g, labels)
    p = softmax(gcn_logits(model, g, np.minimum(parts(model, g)[0], detector.limit_)))
    assert detector.score(model, g) == pytest.approx(by_formula(p, 0.1, 100), rel=1e-4)


@pytest.mark.parametrize(("gamma", "m"), [(0.0, 5), (0.1, 0)])
def test_values_out_of_range_are_refused(gamma, m):
    with pytest.raises(UsageError, match=f"gamma = {gamma}, m = {m}: gamma > 0, finite, and m >= 1"):
        Gen(gamma=gamma, m=m)
