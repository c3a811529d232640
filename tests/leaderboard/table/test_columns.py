from __future__ import annotations

from lgl_bench.leaderboard.table.columns import metrics_in
from lgl_bench.leaderboard.table.schema import (
    HEADLINE,
)


def test_a_metric_of_ones_own_comes_after_the_headline_ones():
    assert metrics_in(["zeal_n_seeds", "area_over_time_mean", "accuracy_mean", "git_commit"]) == [
        *HEADLINE,
        "area_over_time",
        "zeal",
    ]
