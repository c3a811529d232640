"""Single rows of a table, typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from lgl_bench.grading.row_key import KEY, Key
from lgl_bench.leaderboard.table.columns import metrics_in
from lgl_bench.leaderboard.table.names import metric_column
from lgl_bench.leaderboard.table.schema import FACTS, SUFFIXES, BoardRow, Facts, Figures


def rows_of(frame: pd.DataFrame) -> Iterator[BoardRow]:
    """The rows of a table, which has been checked already; what is undefined is None."""
    plain = frame.astype(object).where(frame.notna(), None)
    # Columns that a ranking adds may look like one of a metric; a metric has a mean.
    metrics = [name for name in metrics_in(frame) if metric_column(name, "mean") in frame]
    for cells in plain.to_dict("records"):
        yield BoardRow(
            Key.model_construct(**{name: cells[name] for name in KEY}),
            {name: figures(cells, name) for name in metrics},
            Facts.model_construct(**{name: cells[name] for name in FACTS}),
        )


def frame_of(rows: Iterable[BoardRow]) -> pd.DataFrame:
    """Typed rows as a table; the other way round of `rows_of`."""
    return pd.DataFrame(
        [
            dict(row.key)
            | {metric_column(name, one): getattr(found, one) for name, found in row.metrics.items() for one in SUFFIXES}
            | dict(row.facts)
            for row in rows
        ]
    )


def figures(cells: Mapping[Any, Any], metric: str) -> Figures:
    """The figures of a metric, from one value per column."""
    named: dict[str, Any] = {suffix: cells[metric_column(metric, suffix)] for suffix in SUFFIXES}
    return Figures.model_construct(**named)
