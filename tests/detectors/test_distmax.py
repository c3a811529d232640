from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.distmax import DistMax
from tests.support.stubs import isomax_model


def test_distmax_adds_largest_and_mean_logit_and_takes_off_the_entropy():
    model, g = isomax_model(scale=-2.0)
    units = [(1.0, 0.0), (0.6, 0.8), (0.0, -1.0)]
    expected = []
    for z in units:
        d = [2 * math.dist(z, p) / math.sqrt(2) for p in ((1, 0), (0, 1), (-1, 0))]
        logits = [-(x + sum(d) / 3) for x in d]
        total = sum(map(math.exp, logits))
        entropy = -sum(math.exp(x) / total * math.log(math.exp(x) / total) for x in logits)
        expected.append(-(max(logits) + sum(logits) / 3 - entropy))
    assert DistMax().score(model, g) == pytest.approx(expected, rel=1e-6)
    assert (DistMax.heads, DistMax.bounded) == (("isomax+",), False)
