from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.leaderboard.stats.holm import holm


def test_holm_worked_by_hand():
    assert holm(np.array([0.01, 0.02, 0.03])) == pytest.approx([0.03, 0.04, 0.04])
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])
    assert len(holm(np.array([]))) == 0
