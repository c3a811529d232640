from __future__ import annotations

from lgl_bench.detectors.max_logit import MaxLogit
from tests.support.stubs import scores_of_logits


def test_max_logit_is_the_negative_of_the_largest_logit():
    assert scores_of_logits(MaxLogit()).tolist() == [-2.0, 0.0, 2.0]
    assert not MaxLogit.bounded
