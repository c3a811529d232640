"""Decisions of all test years of a seed, graded together; every number is worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lgl_bench.leaderboard.build import board_rows
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.metrics.decisions import macro_f1, mcc, micro_f1
from tests.leaderboard.test_build import year

KINDS = [10, 0, 5, 0]
"""New vertices of four test years, each with 40 scored ones: two years have none."""


def decided(threshold: str, rejected: list[tuple[int, int]], seed: int = 0, **changes: object) -> list[dict]:
    """Year rows of a threshold that rejects so many (new, known) vertices in each year."""
    rows = []
    for time, (n_new, (tp, fp)) in enumerate(zip(KINDS, rejected, strict=True), 1):
        new = np.arange(40) < n_new
        called = np.zeros(40, dtype=bool)
        called[:tp] = True
        called[n_new : n_new + fp] = True
        cells = {"n_new": n_new, "n_scored": 40, "new_rejected": tp, "known_rejected": fp}
        for name, metric in (("macro_f1", macro_f1), ("mcc", mcc), ("micro_f1", micro_f1)):
            value = metric(new, called)
            cells |= {name: value.value, f"{name}_reason": value.reason}
        about = {"auroc": 0.7 if n_new else None, "auroc_reason": "" if n_new else "no new vertex"}
        track = "upper bound" if threshold == "oracle" else "inductive"
        rows.append(year(time, seed, threshold=threshold, track=track, **(about | cells | changes)))
    return rows


def board_of(*rows: list[dict]) -> pd.DataFrame:
    found = board_rows(pd.DataFrame([row for part in rows for row in part]))
    return found.set_index("threshold", drop=False)


def test_a_perfect_decision_has_a_correlation_and_a_macro_f1_of_one_though_some_years_have_nothing_new():
    found = board_of(decided("perfect", [(10, 0), (0, 0), (5, 0), (0, 0)])).loc["perfect"]
    assert found["mcc_mean"] == found["macro_f1_mean"] == 1.0
    assert found["recall_new_mean"] == 1.0 and found["false_alarm_rate_mean"] == 0.0
    assert found["mcc_n_years"] == 4 and found["macro_f1_n_years"] == 2


def test_rejecting_nobody_and_everybody_are_worth_nothing_and_a_plugin_that_rejects_nobody_ranks_with_never():
    nobody, everybody = [(0, 0)] * 4, [(10, 30), (0, 40), (5, 35), (0, 40)]
    found = board_of(
        decided("never", nobody), decided("always", everybody), decided("of-mine", nobody), decided("bad", [(0, 9)] * 4)
    )
    assert found.loc[["never", "always", "of-mine"], "mcc_mean"].tolist() == [0.0, 0.0, 0.0]
    assert found.loc["always", "recall_new_mean"] == found.loc["always", "false_alarm_rate_mean"] == 1.0
    figures = [name for name in found if name.endswith(("_mean", "_reason", "_n_years"))]
    assert found.loc["of-mine", figures].astype(str).tolist() == found.loc["never", figures].astype(str).tolist()
    ranks = ranked(found).set_index("threshold")["rank"]
    assert ranks["never"] == ranks["of-mine"] == ranks["always"] == 1 and ranks["bad"] == 4


def test_counts_are_added_up_over_years_worked_by_hand():
    # 15 new, of which 8 + 2 are rejected; 145 known, of which 3 + 4 + 0 + 1 are: TP 10, FN 5, FP 8, TN 137.
    found = board_of(decided("t", [(8, 3), (0, 4), (2, 0), (0, 1)])).loc["t"]
    assert found["recall_new_mean"] == pytest.approx(10 / 15)
    assert found["false_alarm_rate_mean"] == pytest.approx(8 / 145)
    assert found["mcc_mean"] == pytest.approx((10 * 137 - 8 * 5) / (18 * 15 * 145 * 142) ** 0.5)


def test_the_validation_year_is_no_part_of_the_counts():
    rows = decided("t", [(0, 9), (0, 0), (5, 0), (0, 0)])
    rows[0]["role"] = "validation"
    found = board_of(rows).loc["t"]
    assert found["mcc_mean"] == 1.0 and found["mcc_n_years"] == 3 and found["n_new"] == 5


def test_without_new_vertices_in_any_year_only_false_alarms_are_defined():
    rows = [row | {"n_new": 0, "new_rejected": 0} for row in decided("t", [(0, 4)] * 4)]
    found = board_of(rows).loc["t"]
    assert found["false_alarm_rate_mean"] == pytest.approx(16 / 160)
    assert np.isnan(found["mcc_mean"]) and found["mcc_reason"].startswith("no new vertex")
    assert found["recall_new_reason"] == "no new vertex in all test years"


def test_regret_is_the_oracles_correlation_less_ones_own_seed_by_seed():
    perfect, half = [(10, 0), (0, 0), (5, 0), (0, 0)], [(10, 0), (0, 0), (0, 0), (0, 0)]
    # TP 10, FN 5, FP 0, TN 145: 10 * 145 / sqrt(10 * 15 * 145 * 150).
    worth = 10 * 145 / (10 * 15 * 145 * 150) ** 0.5
    found = board_of(
        decided("oracle", perfect),
        decided("oracle", half, seed=1),
        decided("t", half),
        decided("t", [(0, 0)] * 4, seed=1),
    )
    assert found.loc["oracle", "regret_mean"] == 0.0
    assert found.loc["t", "regret_mean"] == pytest.approx(((1 - worth) + (worth - 0)) / 2)
    assert pd.isna(ranked(found).set_index("threshold").loc["oracle", "rank"])


def test_regret_without_an_oracle_says_so_and_without_a_threshold_too():
    found = board_of(decided("t", [(1, 0)] * 4), [year(1)])
    assert np.isnan(found.loc["t", "regret_mean"])
    assert found.loc["t", "regret_reason"] == "no row of the threshold oracle over the same years"
    assert found.loc["", "regret_reason"] == found.loc["", "mcc_reason"] == "no threshold"


def test_the_oracle_of_another_detector_is_no_measure():
    found = board_of(decided("oracle", [(1, 0)] * 4, detector="odin"), decided("t", [(1, 0)] * 4)).loc["t"]
    assert np.isnan(found["regret_mean"])
