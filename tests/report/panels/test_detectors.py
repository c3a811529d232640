"""The heat map of detectors and backbones."""

from __future__ import annotations

import re
from pathlib import Path

from lgl_bench.report.data.detector_grids import detector_grids
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.detectors import detector_panel
from lgl_bench.report.site import build_site
from tests.leaderboard.test_strategy_names import strategy_years
from tests.support.report_boards import write_run, year_frame


def _rows(tmp_path: Path, years):
    return report_rows(read_sources([write_run(tmp_path / "run", years)]))


def test_detectors_are_ordered_by_their_mean_over_backbones_and_a_missing_one_says_it_was_not_run(tmp_path):
    years = year_frame(detectors=["msp", "energy(temperature=1.0)", "odin(eps=0.1)"], thresholds=[""])
    # With gcn 0.90, 0.82, 0.74, with mlp 0.66, 0.58, 0.50. Without its worse half odin has the mean 0.74, msp 0.78.
    years = years[(years["backbone"] != "mlp") | (years["detector"] != "odin(eps=0.1)")]
    rows = _rows(tmp_path, years)
    (grid,) = detector_grids(rows)
    assert grid.detectors == ("msp", "odin", "energy") and grid.columns == ("gcn", "mlp")
    assert grid.columns_are == "backbone" and (1, 1) not in grid.cells and len(grid.cells) == 5
    panel = detector_panel(rows)
    (chart,) = panel.charts
    assert "odin with mlp: not run" in chart.svg and chart.svg.count('class="blank"') == 1
    assert "the best is msp with gcn, AUROC 0.9" in chart.svg
    assert panel.table is not None and [row[3] for row in panel.table.rows].count(False) == 1


def test_parameters_are_named_only_where_a_backbone_has_several_of_them(tmp_path):
    detectors = ["msp", "good(msp,alpha=0.1)", "good(msp,alpha=0.9)", "odin(eps=0.1)"]
    (grid,) = detector_grids(_rows(tmp_path, year_frame(detectors=detectors, backbones=["gcn"], thresholds=[""])))
    assert grid.detectors == ("msp", "good(msp,alpha=0.1)", "good(msp,alpha=0.9)", "odin")


def test_backbones_with_other_parameters_are_columns_of_their_own(tmp_path):
    backbones = ["gat(heads=4)", "gat(heads=8)", "gcn(layers=2)"]
    (grid,) = detector_grids(_rows(tmp_path, year_frame(backbones=backbones, thresholds=[""])))
    assert grid.columns == ("gat(heads=4)", "gat(heads=8)", "gcn")


def test_rows_that_differ_in_their_strategy_have_a_column_for_each(tmp_path):
    (grid,) = detector_grids(_rows(tmp_path, strategy_years(finetune=0.5, joint=0.9)))
    assert grid.columns == ("finetune", "joint") and grid.columns_are == "strategy, with gcn"


def test_a_row_without_a_rank_has_a_dash_and_its_reason(tmp_path):
    years = year_frame(detectors=["msp", "odin(eps=0.1)"], backbones=["gcn"], thresholds=[""])
    failed = (years["detector"] != "msp") & (years["time"] == 2008) & (years["seed"] == 0)
    years.loc[failed, "status"], years.loc[failed, "reason"] = "diverged", "the loss is not finite"
    (chart,) = detector_panel(_rows(tmp_path, years)).charts
    assert "odin with gcn: incomplete: 1 test years" in chart.svg and ">–</text>" in chart.svg


def test_what_beats_the_floor_is_bold_and_the_best_is_framed(tmp_path):
    years = year_frame(detectors=["msp", "degree", "energy(temperature=1.0)"], backbones=["gcn"], thresholds=[""])
    (chart,) = detector_panel(_rows(tmp_path, years)).charts
    assert re.findall(r'class="heat([^"]*)"', chart.svg) == [" best strong", "", ""]


def test_forty_detectors_are_forty_rows_with_a_word_each(tmp_path):
    detectors = [f"method-{at:02d}" for at in range(40)]
    years = year_frame(detectors=detectors, backbones=["gcn", "gat"], thresholds=[""], years=[2006, 2008], seeds=1)
    (chart,) = detector_panel(_rows(tmp_path, years)).charts
    assert chart.svg.count('class="value mid') == 80 and 'viewBox="0 0' in chart.svg
    height = float(re.search(r'viewBox="0 0 \S+ (\S+)"', chart.svg).group(1))
    assert 40 * 20 < height < 40 * 25


def test_without_a_row_that_is_ranked_by_auroc_the_panel_says_so(tmp_path):
    assert "has a threshold" in detector_panel(_rows(tmp_path, year_frame(thresholds=["never"]))).empty


def test_the_map_is_on_the_page_of_figures_and_on_that_of_its_stream(tmp_path):
    build_site([write_run(tmp_path / "run", year_frame(streams=["one", "two"]))], tmp_path / "site")
    figures = (tmp_path / "site" / "figures.html").read_text()
    (maps,) = re.findall(r'<section class="panel" id="detectors".*?</section>', figures, re.S)
    assert maps.count('class="chart natural"') == 2
    (page,) = (tmp_path / "site" / "streams").glob("one-*.html")
    assert page.read_text().count('class="chart natural"') == 1
