"""Runs in which something is chosen: what is scored where, what a row says, and what a choice may not see."""

from __future__ import annotations

import numpy as np
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.core.mixing import mix
from lgl_bench.core.references import FLOOR
from lgl_bench.detectors.energy import Energy
from lgl_bench.grading.answers import Reader
from lgl_bench.metrics.ranking import auroc
from lgl_bench.pipeline import plan_run
from lgl_bench.plans.paper_presets import good_preset
from lgl_bench.runs.options import Settings
from lgl_bench.runs.store import RunStore
from lgl_bench.streams.catalogue import load
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream


def row_of(result, detector, threshold=""):
    frame = result.frame
    (row,) = frame[(frame["detector"] == detector) & (frame["threshold"] == threshold)].to_dict("records")
    return row


def only_row(result):
    """The row of the plan beside the floor."""
    (row,) = [row for row in result.plan.rows if row.detector not in FLOOR]
    return row


def test_a_preset_good_auto_is_what_the_paper_builds_it_on(engines, carry_out):
    result = carry_out(detectors=["good(auto)"], thresholds=["none"], select="preset")
    row = only_row(result)
    base, alpha = good_preset("small", "temporal", "gcn")
    assert row.detector == "good(auto)" and row.candidates[0].base == base
    assert row_of(result, "good(auto)")["chosen"] == f"good({base},alpha={alpha})"
    assert row_of(result, "good(auto)")["auroc_weighted_n_seeds"] == 1


def test_thresholds_are_put_on_a_preset_good_auto(engines, carry_out):
    result = carry_out(detectors=["good(auto)"], thresholds=["naive"], select="preset")
    assert row_of(result, "good(auto)", "naive(delta=0.1)")["macro_f1_n_seeds"] == 1


def test_candidates_are_scored_on_the_validation_task_and_the_chosen_one_on_all(engines, carry_out):
    result = carry_out(detectors=["odin"], thresholds=["none"], select="t1", seeds=2)
    row = only_row(result)
    # Its grid of 5 steps and 3 temperatures, and the preset's setting, which comes first.
    assert row.detector == "odin(auto)" and len(row.candidates) == 16
    assert row.candidates[0].base == "odin(eps=0.08,temperature=10.0)"
    scored = {(order.unit.role, len(order.detectors)) for order in engines[0].seen}
    assert scored == {("validation", 16 + len(FLOOR)), ("test", 1 + len(FLOOR))}
    chosen = row_of(result, "odin(auto)")["chosen"]
    assert chosen in {candidate.base for candidate in row.candidates}
    years = result.years[result.years["detector"] == "odin(auto)"]
    assert set(years[years["role"] == "test"]["chosen"]) == {chosen}


def test_the_chosen_parameters_are_the_best_on_the_validation_task(engines, carry_out, out):
    result = carry_out(detectors=["odin"], thresholds=["none"], select="t1", seeds=2)
    row = only_row(result)
    reader = Reader(RunStore(out), {"small": load("small")})
    means = {}
    for candidate in row.candidates:
        found = []
        for chain in result.plan.chains_of(row, row.candidates[0]):
            answered = reader.answered(result.plan.units[chain][0])
            found.append(auroc(answered.new, answered.columns.novelty(candidate.base)).value)
        means[candidate.base] = np.mean(found)
    assert means[row_of(result, "odin(auto)")["chosen"]] == max(means.values())


def test_good_auto_chooses_among_detectors_of_several_heads(engines, carry_out, out):
    result = carry_out(detectors=["msp", "gdoc", "good(auto)", "good(msp)"], thresholds=["none"], select="t1")
    row = row_of(result, "good(auto)")
    assert row["head"] == "auto"
    assert row["chosen"].startswith(("good(msp,alpha=", "good(gdoc,alpha="))
    own = row_of(result, "good(msp,alpha=auto)")
    assert own["chosen"].startswith("good(msp,alpha=")
    # What is graded is the mix of the stored scores.
    alpha = float(own["chosen"].removeprefix("good(msp,alpha=").removesuffix(")"))
    reader = Reader(RunStore(out), {"small": load("small")})
    chain = next(chain for chain in result.plan.units if chain.head == "softmax")
    last = result.plan.units[chain][-1]
    answered = reader.answered(last)
    expected = auroc(answered.new, mix(*answered.columns.scores("msp"), alpha)).value
    years = result.years
    year = years[(years["detector"] == "good(msp,alpha=auto)") & (years["time"] == last.time)]
    assert year["auroc"].iloc[0] == expected


def test_later_years_do_not_change_what_t1_chooses(engines, carry_out, data, tmp_path):
    """The stream's later labels are scrambled: a choice that saw them would change."""
    first = carry_out(detectors=["odin", "good(auto)"], thresholds=["none"], select="t1", seeds=2)
    stream = small_stream()
    late = stream.born > 2
    labels = stream.labels.copy()
    labels[late] = np.random.default_rng(0).permutation(labels[late])
    from dataclasses import replace

    write_stream(replace(stream, labels=labels), data / "small", force=True)
    elsewhere = Settings(tmp_path / "again", offline=True)
    again = carry_out(detectors=["odin", "good(auto)"], thresholds=["none"], select="t1", seeds=2, settings=elsewhere)
    assert first.plan.checksums != again.plan.checksums
    for name in ("odin(auto)", "good(auto)"):
        assert row_of(first, name)["chosen"] == row_of(again, name)["chosen"]


