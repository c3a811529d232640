from __future__ import annotations

import pandas as pd

from lgl_bench.leaderboard.ranking import ranked
from tests.support.boards import board, decided, figures, row


def test_rows_are_ranked_by_weighted_auroc_within_what_may_be_compared():
    found = ranked(
        board(
            row(0.6, detector="b"),
            row(0.8, detector="a"),
            row(0.7, detector="c", budget="paper"),
            row(0.5, detector="d", stream="cora"),
            row(None, detector="e"),
        )
    )
    by = found.set_index("detector")
    assert by.loc[["a", "b", "c", "d"], "rank"].tolist() == [1, 2, 1, 1]
    assert pd.isna(by.loc["e", "rank"]) and by.loc["e", "standing"] == "unranked"
    assert found["group"].nunique() == 3
    same = found[found["group"] == by.loc["a", "group"]]
    assert same["detector"].tolist() == ["a", "b", "e"]


def test_a_row_that_more_seeds_would_tell_from_the_best_is_inconclusive_and_any_other_a_tie():
    # Deviation 0.01 on both sides. 0.005 has t = 0.5 sqrt(S / 2): alone 1.968 with 31 seeds, below 2.000, and 2.000
    # with 32, above 1.999. Beside a row that stays open Holm doubles its p: 2.264 with 41, below 2.284, and 2.291 with
    # 42, above 2.283. 0.001 reaches only 0.7 with a hundred.
    found = ranked(
        board(
            row(0.80, detector="best"),
            row(0.795, detector="close"),
            row(0.799, detector="closest"),
            row(0.60, detector="far"),
        )
    ).set_index("detector")
    assert found["standing"].to_dict() == {
        "best": "best",
        "closest": "tie",
        "close": "inconclusive (39 more seeds)",
        "far": "behind",
    }
    alone = ranked(board(row(0.80, detector="best"), row(0.795, detector="close"))).set_index("detector")
    assert alone.loc["close", "standing"] == "inconclusive (29 more seeds)"


def test_seeds_that_split_anew_are_told_apart_less_easily():
    # t = 2.8 / sqrt(2 / S + 2 / 3): 2.425 with three seeds, below 2.776, and 2.593 with four, above 2.447.
    for split, standing in (("temporal", "behind"), ("60-20-20", "inconclusive (1 more seed)")):
        found = ranked(board(row(0.728, detector="a", split=split), row(0.700, split=split)))
        assert found["standing"].tolist() == ["best", standing]


def test_fewer_than_three_seeds_are_not_tested_but_equal_values_are_ties():
    found = ranked(
        board(row(0.8, None, 1, detector="a"), row(0.7, None, 1, detector="b"), row(0.8, None, 1, detector="c"))
    ).set_index("detector")
    assert found["standing"].to_dict() == {"a": "best", "c": "tie", "b": "untested"}
    assert found["rank"].to_dict() == {"a": 1, "c": 1, "b": 3}


def test_decisions_are_ranked_among_themselves_by_mcc_and_the_oracle_is_not():
    found = ranked(
        board(row(0.9), decided("naive(delta=0.1)", 0.4), decided("quantile(q=0.1)", 0.6), decided("oracle", 0.9))
    ).set_index("threshold")
    assert found.loc["quantile(q=0.1)", "rank"] == 1 and found.loc["naive(delta=0.1)", "rank"] == 2
    assert pd.isna(found.loc["oracle", "rank"]) and found.loc["", "rank"] == 1


def test_another_metric_may_rank_and_less_is_better_where_it_is():
    found = ranked(
        board(
            row(0.9, detector="a", **figures("fpr95", 0.5, 0.01, 3)),
            row(0.7, detector="b", **figures("fpr95", 0.2, 0.01, 3)),
        ),
        by="fpr95",
    )
    assert found["detector"].tolist() == ["b", "a"] and found["standing"].tolist() == ["best", "behind"]
