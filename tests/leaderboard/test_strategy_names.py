from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.strategy_names import shown_strategy
from lgl_bench.leaderboard.text_tables import cells
from lgl_bench.report.terminal.board import View, board_text
from tests.support.report_boards import board_of, year_frame


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("full", "full"),
        ("replay(balance=auto,graph=all,pick=random,size=200)", "replay"),
        ("replay(balance=auto,graph=all,pick=random,size=50)", "replay(size=50)"),
        ("window(restart=cold,years=3)", "window(restart=cold)"),
        ("of-a-plugin(depth=3)", "of-a-plugin(depth=3)"),
        ("(no expression", "(no expression"),
        ("", ""),
    ],
)
def test_a_strategy_is_shown_without_the_parameters_that_everybody_takes(text, shown):
    assert shown_strategy(text) == shown


def strategy_years(**accuracies):
    """Year rows of one detector that differ in their strategy, with the AUROC and accuracy of each."""
    parts = []
    for name, value in accuracies.items():
        years = year_frame(strategy=name, thresholds=[""], detectors=["msp"], backbones=["gcn"])
        parts.append(years.assign(auroc=years["auroc"].where(years["auroc"].isna(), value), accuracy=value))
    return pd.concat(parts, ignore_index=True)


def test_tables_name_the_strategy_only_if_rows_differ_in_it():
    both = ranked(board_of(strategy_years(finetune=0.5, joint=0.9)))
    header, rows = cells(both, ("accuracy",))
    assert header[:4] == ["rank", "stream", "strategy", "backbone"]
    assert [row[2] for row in rows] == ["joint", "finetune"]
    one = ranked(board_of(strategy_years(finetune=0.5)))
    assert "strategy" not in cells(one, ("accuracy",))[0]


def test_the_line_over_the_years_is_that_of_the_rows_own_strategy():
    years = strategy_years(finetune=0.5, joint=0.9)
    board = ranked(board_of(years))
    _, _, joint, finetune, *_ = board_text(board, ("accuracy",), years, View(200)).splitlines()
    assert joint.endswith("█·█·") and finetune.endswith("▁·▁·")
