from __future__ import annotations

import pytest

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.report.terminal.closing import closing
from tests.support.boards import board, decided, row


def said(*rows, **own) -> str:
    (paragraph,) = closing(ranked(board(*rows)), own)
    return paragraph


def test_it_says_who_leads_and_what_it_is_not_told_apart_from():
    text = said(row(0.8, detector="odin(eps=0.1)"), row(0.7999), row(0.3, detector="knn"))
    assert text == "dblp-easy: odin on gcn leads with auroc_weighted 0.800, and is not told apart from msp on gcn."
    alone = said(row(0.8, detector="odin"), row(0.3), row(0.2, detector="knn"))
    assert alone.endswith("leads with auroc_weighted 0.800; all 2 others are behind beyond noise.")
    many = said(row(0.8), *(row(0.7999, detector=f"d{at}") for at in range(5)))
    assert many.endswith("d0 on gcn, d1 on gcn, d2 on gcn and 2 more.")
    assert "with fewer than three seeds nothing is told apart" in said(
        row(0.8, None, 1), row(0.3, None, 1, detector="x")
    )


def test_it_says_how_far_the_floor_is_and_how_many_beat_it():
    rows = [row(0.8, above_floor="yes"), row(0.7, detector="odin", above_floor="no")]
    text = said(*rows, row(0.5, detector="degree", above_floor="floor"), row(0.4, detector="random"))
    assert "The floor, degree on gcn, is at 0.500, 0.300 below; 1 of 2 methods beats it beyond noise." in text
    leads = said(row(0.9, detector="recency", above_floor="floor"), row(0.5, above_floor="no"))
    assert "recency on gcn, which is part of the floor, leads" in leads and "at the top" in leads
    assert "the other row does not beat it" in leads


def test_it_says_how_far_the_oracle_is():
    oracle = decided("oracle", 0.5) | {"track": "upper bound"}
    text = said(row(0.8), decided("naive(delta=0.1)", 0.3), oracle)
    assert text.endswith(
        "The oracle, which is told the truth, decides with mcc 0.500, 0.200 above the best, naive on msp, gcn."
    )


@pytest.mark.parametrize(
    ("own", "other", "end"),
    [
        ({"auroc_weighted": 0.795}, {}, "not told apart from the best: 29 more seeds would settle it (--seeds 32)."),
        ({"auroc_weighted": 0.3}, {}, "ranks 2 of 2 with auroc_weighted 0.300, and is behind the best beyond noise."),
        ({"auroc_weighted": 0.9, "detector": "good(mine,alpha=0.5)"}, {}, "and msp on gcn is behind it beyond noise."),
        ({"std": None, "seeds": 1}, {"std": None, "seeds": 1}, "to test it against the best (--seeds 3)."),
        ({"auroc_weighted": 0.79999}, {}, "a hundred seeds would not settle it either."),
        ({"failed_years": 1, "failed_seeds": 1}, {}, "1 test years or folds failed with 1 seeds."),
    ],
)
def test_it_says_where_your_plugin_stands_and_what_would_settle_it(own, other, end):
    text = said(row(**{"detector": "mine", **own}), row(0.8, **other), detector=["mine"])
    assert "Your " in text and text.endswith(end)


def test_the_floor_is_said_of_your_detector_and_thresholds_rank_among_decisions():
    text = said(row(0.8), row(0.3, detector="mine", above_floor="no"), detector=["mine"])
    assert "Your mine on gcn ranks 2 of 2 with auroc_weighted 0.300, does not beat the floor beyond noise" in text
    rows = [row(0.8), decided("mine(q=0.1)", 0.3), decided("naive(delta=0.1)", 0.1)]
    assert "Your mine on msp, gcn ranks 1 of 2 with mcc 0.300" in said(*rows, threshold=["mine"], detector=[])


def test_without_plugins_nothing_is_said_of_yours_and_every_stream_has_a_paragraph():
    found = closing(ranked(board(row(0.8), row(0.7, stream="other"))), {})
    assert [text.partition(":")[0] for text in found] == ["dblp-easy", "other"]
    assert "Your" not in " ".join(found)
    assert closing(ranked(board(row(0.8))).iloc[:0], {}) == []


def test_strategies_are_named_if_rows_differ_in_them():
    rows = [row(0.8, strategy="finetune"), row(0.3, strategy="replay(balance=auto,graph=all,pick=random,size=50)")]
    assert said(*rows).startswith("dblp-easy: msp on gcn, finetune leads")
