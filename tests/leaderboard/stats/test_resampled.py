from __future__ import annotations

import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.leaderboard.stats.resampled import is_random, shared_part, split_ratio


def test_the_ratio_of_a_split_is_read_off_its_name():
    assert split_ratio("60-20-20") == pytest.approx(1 / 3) and split_ratio("80-10-10") == pytest.approx(1 / 8)
    assert (
        shared_part("60-20-20") == split_ratio("60-20-20") and shared_part("planetoid") == shared_part("temporal") == 0
    )
    assert is_random("60-20-20") and not is_random("planetoid") and not is_random("temporal")
    with pytest.raises(UsageError, match="planetoid"):
        split_ratio("planetoid")
