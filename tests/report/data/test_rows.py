from __future__ import annotations

from pathlib import Path

from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from tests.support.report_boards import write_run, year_frame


def _rows(tmp_path: Path, **given):
    return report_rows(read_sources([write_run(tmp_path / "run", year_frame(**given))]))


def test_detectors_are_ranked_by_auroc_and_decisions_by_mcc_within_their_stream(tmp_path):
    rows = _rows(tmp_path, streams=["one", "two"])
    first = [row for row in rows if row.place.stream == "one" and not row.threshold]
    assert [row.rank for row in first] == [1, 2, 3, 4, 5, 6]
    values = [row.figures["auroc_weighted"].mean for row in first]
    assert values == sorted(values, reverse=True)
    assert [row.rank for row in rows if row.threshold and row.place.stream == "two"] == [1, 2, 3, 4, 5, 6]
    assert first[0].standing == "best" and first[-1].standing == "behind"


def test_an_oracle_is_never_ranked(tmp_path):
    rows = _rows(tmp_path, thresholds=["oracle", "naive(delta=0.1)"])
    assert {row.rank for row in rows if row.threshold == "oracle"} == {None}
    assert {row.standing for row in rows if row.threshold == "oracle"} == {"unranked"}


def test_the_curve_of_a_row_has_every_year_with_a_band_over_its_seeds(tmp_path):
    row = next(row for row in _rows(tmp_path) if not row.threshold)
    assert row.curve is not None and row.curve.at == (2006, 2007, 2008, 2009)
    points = row.curve.values["auroc"]
    assert points[1] is None and points[3] is None
    assert points[0] is not None and points[0].lo < points[0].mean < points[0].hi and points[0].seeds == 3
    assert row.curve.n_new == (20, 0, 20, 0)
    assert row.curve.test == (False, True, True, True)


def test_rows_of_two_splits_are_told_apart_by_the_label_of_their_place(tmp_path):
    one = write_run(tmp_path / "one", year_frame(split="60-20-20"))
    other = write_run(tmp_path / "other", year_frame(split="planetoid"))
    labels = {row.place.label for row in report_rows(read_sources([one, other]))}
    assert labels == {"dblp-easy-twin · 60-20-20", "dblp-easy-twin · planetoid"}


def test_a_place_says_no_more_than_distinguishes_it(tmp_path):
    one = write_run(tmp_path / "one", year_frame(suite="first", suite_version=1, thresholds=["", "oracle"]))
    other = write_run(tmp_path / "other", year_frame(suite="second", suite_version=2, thresholds=[""]))
    years = year_frame(suite="first", suite_version=1, thresholds=["oracle"], track="upper bound")
    bound = write_run(tmp_path / "bound", years)
    labels = {row.place.label for row in report_rows(read_sources([one, other, bound]))}
    assert labels == {"dblp-easy-twin · first", "dblp-easy-twin · second", "dblp-easy-twin · first · upper bound"}
