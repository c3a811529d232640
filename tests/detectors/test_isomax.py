from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.isomax import IsoMaxPlusDetector
from tests.support.stubs import isomax_model


def test_isomax_is_half_the_distance_to_the_nearest_prototype_whatever_the_learned_scale():
    # Unit vectors (1, 0), (0.6, 0.8), (0, -1) against (1, 0), (0, 1), (-1, 0).
    expected = [0.0, math.sqrt(0.4) / 2, math.sqrt(2) / 2]
    for scale in (1.0, -7.0):
        model, g = isomax_model(scale)
        assert IsoMaxPlusDetector().score(model, g) == pytest.approx(expected, abs=1e-6)
