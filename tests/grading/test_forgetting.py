"""What a run tells about forgetting and transfer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lgl_bench.core.errors import UsageError
from lgl_bench.grading.forgetting import aligned, transfer_rows
from lgl_bench.pipeline import plan_run
from lgl_bench.runs.options import Settings
from lgl_bench.streams.store import write_stream
from tests.support.graphs import small_stream


def test_the_matrix_holds_every_model_on_every_year(engines, carry_out, out):
    result = carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, offline=True, matrix=True))
    matrix = pd.read_parquet(out / "matrix.parquet")
    assert sorted(set(matrix["trained_up_to"])) == [1, 2, 3]
    assert sorted(set(matrix["evaluated_on"])) == [1, 2, 3, 4] and len(matrix) == 12
    # The year after a model's last is what the protocol grades.
    cells = matrix.set_index(["trained_up_to", "evaluated_on"])["accuracy"]
    graded = result.years.drop_duplicates("time").set_index("time")["accuracy"]
    for year in (2, 3, 4):
        assert cells[year - 1, year] == graded[year]
    transfer = pd.read_parquet(out / "transfer.parquet").iloc[0]
    table = matrix.pivot(index="trained_up_to", columns="evaluated_on", values="accuracy").to_numpy()
    assert transfer["backward_transfer"] == pytest.approx(np.mean(table[2, :2] - np.diagonal(table)[:2]))
    # A second run asks for nothing.
    carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, offline=True, matrix=True))
    assert not engines[1].seen


def long_rows(cells, **about):
    """A matrix as `matrix_rows` returns it, from {trained up to: {evaluated on: accuracy}}."""
    about = {"stream": "s", "backbone": "b", "parameters": "{}", "head": "h", "seed": 0} | about
    return pd.DataFrame(
        {**about, "trained_up_to": model, "evaluated_on": year, "accuracy": value}
        for model, row in cells.items()
        for year, value in row.items()
    )


def test_forward_transfer_is_against_guessing_one_of_the_classes_known_before():
    (one,) = transfer_rows(long_rows({1: {1: 0.9, 2: 0.7}}), {"s": {1: 4, 2: 5}}).to_dict("records")
    assert one["forward_transfer"] == pytest.approx(0.7 - 1 / 4)


YEARS = (2000, 2001, 2002, 2003, 2004)
KNOWN = {1999: 2, 2000: 4, 2001: 5, 2002: 8, 2003: 10, 2004: 16}
# The model of 2001 is missing.
HOLE = {
    2000: dict(zip(YEARS, (0.90, 0.60, 0.40, 0.30, 0.20), strict=True)),
    2002: dict(zip(YEARS, (0.70, 0.85, 0.90, 0.65, 0.50), strict=True)),
    2003: dict(zip(YEARS, (0.60, 0.80, 0.70, 0.95, 0.75), strict=True)),
}


def test_a_missing_model_is_a_row_of_nan_and_shifts_no_other_row():
    cells, years = aligned(long_rows(HOLE), KNOWN)
    assert years == list(YEARS) and cells.shape == (4, 5)
    assert np.isnan(cells[1]).all()
    assert np.diagonal(cells)[[0, 2, 3]].tolist() == [0.90, 0.90, 0.95]


def test_forgetting_and_transfer_stay_on_their_years_where_a_model_is_missing():
    (one,) = transfer_rows(long_rows(HOLE), {"s": KNOWN}).to_dict("records")
    # 2000: 0.90 - 0.60. 2001, learned first by the model of 2002: 0.85 - 0.80. 2002: 0.90 - 0.70.
    assert (one["forgetting"], one["forgetting_years"]) == (pytest.approx((0.30 + 0.05 + 0.20) / 3), 3)
    # 2000: 0.60 - 0.90. 2001 has no model that had just learned it. 2002: 0.70 - 0.90.
    assert (one["backward_transfer"], one["backward_transfer_years"]) == (pytest.approx((-0.30 - 0.20) / 2), 2)
    # 2001: 0.60 - 1/4. 2002 has no model before it. 2003: 0.65 - 1/8. 2004: 0.75 - 1/10.
    assert (one["forward_transfer"], one["forward_transfer_years"]) == (pytest.approx((0.35 + 0.525 + 0.65) / 3), 3)


def test_without_its_first_or_last_model_a_matrix_still_begins_with_t0_and_ends_with_its_last_model():
    first, _ = aligned(long_rows({2001: HOLE[2000], 2003: HOLE[2003]}), KNOWN)
    assert first.shape == (4, 5) and np.isnan(first[[0, 2]]).all() and first[1, 0] == 0.90
    last, _ = aligned(long_rows({2000: HOLE[2000]}), KNOWN)
    assert last.shape == (1, 5)


def test_years_learned_before_t0_are_rows_of_their_own_even_where_a_model_is_missing():
    late = {1997: {2000: 0.5, 2001: 0.4}, 1999: {2000: 0.7, 2001: 0.6}}
    cells, years = aligned(long_rows(late), {1990: 1, 1997: 2, 1998: 2, 1999: 4, 2000: 5, 2001: 5, 2002: 5})
    assert years == [1997, 1998, 1999, 2000, 2001]
    assert np.isnan(cells[1]).all() and np.isnan(cells[:, :3]).all()
    assert cells[[0, 2], 3:].tolist() == [[0.5, 0.4], [0.7, 0.6]]
    (one,) = transfer_rows(long_rows(late), {"s": dict.fromkeys(years, 4)}).to_dict("records")
    # Only 2000 is answered by the model of the year before it.
    assert (one["forward_transfer"], one["forward_transfer_years"]) == (pytest.approx(0.7 - 1 / 4), 1)


def test_of_two_models_with_the_same_last_labels_the_newer_one_stands():
    twice = pd.concat([long_rows({2000: {2000: 0.9, 2001: 0.5}}), long_rows({2000: {2000: 0.8, 2001: None}})])
    cells, _ = aligned(twice, (2000, 2001))
    assert cells[0, 0] == 0.8 and np.isnan(cells[0, 1])


def test_chains_of_other_parameters_are_not_mixed():
    both = pd.concat([long_rows({1: {1: 0.9, 2: value}}, parameters=str(value)) for value in (0.6, 0.8)])
    found = transfer_rows(both, {"s": {1: 4, 2: 5}})
    assert found["forward_transfer"].tolist() == pytest.approx([0.6 - 1 / 4, 0.8 - 1 / 4])


def with_matrix(carry_out, out, **axes):
    carry_out(detectors=["msp"], thresholds=["none"], settings=Settings(out, offline=True, matrix=True), **axes)
    return pd.read_parquet(out / "matrix.parquet"), pd.read_parquet(out / "transfer.parquet").iloc[0]


def test_where_labels_arrive_late_a_model_is_trained_up_to_the_last_year_whose_labels_it_has(engines, carry_out, out):
    matrix, transfer = with_matrix(carry_out, out, label_delay=1)
    assert sorted(set(matrix["trained_up_to"])) == [0, 1, 2] and sorted(set(matrix["evaluated_on"])) == [1, 2, 3, 4]
    cells = matrix.set_index(["trained_up_to", "evaluated_on"])["accuracy"]
    graded = pd.read_parquet(out / "years.parquet").drop_duplicates("time").set_index("time")["accuracy"]
    assert [cells[year - 2, year] for year in (2, 3, 4)] == [graded[year] for year in (2, 3, 4)]
    # Three classes are known in the years 0 and 1, and four in the year 2.
    ahead = [cells[0, 1] - 1 / 3, cells[1, 2] - 1 / 3, cells[2, 3] - 1 / 4]
    assert transfer["forward_transfer"] == pytest.approx(np.mean(ahead))
    # The year 0, before t0, is not evaluated on, so the year 1 alone is left.
    assert transfer["backward_transfer"] == pytest.approx(cells[2, 1] - cells[1, 1])
    assert transfer["forgetting_years"] == transfer["backward_transfer_years"] == 1


def test_a_year_without_labels_is_a_row_that_is_missing(engines, carry_out, out, data):
    stream = small_stream(times=(0, 1, 2, 3, 4, 5), growth=(30,) * 6, births=(3, 0, 1, 0, 1, 0))
    stream = replace(stream, labels=np.where(stream.born == 3, -1, stream.labels))
    write_stream(stream, data / "holes")
    matrix, transfer = with_matrix(carry_out, out, streams=["holes"])
    # The model of the year 3 learned from no label after the year 2.
    assert sorted(set(matrix["trained_up_to"])) == [1, 2, 4]
    cells = matrix.set_index(["trained_up_to", "evaluated_on"])["accuracy"]
    assert transfer["backward_transfer"] == pytest.approx(
        np.mean([cells[4, 1] - cells[1, 1], cells[4, 2] - cells[2, 2]])
    )
    assert transfer["forward_transfer"] == pytest.approx(np.mean([cells[1, 2] - 1 / 3, cells[4, 5] - 1 / 5]))


def test_the_matrix_needs_all_weights(data, out):
    with pytest.raises(UsageError, match="--checkpoints all"):
        plan_run("smoke", Settings(out, matrix=True, checkpoints="last"), streams=["small"])
