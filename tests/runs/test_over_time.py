"""What a run tells about emerging classes, forgetting and transfer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lgl_bench.api import Settings, plan_run
from lgl_bench.core.errors import UsageError
from lgl_bench.runs.matrix import transfer_rows


def test_every_emerging_class_has_a_delay_and_a_lag_or_the_reason_why_not(engines, carry_out, out):
    carry_out(detectors=["msp", "good(msp)"], thresholds=["naive"])
    classes = pd.read_parquet(out / "classes.parquet")
    plain = classes[(classes["detector"] == "msp") & (classes["threshold"] == "")]
    # Classes 3 and 4 are born in the years 2 and 4.
    assert plain[["class", "born"]].to_numpy().tolist() == [[3, 2], [4, 4]]
    for name in ("detection_delay", "false_alarm_rate", "classification_lag"):
        assert (plain[name].notna() != (plain[f"{name}_reason"] != "")).all()
    assert "naive(delta=0.1)" in set(classes["threshold"])


def test_the_matrix_holds_every_model_on_every_year(engines, carry_out, out):
    result = carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, offline=True, matrix=True))
    matrix = pd.read_parquet(out / "matrix.parquet")
    assert sorted(set(matrix["trained_up_to"])) == [1, 2, 3]
    assert sorted(set(matrix["evaluated_on"])) == [1, 2, 3, 4] and len(matrix) == 12
    # The year after a model's last is what the protocol grades.
    cells = matrix.set_index(["trained_up_to", "evaluated_on"])["accuracy"]
    graded = result.years.set_index("time")["accuracy"]
    for year in (2, 3, 4):
        assert cells[year - 1, year] == graded[year]
    transfer = pd.read_parquet(out / "transfer.parquet").iloc[0]
    table = matrix.pivot(index="trained_up_to", columns="evaluated_on", values="accuracy").to_numpy()
    assert transfer["backward_transfer"] == pytest.approx(np.mean(table[2, :2] - np.diagonal(table)[:2]))
    # A second run asks for nothing.
    carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, offline=True, matrix=True))
    assert not engines[1].seen


def test_forward_transfer_is_against_guessing_one_of_the_classes_known_before():
    rows = [
        {"stream": "s", "backbone": "b", "head": "h", "seed": 0, "trained_up_to": 1, "evaluated_on": year}
        for year in (1, 2)
    ]
    matrix = pd.DataFrame([{**row, "accuracy": value} for row, value in zip(rows, (0.9, 0.7), strict=True)])
    (one,) = transfer_rows(matrix, {"s": {1: 4, 2: 5}}).to_dict("records")
    assert one["forward_transfer"] == pytest.approx(0.7 - 1 / 4)


def test_the_matrix_needs_all_weights(data, out):
    with pytest.raises(UsageError, match="--checkpoints all"):
        plan_run("smoke", Settings(out, matrix=True, checkpoints="last"), streams=["small"])
