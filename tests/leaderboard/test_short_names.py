from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.short_names import BESIDE, NAMES, distinct, short_names
from tests.support.boards import board, row


def test_a_name_has_values_only_if_two_rows_of_a_group_need_them():
    frame = ranked(
        board(
            row(0.9, detector="good(odin(eps=0.1,temperature=1.0),alpha=0.5)"),
            row(0.8, detector="good(odin(eps=0.1,temperature=2.0),alpha=0.5)"),
            row(0.7, detector="energy(temperature=1.0)"),
            row(0.6, detector="energy(temperature=2.0)", stream="other"),
        )
    )
    found = short_names(frame)["detector"].tolist()
    assert found == ["good(odin(temperature=1.0))", "good(odin(temperature=2.0))", "energy", "energy"]


def test_rows_of_one_name_say_what_else_they_differ_in():
    frame = ranked(board(row(0.9, head="softmax"), row(0.8, head="gdoc"), row(0.7, detector="odin")))
    assert short_names(frame)[BESIDE].tolist() == ["head softmax", "head gdoc", ""]


def test_in_full_every_value_is_there():
    frame = ranked(board(row(0.9, detector="energy(temperature=1.0)", strategy="window(restart=warm,years=3)")))
    found = short_names(frame, full=True).iloc[0]
    assert (found["detector"], found["strategy"]) == ("energy(temperature=1.0)", "window(restart=warm,years=3)")


VALUES = st.integers(0, 2)
EXPRESSIONS = st.builds("{}(m{},a={},b={})".format, st.sampled_from("pq"), st.sampled_from("12"), VALUES, VALUES)


@given(st.lists(EXPRESSIONS, min_size=1, max_size=8, unique=True))
def test_different_expressions_never_get_the_same_name(texts):
    assert len(set(distinct(texts))) == len(texts)


def test_no_two_rows_of_a_group_have_the_same_name():
    rows = [
        row(0.5, detector=d, backbone=b, head=h)
        for d in ("good(msp,alpha=0.2)", "good(msp,alpha=0.5)")
        for b in ("graphsage", "graph-mlp")
        for h in ("softmax", "gdoc")
    ]
    found = short_names(ranked(board(*rows)))
    assert not found.duplicated([*NAMES, BESIDE]).any()
