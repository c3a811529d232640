"""A board in Python: a small table first, every column on request, whatever it is read from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

import lgl_bench
from lgl_bench.leaderboard.table.read import read_board

SHIPPED = Path(__file__).parents[2] / "leaderboard" / "lifelong.csv"


@pytest.fixture(scope="module")
def board():
    return lgl_bench.Board(SHIPPED)


def test_the_frame_is_small_and_all_has_every_column_of_the_file(board):
    whole = read_board(SHIPPED)
    assert len(board) == len(board.frame) == len(board.all) == len(whole)
    assert list(board.all) == list(whole) and board.frame.shape[1] <= 14
    assert {"rank", "stream", "backbone", "detector", "auroc_weighted_mean", "accuracy_mean"} <= set(board.frame)


def test_a_table_and_typed_rows_give_the_same_board_as_the_file(board, tmp_path):
    # Without the tests beside it: a table in memory has none.
    alone = lgl_bench.Board(shutil.copy(SHIPPED, tmp_path))
    for source in (board.all, board.rows):
        again = lgl_bench.Board(source)
        pd.testing.assert_frame_equal(again.frame, alone.frame, check_dtype=False)


def test_the_text_is_short_and_says_how_many_rows_are_left_out(board):
    text = repr(board)
    assert len(text.splitlines()) <= 14 and text.startswith(f"Board of {len(board):,} rows on ")
    assert f"{len(board) - 10:,} more" in text


def test_the_html_is_a_table_in_which_names_are_escaped(board):
    row = board.all.head(1).assign(detector="<script>alert(1)</script>")
    shown = lgl_bench.Board(row, name="a & b")._repr_html_()
    assert "<table" in shown and "<script>" not in shown and "a &amp; b" in shown
