from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.msp import Msp
from tests.support.stubs import LOGITS, scores_of_logits


def test_msp_is_one_minus_the_largest_class_probability():
    expected = [1 - math.exp(max(row)) / sum(map(math.exp, row)) for row in LOGITS]
    assert scores_of_logits(Msp()) == pytest.approx(expected, rel=1e-6)
    assert expected[1] == pytest.approx(2 / 3)
