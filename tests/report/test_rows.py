from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.leaderboard.stats.ranks import rank_over_streams
from lgl_bench.report.charts import Axes, Dot, Series, chart
from lgl_bench.report.cost import pareto
from lgl_bench.report.critical import _diagram, critical_panel
from lgl_bench.report.metrics import METRICS
from lgl_bench.report.rows import report_rows
from lgl_bench.report.sources import read_sources
from lgl_bench.report.sweeps import alpha_sweeps, rate_sweeps
from tests.report.boards import write_run, year_frame


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


def test_a_row_that_two_inputs_have_is_shown_once(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    sources = read_sources([run, run / "leaderboard.csv"])
    assert len(report_rows(sources)) == 12
    assert "12 rows" in sources[1].notes[0]


def test_sweeps_are_found_by_the_one_number_that_varies(tmp_path):
    rows = _rows(
        tmp_path,
        detectors=[f"good(msp,alpha={alpha})" for alpha in (0.0, 0.5, 1.0)] + ["msp"],
        thresholds=["", *(f"open-wrf(fit={fit},q={q})" for fit in ("train", "test") for q in (0.1, 0.2, 0.3))],
        backbones=["gcn"],
    )
    sweeps = alpha_sweeps(rows)
    assert [[at for at, _ in sweep.points] for sweep in sweeps] == [[0.0, 0.5, 1.0]]
    found = [sweep for sweep in rate_sweeps(rows) if sweep.points[0][1].detector == "msp"]
    assert [sweep.dashed for sweep in found] == [False, True]
    assert [at for at, _ in found[0].points] == [0.1, 0.2, 0.3]


def test_below_six_streams_there_is_no_critical_difference(tmp_path):
    few = critical_panel(_rows(tmp_path / "few", streams=["a", "b", "c", "d", "e"]))
    assert "real streams, inductive: too few streams: 5, and 6 are needed" in few.empty and not few.charts
    enough = critical_panel(_rows(tmp_path / "enough", streams=["a", "b", "c", "d", "e", "f"]))
    assert not enough.empty and len(enough.charts) == 1
    assert enough.table is not None and enough.table.rows[0][2] == 1.0


def test_critical_differences_never_pool_twins_with_real_streams_nor_splits_nor_budgets(tmp_path):
    streams = ["a", "b", "c", "d-twin", "e-twin", "f-twin"]
    mixed = critical_panel(_rows(tmp_path / "mixed", streams=streams))
    assert "real streams, inductive: too few streams: 3" in mixed.empty
    assert "twins, inductive: too few streams: 3" in mixed.empty and not mixed.charts
    runs = [
        write_run(tmp_path / split, year_frame(streams=streams[:3], split=split)) for split in ("60-20-20", "planetoid")
    ]
    splits = critical_panel(report_rows(read_sources(runs)))
    assert splits.empty.count("too few streams: 3") == 2


def test_a_method_with_several_variants_is_left_out_of_critical_differences_and_named(tmp_path):
    detectors = ["msp", "energy(temperature=1.0)", "odin(eps=0.1)", "odin(eps=0.2)"]
    panel = critical_panel(_rows(tmp_path, streams=list("abcdef"), detectors=detectors, backbones=["gcn"]))
    assert panel.table is not None
    assert [row[1] for row in panel.table.rows] == ["msp, gcn", "energy, gcn"]
    assert "left out for their variants: odin, gcn" in panel.about


def test_the_diagram_joins_those_whom_the_signed_ranks_cannot_tell_apart():
    # Three methods, six streams. Each pair's smallest possible p is 2/64; times three by Holm 0.094: no pair differs.
    six = rank_over_streams(np.array([[3.0, 2.0, 1.0]] * 6) + np.arange(6)[:, None], ["a", "b", "c"])
    assert six.bars == [(0, 2)] and _diagram(six, "all").svg.count("line cd") == 1
    # On seven streams it is 2/128, times three 0.047: all differ.
    seven = rank_over_streams(np.array([[3.0, 2.0, 1.0]] * 7) + np.arange(7)[:, None], ["a", "b", "c"])
    assert seven.bars == [] and _diagram(seven, "all").svg.count("line cd") == 0


def test_the_front_leaves_out_what_is_dearer_and_no_better():
    assert pareto([(2, 0.5), (1, 0.5), (3, 0.6), (4, 0.55)]) == [1, 2]
    assert pareto([]) == []


def test_a_chart_escapes_every_text_and_survives_a_single_point():
    drawn = chart("<b>", "a & b", [Series("x", [Dot(1, 0.5, "<i>")], 0)], Axes("<x>", "y", whole=True))
    assert "<b>" not in drawn.svg and "<i>" not in drawn.svg and "<x>" not in drawn.svg
    assert "&lt;b&gt;" in drawn.svg and "nan" not in drawn.svg
    assert chart("none", "", [], Axes("x", "y")).svg.startswith("<svg")


@pytest.mark.parametrize(
    ("content", "message"),
    [("a,b\n1,2\n", "no column 'stream'"), ("stream,backbone,detector,accuracy_mean\ns,b,d,high\n", "is no number")],
)
def test_a_csv_that_is_no_leaderboard_is_refused_with_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "board.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_sources([path])


def test_inputs_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read_sources([tmp_path / "none.csv"])
    with pytest.raises(DataError, match="neither"):
        read_sources([tmp_path])
    with pytest.raises(UsageError, match="nothing"):
        read_sources([])


def test_a_table_with_few_columns_says_why_the_rest_is_undefined(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("stream,backbone,detector,auroc_weighted_mean\ns,b,d,0.5\n", encoding="utf-8")
    (row,) = report_rows(read_sources([path]))
    assert row.rank == 1
    assert all(row.figures[name].reason for name in METRICS if name != "auroc_weighted")
