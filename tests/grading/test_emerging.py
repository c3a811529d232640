from __future__ import annotations

import pandas as pd


def test_every_emerging_class_has_a_delay_and_a_lag_or_the_reason_why_not(engines, carry_out, out):
    carry_out(detectors=["msp", "good(msp)"], thresholds=["naive"])
    classes = pd.read_parquet(out / "classes.parquet")
    plain = classes[(classes["detector"] == "msp") & (classes["threshold"] == "")]
    # Classes 3 and 4 are born in the years 2 and 4.
    assert plain[["class", "born"]].to_numpy().tolist() == [[3, 2], [4, 4]]
    for name in ("detection_delay", "false_alarm_rate", "classification_lag"):
        assert (plain[name].notna() != (plain[f"{name}_reason"] != "")).all()
    assert "naive(delta=0.1)" in set(classes["threshold"])
