from __future__ import annotations

from lgl_bench.leaderboard.table.columns import columns
from lgl_bench.leaderboard.table.names import CLAIMED, MADE_WITH, Fact, metric_column
from lgl_bench.leaderboard.table.schema import (
    FACTS,
    KEY,
    SUFFIXES,
    Figures,
)


def test_every_fact_and_every_figure_has_one_name_to_ask_for_it_by():
    assert tuple(value for name, value in vars(Fact).items() if name.isupper()) == FACTS
    assert tuple(Figures.model_fields) == SUFFIXES
    assert [column.name for column in columns(["M"])][len(KEY) : -len(FACTS)] == [
        metric_column("M", suffix) for suffix in SUFFIXES
    ]
    assert set(MADE_WITH) < set(CLAIMED) < set(FACTS)
