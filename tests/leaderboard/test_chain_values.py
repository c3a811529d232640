"""What is graded over all years so far becomes one value per seed: that of the last test year."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lgl_bench.grading.row_key import Key
from lgl_bench.grading.year_table import YearRow, year_table
from lgl_bench.leaderboard.build import board_rows
from lgl_bench.metrics.over_time import OverYears

METHOD = Key(
    **{"suite": "s", "suite_version": 1, "stream": "g", "stream_checksum": "c", "protocol": "temporal"},
    **{"split": "temporal", "strategy": "full", "history": "all", "restart": "warm", "label_delay": 0},
    **{"track": "inductive", "backbone": "gcn", "head": "softmax", "detector": "msp", "threshold": ""},
    **{"preset": "paper", "budget": "quick", "budget_version": 2, "select": "t1"},
)


def year_row(**given):
    return YearRow(key="k", method=METHOD, fold="", status="ok", fit_seconds=1.0, peak_memory_mb=1.0, **given)


def rows(**by_time):
    """Year rows of one method by seed and time: {"s0_2001": forgetting}; a number, or a reason."""
    found = []
    for name, value in by_time.items():
        seed, time = int(name[1]), int(name[3:])
        graded = OverYears(None, 0, value) if isinstance(value, str) else OverYears(value, time - 2000)
        role = "validation" if time == 2001 else "test"
        found.append(year_row(seed=seed, time=time, role=role, chain={"forgetting": graded}))
    return board_rows(year_table(found)).iloc[0]


def test_the_last_test_year_stands_and_the_least_number_of_years_is_shown():
    row = rows(s0_2002=0.5, s0_2004=0.1, s0_2003=0.4, s1_2003=0.3)
    assert row["forgetting_mean"] == pytest.approx(0.2) and row["forgetting_std"] == pytest.approx(np.sqrt(0.02))
    assert (row["forgetting_n_seeds"], row["forgetting_n_years"]) == (2, 3)


def test_from_three_seeds_on_there_is_an_interval_over_seeds():
    row = rows(s0_2002=0.1, s1_2002=0.2, s2_2002=0.3)
    assert row["forgetting_lo"] < 0.2 < row["forgetting_hi"]


def test_a_validation_year_alone_has_none():
    assert pd.isna(rows(s0_2001=0.5)["forgetting_mean"])


def test_the_reason_is_that_of_the_last_year():
    row = rows(s0_2002="one model only", s0_2003="not asked")
    assert pd.isna(row["forgetting_mean"]) and row["forgetting_reason"] == "not asked"


def test_a_table_of_before_has_no_such_columns_and_says_so():
    years = year_table([year_row(seed=0, time=2002, role="test")])
    old = years.drop(columns=[name for name in years if "forgetting" in name])
    row = board_rows(old).iloc[0]
    assert pd.isna(row["forgetting_mean"]) and row["forgetting_reason"]
