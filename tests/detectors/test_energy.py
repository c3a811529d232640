from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.energy import Energy
from tests.support.stubs import LOGITS, scores_of_logits


def test_energy_is_the_negative_of_the_log_of_the_summed_exponentials():
    expected = [-math.log(sum(map(math.exp, row))) for row in LOGITS]
    assert scores_of_logits(Energy()) == pytest.approx(expected, rel=1e-6)
    tempered = [-2 * math.log(sum(math.exp(x / 2) for x in row)) for row in LOGITS]
    assert scores_of_logits(Energy(temperature=2)) == pytest.approx(tempered, rel=1e-6)
    assert not Energy.bounded


def test_energy_of_huge_logits_stays_finite():
    assert scores_of_logits(Energy(), [[1e4, 0.0]]).tolist() == [-1e4]
