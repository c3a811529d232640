from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lgl_bench.report.terminal.layout import Column, laid_out, sentences, text_width, wrapped


def columns() -> list[Column]:
    return [
        Column("rank", ["1", "2"], right=True, needed=True),
        Column("auroc_weighted", ["0.800 [0.775, 0.825]"] * 2, right=True, narrow=["0.800"] * 2, needed=True),
        Column("detector", ["good(mahalanobis)", "msp"], needed=True),
        Column("accuracy", ["0.900 [0.875, 0.925]"] * 2, right=True, narrow=["0.900"] * 2),
    ]


def test_intervals_go_first_then_columns_that_are_not_needed_then_names_are_wrapped():
    assert laid_out(columns(), 100)[1] == "   1  0.800 [0.775, 0.825]  good(mahalanobis)  0.900 [0.875, 0.925]"
    assert laid_out(columns(), 60)[1] == "   1  0.800 [0.775, 0.825]  good(mahalanobis)     0.900"
    assert laid_out(columns(), 50)[1] == "   1  0.800 [0.775, 0.825]  good(mahalanobis)"
    lines = laid_out(columns(), 40)
    assert lines[0].split() == ["auroc_"] and lines[1].split() == ["rank", "weighted", "detector"]
    assert lines[2] == "   1     0.800  good(mahalanobis)"


@given(st.lists(st.text(min_size=1, max_size=90), min_size=1, max_size=4), st.integers(40, 120))
def test_whatever_stands_in_cells_no_line_is_wider_than_asked_for(texts, width):
    cells = [Column(f"c{at}", [text], needed=at % 2 == 0) for at, text in enumerate(texts)]
    assert max(map(text_width, laid_out(cells, width))) <= width


@given(st.text(alphabet="ab(,=-_)0.", min_size=1, max_size=80), st.integers(1, 30))
def test_a_wrapped_name_loses_nothing(text, room):
    assert "".join(wrapped(text, room)) == text
    assert max(map(len, wrapped(text, room))) <= room


def test_sentences_are_wrapped_at_words_and_never_wider_than_can_be_read():
    text = "one two three " * 30
    assert max(map(len, sentences(text, 60).splitlines())) <= 60
    assert max(map(len, sentences(text, 500).splitlines())) <= 100
    assert sentences(text, 60).replace("\n", " ") == text.strip()
