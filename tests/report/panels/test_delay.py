from __future__ import annotations

import pandas as pd

from lgl_bench.grading.board_delays import write_board_delays
from lgl_bench.grading.row_key import KEY
from lgl_bench.report.data.rows import report_rows
from lgl_bench.report.data.sources import read_sources
from lgl_bench.report.panels.delay import delay_panel
from tests.support.report_boards import board_of, year_frame


def test_a_delay_is_never_shown_without_its_false_alarms(tmp_path):
    path, board = tmp_path / "mine.csv", board_of(year_frame())
    board.to_csv(path, index=False)
    cells = [
        *({"seed": 0, "class": 4, "born": 2003, "detection_delay": 1.0, "false_alarm_rate": 0.2},),
        *({"seed": 1, "class": 4, "born": 2003, "detection_delay": 3.0, "false_alarm_rate": 0.4},),
        *({"seed": 0, "class": 5, "born": 2004, "detection_delay": float("nan"), "false_alarm_rate": 0.5},),
        *({"seed": 1, "class": 5, "born": 2004, "detection_delay": 0.0, "false_alarm_rate": float("nan")},),
    ]
    row = board[list(KEY)].astype(str).iloc[0].to_dict()
    assert write_board_delays([pd.DataFrame([{**row, **cell} for cell in cells])], board, path) is not None
    sources = read_sources([path])
    panel = delay_panel(report_rows(sources, tmp_path), sources)
    assert panel.table is not None and panel.table.columns[-3:] == [
        *("detected_share_of_seeds", "median_delay", "false_alarm_rate"),
    ]
    shown = {line[5]: [round(value, 6) for value in line[-3:]] for line in panel.table.rows}
    assert shown == {4: [1.0, 2.0, 0.3], 5: [0.5, 0.0, 0.5]}
    (chart,) = panel.charts
    assert chart.svg.count("false alarms ") >= len(panel.table.rows)
