from __future__ import annotations

from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.rows import rows_of
from lgl_bench.leaderboard.table.schema import HEADLINE
from tests.support.boards import board, row


def test_a_row_of_a_table_has_its_key_its_metrics_and_its_facts():
    frame = board(row(0.7, detector="energy"), row(None))
    first, second = rows_of(frame)
    assert (first.key.detector, first.key.label_delay, first.facts.schema_version) == ("energy", 0, 4)
    assert first.metrics["auroc_weighted"].mean == 0.7 and first.metrics["auroc_weighted"].reason == ""
    assert second.metrics["auroc_weighted"].mean is None and second.metrics["auroc_weighted"].reason
    assert list(first.metrics) == list(HEADLINE)


def test_columns_that_a_ranking_adds_are_no_metrics():
    (first,) = rows_of(ranked(board(row())))
    assert list(first.metrics) == list(HEADLINE)
