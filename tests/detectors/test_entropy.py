from __future__ import annotations

import math

import numpy as np
import pytest

from lgl_bench.detectors.entropy import Entropy
from tests.support.stubs import scores_of_logits
from tests.support.trained import softmax


def test_entropy_is_one_where_all_classes_are_as_likely_and_nothing_where_one_is_certain():
    found = scores_of_logits(Entropy(), [[1.0, 1.0, 1.0], [100.0, 0.0, 0.0], [0.0, 0.0, -1e4]])
    assert found[0] == pytest.approx(1)
    assert 0 <= found[1] < 1e-12
    assert found[2] == pytest.approx(math.log(2) / math.log(3))


def test_entropy_is_the_formula_in_plain_numpy():
    logits = np.random.default_rng(0).normal(size=(20, 5)) * 4
    p = softmax(logits)
    expected = -(p * np.log(p)).sum(axis=1) / np.log(5)
    assert scores_of_logits(Entropy(), logits.tolist()) == pytest.approx(expected, rel=1e-5)
