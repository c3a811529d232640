from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.report.terminal.board import View, board_text
from lgl_bench.report.terminal.layout import text_width
from tests.support.boards import board, decided, figures, row
from tests.support.report_boards import board_of, year_frame

METRICS = ("accuracy", "auroc_weighted", "mcc", "fpr95")


def table_of(years: pd.DataFrame, width: int, with_years: bool = True) -> str:
    shown = ranked(board_of(years))
    return board_text(shown, ("accuracy", "auroc_weighted"), years if with_years else None, View(width))


def text_of(*rows, width: int = 100, metrics=("accuracy", "auroc_weighted"), **view) -> str:
    return board_text(ranked(board(*rows)), metrics, None, View(width, **view))


@pytest.mark.parametrize("width", [60, 61, 72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal_whatever_the_names(width):
    years = year_frame(detectors=["good(" * 40 + "msp" + ")" * 40, "検出器" * 30])
    lines = table_of(years, width).splitlines()
    assert max(map(text_width, lines)) <= width


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_name_is_wrapped_and_never_cut(width):
    name = "a-very-long-name-" * 6 + "end"
    text = text_of(row(0.8, detector=name), row(0.7, detector=name + "-of-another"), width=width)
    columns = [line[line.index("a-") :] if "a-" in line else line for line in text.splitlines()]
    assert "…" not in text and "end" in text and "of-another" in text.replace("\n", "")
    assert columns


def test_the_stream_is_a_heading_and_what_ranks_comes_first():
    lines = text_of(row(0.6), row(0.8, detector="odin", backbone="gat"), row(0.5, stream="other")).splitlines()
    assert lines[0] == "dblp-easy: 2 rows ranked by auroc_weighted"
    assert lines[1].split() == ["rank", "auroc_weighted", "detector", "backbone", "accuracy"]
    assert lines[2].split()[:5] == ["1", "0.800", "[0.775,", "0.825]", "odin"]
    assert "other: 1 row" in lines


def test_what_all_rows_of_a_table_share_stands_in_its_heading():
    text = text_of(row(0.6), row(0.8, detector="odin"))
    assert text.startswith("dblp-easy: 2 rows on gcn ranked by auroc_weighted\n") and "backbone" not in text


def test_at_sixty_columns_the_ranking_figure_and_whole_names_are_there():
    rows = [row(0.8, detector="good(mahalanobis,alpha=0.5)", backbone="graph-mlp"), row(0.6, backbone="graphsage")]
    for line, backbone in zip(text_of(*rows, width=60).splitlines()[2:4], ("graph-mlp", "graphsage"), strict=True):
        assert line.split()[1] in ("0.800", "0.600") and line.endswith(backbone)


def test_names_are_short_unless_asked_for_in_full():
    one = row(0.8, detector="good(odin(eps=0.05,temperature=1000.0),alpha=0.6)")
    assert "good(odin)" in text_of(one) and "alpha" not in text_of(one)
    assert "good(odin(eps=0.05,temperature=1000.0),alpha=0.6)" in text_of(one, full=True, width=200)


def test_two_rows_of_one_short_name_show_the_values_in_which_they_differ():
    text = text_of(row(0.8, detector="good(msp,alpha=0.2)"), row(0.7, detector="good(msp,alpha=0.5)"))
    assert "good(msp,alpha=0.2)" in text and "good(msp,alpha=0.5)" in text
    heads = text_of(row(0.8, head="softmax"), row(0.7, head="gdoc"))
    assert "head softmax" in heads and "head gdoc" in heads


def test_decisions_have_a_table_of_their_own_with_the_upper_bound_at_its_end():
    rows = [row(0.6), decided("never", 0.0), decided("naive(delta=0.1)", 0.3)]
    rows.append(decided("oracle", 0.5) | {"track": "upper bound"})
    first, second = text_of(*rows, metrics=METRICS).split("\n\n")[:2]
    assert "naive" not in first and "mcc" not in first
    assert second.startswith("dblp-easy: 3 decisions on msp, gcn ranked by mcc")
    assert "oracle" in second.splitlines()[-1] and "upper bound" in second.splitlines()[-1]
    assert second.splitlines()[1].split()[:3] == ["rank", "mcc", "threshold"]


def test_a_metric_that_no_row_of_a_table_has_is_no_column_of_dashes():
    text = text_of(row(0.6), decided("naive(delta=0.1)", 0.3), metrics=METRICS)
    assert "fpr95" not in text and " - " not in text
    none = text_of(row(None), row(None, detector="odin"))
    assert none.splitlines()[0].endswith("none has a value (nobody looked)") and "auroc_weighted  " not in none


def test_the_first_rows_and_the_floor_are_shown_and_the_others_counted():
    rows = [row(0.9 - 0.01 * at, detector=f"d{at}", above_floor="yes") for at in range(20)]
    rows += [row(0.4, detector=name, above_floor="floor") for name in ("random", "degree")]
    rows.append(row(0.99, detector="knn", failed_years=1, failed_seeds=1))
    text = text_of(*rows, top=10)
    lines = text.splitlines()
    assert lines[0].startswith("dblp-easy: 23 rows on gcn") and "1 incomplete" in lines[0]
    assert len(lines[2:13]) == 11 and "floor" in lines[12] and lines[13] == "... 12 more rows; --all shows them"
    assert "random" in text and "degree" not in lines[12] and "d10" not in text
    assert "d19" in text_of(*rows)


def test_only_the_marks_that_stand_there_are_explained():
    assert "tie" not in text_of(row(0.9), row(0.1, detector="odin"))
    close = text_of(row(0.8), row(0.7999, detector="odin"))
    assert "~ tie: not told apart" in close and "does not beat" not in close


def test_the_table_shows_the_years_and_the_range_is_shared_within_a_stream():
    years = year_frame(thresholds=[""])
    table = table_of(years, 120).split("\n\n")[0].splitlines()
    assert "over the years" in table[1]
    assert "█" in table[2] and "█" not in table[-1]
    assert "▁" in table[-1] and "▁" not in table[2]


def test_names_cannot_move_the_cursor_or_turn_the_line_round():
    years = year_frame(detectors=["\x1b[31mred", "a\u202eb"], thresholds=[""])
    table = table_of(years, 200)
    assert "\x1b" not in table and "\u202e" not in table
    assert "?[31mred" in table


def test_a_board_without_rows_or_years_is_still_a_table():
    assert board_text(pd.DataFrame(), [], None, View(80)) == "no rows"
    assert "over the years" not in table_of(year_frame(), 100, with_years=False)


def test_rows_ranked_by_another_metric_show_that_one_first():
    rows = [row(0.6, detector="a", **figures("mcc", 0.9, 0.01, 3)), row(0.8, **figures("mcc", 0.1, 0.01, 3))]
    shown = board_text(ranked(board(*rows), "mcc"), ("accuracy",), None, View(100, rank_by="mcc"))
    assert shown.splitlines()[1].split()[:2] == ["rank", "mcc"] and "ranked by mcc" in shown


def test_the_terminal_needs_neither_jinja_nor_matplotlib():
    code = (
        "import sys, lgl_bench.report.terminal.board, lgl_bench.report.terminal.closing\n"
        "print([name for name in ('jinja2', 'matplotlib', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
