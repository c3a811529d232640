"""A leaderboard as a notebook or a script looks at it: a few columns first, all of them on request."""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import pandas as pd

from lgl_bench.leaderboard import boards
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.strategy_names import differ_in_strategy
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.table.rows import frame_of, rows_of
from lgl_bench.leaderboard.table.schema import DECISIONS, BoardRow
from lgl_bench.leaderboard.table.write import canonical
from lgl_bench.leaderboard.values import detector_metrics

_SHOWN = 10
_DIGITS = "{:.3f}".format


class Board:
    """A leaderboard, best rows first.

    `frame` has what is looked at first: rank, names, accuracy, and what ranks with its interval; `all` every column of
    `leaderboard.csv`; `rows` typed records.

    Args:
        source: A leaderboard CSV, the folder of a run, a table with the columns of such a CSV, or typed rows.
        name: What it is called when it is shown; the path otherwise.
    """

    def __init__(self, source: str | Path | pd.DataFrame | Iterable[BoardRow], *, name: str = "") -> None:
        self._opened = isinstance(source, str | Path)
        if isinstance(source, str | Path):
            self._board = boards.open_board(Path(source))
        else:
            rows = canonical(source if isinstance(source, pd.DataFrame) else frame_of(source))
            self._board = boards.OpenedBoard(name, rows, None)
        self.name = name or self._board.name

    @cached_property
    def _ranked(self) -> pd.DataFrame:
        if not self._opened:  # what its rows say of the floor stands: nothing here could test it again
            return ranked(self._board.frame)
        pooled = boards.pool([self._board])
        return ranked(pooled.frame, None, pooled.runs, pooled.tester)

    @property
    def all(self) -> pd.DataFrame:
        """Every column of every row, best first."""
        return self._ranked[list(self._board.frame)]

    @property
    def rows(self) -> list[BoardRow]:
        """Every row, typed."""
        return list(rows_of(self.all))

    @property
    def frame(self) -> pd.DataFrame:
        """The columns that are looked at first."""
        ranked_rows = self._ranked
        decided = bool((ranked_rows["threshold"] != "").any())
        names = ["stream", *["strategy"] * differ_in_strategy(ranked_rows), "backbone", "detector"]
        ranking = [*dict.fromkeys(detector_metrics(ranked_rows)), *DECISIONS[:decided]]
        figures = [metric_column("accuracy", "mean")]
        figures += [metric_column(metric, suffix) for metric in ranking for suffix in ("mean", "lo", "hi")]
        seeds = metric_column("accuracy", "n_seeds")
        columns = ["rank", *names, *["threshold"] * decided, *figures, seeds, Fact.ABOVE_FLOOR, "standing"]
        return ranked_rows[columns]

    def __len__(self) -> int:
        return len(self._board.frame)

    def __repr__(self) -> str:
        shown = self.frame.head(_SHOWN).to_string(index=False, float_format=_DIGITS, na_rep="-")
        return f"{self._title()}\n{shown}{self._more()}"

    def _repr_html_(self) -> str:
        shown = self.frame.head(_SHOWN).to_html(index=False, float_format=_DIGITS, na_rep="-", border=0)
        return f"<p><b>{html.escape(self._title())}</b></p>{shown}<p>{html.escape(self._more().strip())}</p>"

    def _title(self) -> str:
        streams = self._board.frame["stream"].nunique()
        named = f" ({self.name})" if self.name else ""
        return f"Board of {len(self):,} row{'s' * (len(self) != 1)} on {streams} stream{'s' * (streams != 1)}{named}"

    def _more(self) -> str:
        left = len(self) - _SHOWN
        return f"\n... {left:,} more: .frame has them all, .all with every column" if left > 0 else ""
