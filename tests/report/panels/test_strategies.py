"""What the page and the paper show of strategies."""

from __future__ import annotations

import pandas as pd
import pytest

from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.data.strategies import strategy_rows, year_grids
from lgl_bench.report.panels.strategies import (
    COSTS,
    strategy_curves_panel,
    strategy_panel,
    strategy_points,
    year_grid_panel,
)
from lgl_bench.report.paper_figures import paper_figures
from lgl_bench.report.site import build_site
from tests.leaderboard.test_strategy_names import strategy_years
from tests.support.report_boards import write_run

SECONDS, MEMORY = COSTS
REPLAY = "replay(balance=auto,graph=all,pick=random,size=200)"


def matrix(strategy, last):
    """Three models on four years; the last one has forgotten so much of the first."""
    cells = [(year, other, last if (year, other) == (2003, 2001) else 0.9) for year in (2001, 2002, 2003)
             for other in (2001, 2002, 2003, 2004)]  # fmt: skip
    about = {"suite": "made", "budget": "quick", "stream": "dblp-easy-twin", "label_delay": 0, "strategy": strategy}
    frame = pd.DataFrame(cells, columns=["trained_up_to", "evaluated_on", "accuracy"])
    return frame.assign(**about, backbone="gcn", head="softmax", seed=0)


@pytest.fixture
def folder(tmp_path):
    years = strategy_years(**{"finetune": 0.5, "joint": 0.9, REPLAY: 0.8})
    kept = {"finetune": 0.0, "joint": 8.0, REPLAY: 1.0}
    years = years.assign(memory_mb=years["strategy"].map(kept), memory_vertices=years["strategy"].map(kept))
    years["fit_seconds"] = years["strategy"].map({"finetune": 1.0, "joint": 9.0, REPLAY: 2.0})
    out = write_run(tmp_path / "run", years)
    pd.concat([matrix("finetune", 0.2), matrix("joint", 0.9)]).to_parquet(out / "matrix.parquet")
    return out


@pytest.fixture
def read(folder):
    sources = read_sources([folder])
    return report_rows(sources), sources


def test_the_cost_of_each_strategy_stands_beside_its_quality_and_the_ends_are_marked(read):
    (group,) = strategy_rows(read[0])
    assert group.detector == "msp"
    points = {one.strategy: one for one in strategy_points(group, SECONDS, "accuracy")}
    assert points["replay"].cost == 3 * 4 * 2.0 and points["replay"].quality == pytest.approx(0.8)
    assert {name for name, one in points.items() if one.end} == {"finetune", "joint"}
    memory = {one.strategy: one.cost for one in strategy_points(group, MEMORY, "auroc")}
    assert memory == {"finetune": MEMORY.least, "joint": 8.0, "replay": 1.0}


def test_the_panel_has_accuracy_and_auroc_against_time_and_memory(read):
    panel = strategy_panel(read[0])
    assert len(panel.charts) == 4 and all(chart.names == ("finetune", "joint", "replay") for chart in panel.charts)
    assert all(">finetune</text>" in chart.svg and ">joint</text>" in chart.svg for chart in panel.charts)
    assert [row[1] for row in panel.table.rows] == ["finetune", "joint", REPLAY]


def test_curves_are_those_of_each_strategy(read):
    (chart,) = strategy_curves_panel(read[0]).charts
    assert chart.names == ("finetune", "joint", "replay") and chart.svg.count('class="end-name') == 3
    assert "finetune 0.500" in chart.svg and "joint 0.900" in chart.svg


def test_a_heat_map_shows_every_model_on_every_year(read):
    grids = {grid.strategy: grid for grid in year_grids(*read)}
    assert list(grids) == ["finetune", "joint"]  # replay has no matrix
    assert grids["finetune"].values[2].tolist() == [0.2, 0.9, 0.9, 0.9]
    panel = year_grid_panel(*read)
    assert "trained up to 2003, on 2001: accuracy 0.200" in panel.charts[0].svg
    assert len(panel.table.rows) == 24


def test_without_a_matrix_the_panel_says_so(folder):
    (folder / "matrix.parquet").write_bytes(b"no parquet")
    sources = read_sources([folder])
    assert "--matrix" in year_grid_panel(report_rows(sources), sources).empty


def test_rows_of_one_strategy_do_not_name_it(tmp_path):
    rows = report_rows(read_sources([write_run(tmp_path / "run", strategy_years(full=0.8))]))
    assert {row.shown_strategy for row in rows} == {""} and {row.name for row in rows} == {"msp, gcn"}
    assert "do not differ" in strategy_panel(rows).empty


def test_rows_of_different_strategies_have_pages_and_curves_of_their_own(folder, tmp_path):
    build_site([folder], tmp_path / "site")
    pages = {path.name for path in (tmp_path / "site" / "methods").iterdir()}
    assert len(pages) == 3 and sum("joint" in name for name in pages) == 1
    figures = (tmp_path / "site" / "figures.html").read_text()
    assert all(f'id="{name}"' in figures for name in ("strategies", "strategy-curves", "year-grids"))
    index = (tmp_path / "site" / "index.html").read_text()
    assert 'data-strategy="replay"' in index and ">Strategy</button>" in index


def test_the_paper_has_the_same_figures(folder, tmp_path):
    found = paper_figures([folder], tmp_path / "figures")["figures"]
    drawn = {path.rsplit("/", 1)[1] for path in found}
    assert sum(one.startswith("strategies-dblp-easy-twin-") for one in drawn) == 12
    assert {"strategy-curves-dblp-easy-twin.pdf", "year-grids-dblp-easy-twin-joint.pdf"} <= drawn
    assert "strategies-dblp-easy-twin-accuracy-seconds-of-fitting.svg" in drawn
