from __future__ import annotations

import pytest

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.report.data.metrics import METRICS
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from tests.support.report_boards import write_run, year_frame


def test_a_row_that_two_inputs_have_is_shown_once(tmp_path):
    run = write_run(tmp_path / "run", year_frame())
    sources = read_sources([run, run / "leaderboard.csv"])
    assert len(report_rows(sources)) == 12
    assert "12 rows" in sources[1].notes[0]


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
