from __future__ import annotations

import pytest

from lgl_bench.core.errors import PluginError
from lgl_bench.detectors.knn import Knn
from lgl_bench.detectors.mahalanobis import Mahalanobis
from tests.support.stubs import Says, points


@pytest.mark.parametrize("detector", [Knn(), Mahalanobis()])
def test_a_detector_that_learns_refuses_to_score_before(detector):
    g = points(2)
    with pytest.raises(PluginError, match="has not been fitted; call fit first"):
        detector.score(Says((g, None, [[1.0], [2.0]])), g)
