from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lgl_bench.leaderboard.columns import columns, metrics_in
from lgl_bench.leaderboard.problems import problems
from lgl_bench.leaderboard.schema import COMPARABLE, FACTS, HEADLINE, KEY, METHOD, SUFFIXES, Row
from tests.leaderboard.boards import board, row

ROOT = Path(__file__).resolve().parents[2]


def cells(frame: pd.DataFrame) -> dict[str, object]:
    plain = frame.astype(object).where(frame.notna(), None)
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in plain.iloc[0].items()}


def test_the_columns_are_those_people_script_against_and_the_version_is_last():
    key = "suite suite_version stream stream_checksum protocol split history restart label_delay track backbone head"
    assert list(KEY) == f"{key} detector threshold preset budget budget_version select".split()
    ranking = ["accuracy", "auroc_weighted", "auroc_mean", "auroc_paper", "aupr", "fpr95", "oscr"]
    assert list(HEADLINE) == [*ranking, *["mcc", "recall_new", "false_alarm_rate", "micro_f1", "macro_f1", "open_f1"]]
    assert list(SUFFIXES) == ["mean", "std", "lo", "hi", "n_seeds", "n_years", "reason"]
    names = [column.name for column in columns(HEADLINE)]
    assert names[: len(KEY)] == list(KEY) and names[len(KEY)] == "accuracy_mean"
    assert names[-len(FACTS) :] == list(FACTS) and names[-1] == "schema_version"
    assert set(METHOD) | set(COMPARABLE) | {"preset", "select"} == set(KEY)


def test_a_row_goes_into_the_model_and_comes_out_as_it_was():
    flat = cells(board(row()))
    assert Row.from_flat(flat).flat() == flat


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fpr95_mean": 1.2, "fpr95_reason": ""}, "above 1"),
        ({"mcc_mean": -1.2, "mcc_reason": ""}, "below -1"),
        ({"accuracy_std": -0.1}, "greater than or equal to 0"),
        ({"trust": "certain"}, "Input should be 'printed'"),
        ({"stream": ""}, "at least 1 character"),
        ({"stream_checksum": ""}, "only printed rows"),
        ({"budget_version": 0}, "only printed rows"),
        ({"interval": "guess"}, "Input should be 'bootstrap'"),
        ({"above_floor": "perhaps"}, "Input should be 'yes'"),
        ({"failed_years": -1}, "greater than or equal to 0"),
        ({"schema_version": 1}, "Input should be 2"),
        ({"auroc_weighted_lo": 0.71}, "must hold"),
        ({"auroc_weighted_hi": None}, "both ends or neither"),
        ({"aupr_reason": ""}, "say why"),
        ({"label_delay": -1}, "greater than or equal to 0"),
    ],
)
def test_the_model_and_the_check_of_tables_refuse_the_same_rows(change, said):
    frame = board(row())
    with pytest.raises(ValidationError, match=said):
        Row.from_flat(cells(frame) | change)
    for name, value in change.items():
        frame[name] = frame[name].astype(object)
        frame.loc[0, name] = value
        if not isinstance(value, str):
            frame[name] = pd.to_numeric(frame[name])
    assert problems(frame, metrics_in(frame))


numbers = st.one_of(st.none(), st.floats(-1.5, 1.5))


@settings(max_examples=50)
@given(numbers, numbers, numbers, numbers, st.sampled_from(["", "why"]), st.sampled_from(["mcc", "fpr95", "delay"]))
def test_what_the_model_accepts_is_what_the_check_of_tables_accepts(mean, std, lo, hi, reason, name):
    values = {"mean": mean, "std": std, "lo": lo, "hi": hi, "n_seeds": 3, "n_years": 1, "reason": reason}
    frame = board(row(**{f"{name}_{suffix}": value for suffix, value in values.items()}))
    try:
        Row.from_flat(cells(frame))
        accepted = True
    except ValidationError:
        accepted = False
    assert accepted == (not problems(frame, metrics_in(frame)))


def test_a_metric_of_ones_own_comes_after_the_headline_ones():
    assert metrics_in(["zeal_n_seeds", "area_over_time_mean", "accuracy_mean", "git_commit"]) == [
        *HEADLINE,
        "area_over_time",
        "zeal",
    ]


def test_the_page_on_the_schema_describes_every_column_as_the_models_do():
    text = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([a-zM_0-9]+)` \| [^|]+ \| (.+) \|$", text, flags=re.MULTILINE))
    for column in columns([]):
        assert told[column.name] == column.about
    for column in columns(["M"]):
        assert told[column.name] == column.about
    for name in HEADLINE:
        assert f"`{name}`" in text
