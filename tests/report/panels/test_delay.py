from __future__ import annotations

from lgl_bench.leaderboard.folder import folder_rows
from lgl_bench.leaderboard.table.write import write_board
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.delay import delay_panel
from lgl_bench.streams.store import write_stream
from tests.support.boards import growing_stream, made_up_run


def test_a_delay_is_never_shown_without_its_false_alarms(tmp_path):
    stream = growing_stream()
    write_stream(stream, tmp_path / "data" / "growing")
    folder = made_up_run(tmp_path / "run", stream, {"msp": 3.0, "odin": 0.1}, threshold="naive")
    write_board(folder_rows(folder), folder / "leaderboard.csv")
    sources = read_sources([folder])
    panel = delay_panel(report_rows(sources, tmp_path / "data"), sources, tmp_path / "data")
    assert panel.table is not None and panel.table.columns[-1] == "false_alarm_rate"
    rates = {(row[3], row[4]): row[-1] for row in panel.table.rows}
    # Novelty of a known vertex is standard normal: 16 % lie above the threshold's cut at 1, for either detector.
    assert all(0.05 < rates[name, "naive"] < 0.3 for name in ("msp", "odin"))
    # Half of a class that stands out is found with few false alarms, half of one that does not with many.
    assert rates["msp", ""] < 0.05 and rates["odin", ""] > 0.3
    (chart,) = panel.charts
    assert chart.scrolls
    assert "false alarms" in chart.svg and chart.svg.count("false alarms ") >= len(panel.table.rows)
