from __future__ import annotations

import subprocess
import sys
import unicodedata

import pandas as pd
import pytest

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.text_tables import cells
from lgl_bench.report.terminal import board_table, sparkline
from tests.support.report_boards import board_of, year_frame


def table_of(years: pd.DataFrame, width: int, with_years: bool = True) -> str:
    board = ranked(board_of(years))
    return board_table(board, *cells(board, ("accuracy", "auroc_weighted")), years if with_years else None, width)


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)


def test_a_sparkline_rises_with_its_values_and_dots_what_is_undefined():
    assert sparkline([0.0, 0.5, 1.0, None, float("nan")]) == "▁▅█··"
    assert sparkline([0.3, 0.3]) == "▅▅"
    assert sparkline([]) == ""
    assert sparkline([0.5], low=0.5, high=1.0) == "▁"


@pytest.mark.parametrize("width", [1, 5, 20, 40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width):
    years = year_frame(detectors=["good(" * 40 + "msp" + ")" * 40, "検出器" * 30])
    lines = table_of(years, width).splitlines()
    assert len(lines) == 9
    assert max(map(_width, lines)) <= width


def test_the_table_shows_the_years_and_the_range_is_shared_within_a_stream():
    years = year_frame(thresholds=[""])
    table = table_of(years, 120).splitlines()
    assert table[0].split()[:3] == ["rank", "stream", "backbone"]
    assert "over the years" in table[0]
    assert "█" in table[1] and "█" not in table[-1]
    assert "▁" in table[-1] and "▁" not in table[1]


def test_names_cannot_move_the_cursor_or_turn_the_line_round():
    years = year_frame(detectors=["\x1b[31mred", "a\u202eb"], thresholds=[""])
    table = table_of(years, 200)
    assert "\x1b" not in table and "\u202e" not in table
    assert "?[31mred" in table


def test_a_board_without_rows_or_years_is_still_a_table():
    assert board_table(pd.DataFrame(), [], [], None, 80) == "no rows"
    assert "over the years" not in table_of(year_frame(), 100, with_years=False)


def test_the_terminal_needs_neither_jinja_nor_matplotlib():
    code = (
        "import sys, lgl_bench.report.terminal\n"
        "print([name for name in ('jinja2', 'matplotlib', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
