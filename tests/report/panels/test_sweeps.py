from __future__ import annotations

from pathlib import Path

from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.sweeps import alpha_sweeps, rate_sweeps
from tests.support.report_boards import write_run, year_frame


def _rows(tmp_path: Path, **given):
    return report_rows(read_sources([write_run(tmp_path / "run", year_frame(**given))]))


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
