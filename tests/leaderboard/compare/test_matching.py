from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.leaderboard.compare.matching import match
from lgl_bench.leaderboard.published import open_world_lgl
from lgl_bench.leaderboard.table.schema import COMPARABLE
from tests.support.boards import board, row


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    return open_world_lgl()


def pairs(a: pd.DataFrame, b: pd.DataFrame) -> list[tuple[str, str]]:
    found = match(a, b).pairs
    return [(a.loc[i, "detector"], b.loc[j, "detector"]) for i, j in zip(found["a"], found["b"], strict=True)]


def test_rows_of_the_same_method_are_set_against_each_other_whatever_their_order():
    a = board(row(detector="msp"), row(detector="odin"), row(detector="mine"))
    b = board(row(detector="odin"), row(detector="msp"), row(detector="yours"))
    found = match(a, b)
    assert pairs(a, b) == [("msp", "msp"), ("odin", "odin")]
    assert found.only_a.tolist() == [2] and found.only_b.tolist() == [2] and found.refused.empty


@pytest.mark.parametrize("column", COMPARABLE)
def test_what_is_not_comparable_is_refused_with_both_values(column):
    other = 7 if column in ("suite_version", "label_delay", "budget_version") else "other"
    found = match(board(row()), board(row(**{column: other})))
    assert found.pairs.empty and not len(found.only_a) and not len(found.only_b)
    (why,) = found.refused["why"]
    name = "data checksum" if column == "stream_checksum" else column
    assert why.startswith(name) and f"against {other}" in why


def test_every_reason_is_told():
    (why,) = match(board(row()), board(row(budget="paper", suite_version=2))).refused["why"]
    assert why == "suite_version 1 against 2; budget quick against paper"


def test_preset_and_selection_may_differ_and_are_noted():
    found = match(board(row()), board(row(preset="mine", select="t1")))
    assert found.pairs["note"].tolist() == ["preset paper against mine; select preset against t1"]


def test_the_same_preset_is_preferred_where_there_are_several():
    a = board(row(preset="x"), row(preset="y"))
    found = match(a, board(row(preset="y"), row(preset="x"))).pairs
    assert found[["a", "b"]].values.tolist() == [[0, 1], [1, 0]]


def test_a_comparable_row_wins_over_one_that_is_not():
    found = match(board(row()), board(row(budget="paper"), row()))
    assert found.pairs["b"].tolist() == [1] and found.refused.empty and found.only_b.tolist() == [0]


def test_another_stream_or_a_twin_is_no_counterpart():
    found = match(board(row()), board(row(stream="dblp-easy-twin")))
    assert found.pairs.empty and found.refused.empty and found.only_a.tolist() == [0]


def ours(**changes: object) -> dict[str, object]:
    about = {
        "stream": "cora",
        "protocol": "leave-class-out",
        "split": "60-20-20",
        "strategy": "",
        "restart": "",
        "budget": "paper",
    }
    return row(**{**about, **changes})


def test_our_rows_find_the_printed_ones_by_name_and_say_where_parameters_differ(published):
    a = board(
        ours(detector="odin(eps=0.05,temperature=1000.0)"),
        ours(detector="isomax+", head="isomax+"),
        ours(detector="odin(eps=0.5,temperature=1.0)", backbone="gat"),
        ours(detector="msp"),
        ours(detector="good(auto)", head=""),
    )
    found = match(a, published)
    assert [a.loc[i, "detector"] for i in found.pairs["a"]] == [a.loc[i, "detector"] for i in (0, 1, 2, 4)]
    assert found.only_a.tolist() == [3]
    notes = found.pairs["note"].tolist()
    assert notes[0] == notes[1] == "" and notes[2].startswith("detector odin(eps=0.5,temperature=1.0) against odin(")
    printed = published.loc[found.pairs["b"].iloc[3], "detector"]
    assert printed.startswith("good(")


def test_another_budget_than_the_papers_is_noted(published):
    (note,) = match(board(ours(detector="isomax+", head="isomax+", budget="quick")), published).pairs["note"]
    assert note == "budget quick against paper"


def test_a_printed_row_is_not_matched_under_another_protocol_strategy_or_split(published):
    for change in ({"strategy": "cold"}, {"label_delay": 1}, {"split": "planetoid", "stream": "dblp-easy"}):
        assert match(board(ours(detector="isomax+", **change)), published).pairs.empty


@pytest.mark.parametrize("name", ["dblp-easy-twin", "dblp-easy-twin(homophily=0.3)"])
def test_a_twin_is_refused_beside_the_figures_of_the_stream_it_stands_in_for(published, name):
    temporal = {"protocol": "temporal", "split": "temporal", "strategy": "full", "restart": "warm"}
    twin = board(ours(stream=name, detector="isomax+", head="isomax+", **temporal))
    for found in (match(twin, published), match(published, twin)):
        assert found.pairs.empty
        assert found.refused["why"].iloc[0].startswith("a synthetic twin stands in: stream ")
        assert "dblp-easy" in found.refused["why"].iloc[0]
    assert not len(match(twin, published).only_a)


def test_the_printed_parameters_win_over_others_of_the_same_name(published):
    a = board(ours(detector="odin(eps=0.5,temperature=1.0)"), ours(detector="odin(eps=0.05,temperature=1000.0)"))
    found = match(a, published)
    assert found.pairs["a"].tolist() == [1]


def test_a_threshold_printed_for_the_best_model_meets_our_best_one(published):
    a = board(
        ours(auroc_weighted=0.6, detector="msp", threshold="naive(delta=0.1)"),
        ours(auroc_weighted=0.8, detector="odin", threshold="naive(delta=0.1)"),
        ours(auroc_weighted=0.85, detector="odin", threshold="naive(delta=0.9)"),
    )
    found = match(a, published)
    assert found.pairs["a"].tolist() == [1]
    printed = published.loc[found.pairs["b"].iloc[0]]
    assert printed["backbone"] == "best" and printed["micro_f1_mean"] == 0.143


def test_printed_rows_may_stand_on_either_side(published):
    mine = board(ours(detector="isomax+", head="isomax+"))
    one, other = match(mine, published).pairs, match(published, mine).pairs
    assert one["a"].tolist() == other["b"].tolist() and one["b"].tolist() == other["a"].tolist()
    assert len(match(published, published).pairs) == len(published)
