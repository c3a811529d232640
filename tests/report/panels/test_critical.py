from __future__ import annotations

from pathlib import Path

import numpy as np

from lgl_bench.leaderboard.stats.ranks import rank_over_streams
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.critical import _diagram, critical_panel
from tests.support.report_boards import write_run, year_frame


def _rows(tmp_path: Path, **given):
    return report_rows(read_sources([write_run(tmp_path / "run", year_frame(**given))]))


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
