from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgl_bench.leaderboard.table.columns import metrics_in
from lgl_bench.leaderboard.table.problems import problems
from tests.support.boards import board, row


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"fpr95_mean": 1.2, "fpr95_reason": ""}, "is above 1"),
        ({"mcc_mean": -1.2, "mcc_reason": ""}, "is below -1"),
        ({"accuracy_std": -0.1}, "is below 0"),
        ({"trust": "certain"}, "is none of printed"),
        ({"stream": ""}, "must be filled"),
        ({"stream_checksum": ""}, "only printed rows"),
        ({"budget_version": 0}, "only printed rows"),
        ({"interval": "guess"}, "is none of bootstrap"),
        ({"above_floor": "perhaps"}, "is none of yes"),
        ({"failed_years": -1}, "is below 0"),
        ({"schema_version": 1}, "is below 4"),
        ({"auroc_weighted_lo": 0.71}, "must hold"),
        ({"auroc_weighted_hi": None}, "both ends or neither"),
        ({"aupr_reason": ""}, "say why"),
        ({"label_delay": -1}, "is below 0"),
    ],
)
def test_a_row_that_is_not_as_the_record_says_is_named_with_its_column(change, what):
    frame = board(row())
    assert problems(frame, metrics_in(frame)) == []
    for name, value in change.items():
        frame[name] = frame[name].astype(object)
        frame.loc[0, name] = value
        if not isinstance(value, str):
            frame[name] = pd.to_numeric(frame[name])
    found = problems(frame, metrics_in(frame))
    named = {name.removesuffix("_reason") + "_mean" if name.endswith("_reason") else name for name in change}
    assert any(problem.column in named and what in problem.what for problem in found), found


numbers = st.one_of(st.none(), st.floats(-1.5, 1.5))


RANGES = {"mcc": (-1.0, 1.0), "fpr95": (0.0, 1.0), "delay": (-np.inf, np.inf)}


@settings(max_examples=50)
@given(numbers, numbers, numbers, numbers, st.sampled_from(["", "why"]), st.sampled_from(list(RANGES)))
def test_figures_are_accepted_if_they_hang_together_and_are_in_the_range_of_the_metric(mean, std, lo, hi, reason, name):
    values = {"mean": mean, "std": std, "lo": lo, "hi": hi, "n_seeds": 3, "n_years": 1, "reason": reason}
    frame = board(row(**{f"{name}_{suffix}": value for suffix, value in values.items()}))
    low, high = RANGES[name]
    explained = mean is not None or reason != ""
    in_range = mean is None or low <= mean <= high
    whole = (lo is None) == (hi is None)
    around = lo is None or hi is None or (mean is not None and lo <= mean <= hi)
    accepted = explained and in_range and whole and around and (std is None or std >= 0)
    assert accepted == (not problems(frame, metrics_in(frame)))
