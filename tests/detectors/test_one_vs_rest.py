from __future__ import annotations

import math

import pytest

from lgl_bench.detectors.one_vs_rest import DocDetector, GDocDetector
from tests.support.stubs import LOGITS, scores_of_logits


@pytest.mark.parametrize("detector", [DocDetector(), GDocDetector()])
def test_doc_and_gdoc_are_one_minus_the_largest_sigmoid(detector):
    expected = [1 - 1 / (1 + math.exp(-max(row))) for row in LOGITS]
    assert scores_of_logits(detector) == pytest.approx(expected, rel=1e-6)
    assert detector.heads == (("doc",) if isinstance(detector, DocDetector) else ("gdoc",))
