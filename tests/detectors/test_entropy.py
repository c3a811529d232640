from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.entropy import Entropy
from tests.support.stubs import scores_of_logits


def test_entropy_is_one_where_all_classes_are_as_likely_and_nothing_where_one_is_certain():
    found = scores_of_logits(Entropy(), [[1.0, 1.0, 1.0], [100.0, 0.0, 0.0], [0.0, 0.0, -1e4]])
    assert found[0] == pytest.approx(1)
    assert 0 <= found[1] < 1e-12
    assert found[2] == pytest.approx(math.log(2) / math.log(3))