def test_a_prequential_choice_is_made_anew_every_year_and_the_row_says_which(engines, carry_out):
    result = carry_out(detectors=["msp", "energy", "good(auto)"], thresholds=["none"], select="prequential")
    years = result.years[result.years["detector"] == "good(auto)"]
    assert list(years["time"]) == [2, 3, 4] and all(years["chosen"].str.startswith("good("))
    assert list(years["chosen_by"]) == ["preset", "prequential", "prequential"]
    said = row_of(result, "good(auto)")["chosen"]
    for time, expression in zip(years["time"], years["chosen"], strict=True):
        assert expression in said and str(time) in said


def test_a_nested_choice_hides_a_second_class_in_tasks_of_its_own(engines, carry_out):
    result = carry_out(
        suite="static", streams=["still"], detectors=["msp", "good(msp)"], thresholds=["none"], select="nested"
    )
    roles = [unit.role for unit in result.plan.all_units]
    assert roles.count("test") == 4 and roles.count("validation") == 12
    years = result.years[result.years["detector"] == "good(msp,alpha=auto)"]
    assert sorted(years[years["role"] == "test"]["fold"]) == ["0", "1", "2", "3"]
    plain = result.years[(result.years["detector"] == "msp") & (result.years["role"] == "test")]
    assert len(plain) == 4


def test_thresholds_are_put_on_a_chosen_row_that_is_best(engines, carry_out):
    result = carry_out(detectors=["good(msp)"], thresholds=["naive"], select="t1")
    decided = result.frame[result.frame["threshold"] != ""]
    assert set(decided["detector"]) == {"good(msp,alpha=auto)"}
    assert set(decided["threshold"]) == {"naive(delta=0.1)", "never", "always", "oracle"}
    assert decided["micro_f1_n_seeds"].iloc[0] == 1


def test_where_nothing_can_be_chosen_the_preset_stands_and_the_row_says_so(engines, carry_out, data):
    write_stream(small_stream(births=(3, 0, 0, 1, 1)), data / "small", force=True)
    result = carry_out(detectors=["odin", "gdoc", "good(msp)", "good(auto)"], thresholds=["none"], select="t1")
    base, alpha = good_preset("small", "temporal", "gcn")
    assert row_of(result, "odin(auto)")["chosen"] == "odin(eps=0.08,temperature=10.0) (preset)"
    assert row_of(result, "good(msp,alpha=auto)")["chosen"] == "good(msp,alpha=0.5) (preset)"
    assert base == "gdoc"
    assert row_of(result, "good(auto)")["chosen"] == f"good(gdoc,alpha={alpha}) (preset)"
    assert row_of(result, "good(auto)")["auroc_weighted_n_seeds"] == 1


def test_labels_that_arrive_late_choose_nothing_before_they_are_there(engines, carry_out):
    result = carry_out(detectors=["good(msp)"], thresholds=["naive"], select="t1", label_delay=1)
    years = result.years[(result.years["detector"] == "good(msp,alpha=auto)") & (result.years["threshold"] == "")]
    assert dict(zip(years["time"], years["chosen_by"], strict=True)) == {2: "t1", 3: "preset", 4: "t1"}
    assert "3: good(msp,alpha=0.5) (preset)" in row_of(result, "good(msp,alpha=auto)")["chosen"]
    # Both settings are decided on, each in its years.
    decided = result.years[(result.years["threshold"] == "never") & (result.years["status"] == "ok")]
    assert {3, 4} <= set(decided["time"])


def test_every_detector_may_declare_a_grid(engines, carry_out, monkeypatch):
    monkeypatch.setattr(Energy, "grid", {"temperature": (0.5, 2.0)})
    result = carry_out(detectors=["energy", "energy(temperature=3)"], thresholds=["none"], select="t1")
    free, given = (row for row in result.plan.rows if row.detector not in FLOOR)
    assert [candidate.base for candidate in free.candidates] == [f"energy(temperature={t})" for t in (1.0, 0.5, 2.0)]
    assert row_of(result, "energy(auto)")["chosen"] in {candidate.base for candidate in free.candidates}
    assert [candidate.base for candidate in given.candidates] == [given.detector] == ["energy(temperature=3.0)"]


def test_the_floor_is_scored_once_a_stream_on_a_head_that_is_trained_anyway(engines, carry_out):
    result = carry_out(backbones=["mlp", "gcn"], detectors=["gdoc"], thresholds=["none"], seeds=2)
    floor = result.frame[result.frame["detector"].isin(FLOOR)]
    assert sorted(floor["detector"]) == sorted(FLOOR)
    assert set(floor["backbone"]) == {"mlp"} and set(floor["head"]) == {"gdoc"}
    # random draws from the run's own seed.
    assert row_of(result, "random")["auroc_weighted_std"] > 0
    assert row_of(result, "degree")["auroc_weighted_std"] == 0


def test_a_floor_detector_that_is_named_is_not_added_again(engines, carry_out):
    result = carry_out(detectors=["random", "msp"], thresholds=["none"])
    assert sorted(row.detector for row in result.plan.rows) == sorted(["msp", *FLOOR])


@pytest.mark.parametrize(
    ("suite", "stream", "select", "message"),
    [
        ("static", "still", "t1", "needs years"),
        ("static", "still", "prequential", "needs years"),
        ("smoke", "small", "nested", "has none to hide"),
    ],
)
def test_a_way_of_choosing_that_does_not_fit_the_protocol_is_refused(data, out, suite, stream, select, message):
    with pytest.raises(UsageError, match=message):
        plan_run(suite, Settings(out, offline=True), streams=[stream], select=select)


def test_the_best_combination_needs_a_validation_task(data, out):
    with pytest.raises(UsageError, match="--thresholds all"):
        plan_run("static", Settings(out, offline=True), streams=["still"], thresholds=["naive"])
