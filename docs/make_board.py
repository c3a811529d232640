"""Writes the board of the README from the shipped boards: `python docs/make_board.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from lgl_bench.leaderboard.boards import open_board, pool
from lgl_bench.leaderboard.compare.standing import BEST, INCONCLUSIVE, TIE, word_of
from lgl_bench.leaderboard.floor import IS_FLOOR, YES, is_floor
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.short_names import short_names
from lgl_bench.leaderboard.table.names import Fact, metric_column
from lgl_bench.leaderboard.values import ranking_metrics
from lgl_bench.streams.catalogue import is_twin

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "README.md"
BOARDS = ("static", "temporal-paper", "static-quick", "temporal")
"""A stream is shown from the first that has it."""
START, END = "<!-- board: python docs/make_board.py -->", "<!-- end of board -->"


def page() -> str:
    """The README with its board made anew."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    return before + "\n".join([START, "", *table(), "", END]) + rest.split(END)[1]


def table() -> Iterator[str]:
    """Who leads on each real stream, by what, what it is not told apart from, and where the floor is."""
    yield "| stream | leads | on | ranked by | not told apart from it | the floor | above the floor | budget, seeds |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    found: dict[str, str] = {}
    for name in BOARDS:
        for stream, line in lines(ROOT / "leaderboard" / f"{name}.csv"):
            found.setdefault(stream, line)
    yield from (found[stream] for stream in sorted(found))


def lines(board: Path) -> Iterator[tuple[str, str]]:
    """Each real stream of a board with its line."""
    pooled = pool([open_board(board)])
    rows = ranked(pooled.frame[~pooled.frame["stream"].map(is_twin)], None, pooled.runs, pooled.tester)
    rows = rows[rows["threshold"] == ""].reset_index(drop=True)
    rows = rows.join(short_names(rows).add_suffix("_short")).assign(metric=ranking_metrics(rows))
    for (stream, _), group in rows.groupby(["stream", "group"]):
        words = group["standing"].map(word_of)
        best = group[words == BEST].iloc[0]
        floor = group[is_floor(group)].iloc[0]
        alike, others = int(words.isin([TIE, INCONCLUSIVE]).sum()), len(group) - 1
        methods = group[group[Fact.ABOVE_FLOOR] != IS_FLOOR]
        above = int((methods[Fact.ABOVE_FLOOR] == YES).sum())
        role = " (floor)" if best[Fact.ABOVE_FLOOR] == IS_FLOOR else ""
        yield (
            stream,
            f"| {stream} | {best['detector_short']}{role} | {best['backbone_short']} | {_figure(best)} "
            f"| {alike} of {others} | {floor['detector_short']} {_value(floor)} | {above} of {len(methods)} "
            f"| {best['budget']}, {best[metric_column(best['metric'], 'n_seeds')]:.0f} |",
        )


def _value(row: pd.Series) -> str:
    return f"{row[metric_column(row['metric'], 'mean')]:.3f}"


def _figure(row: pd.Series) -> str:
    lo, hi = (row[metric_column(row["metric"], end)] for end in ("lo", "hi"))
    return f"`{row['metric']}` **{_value(row)}** [{lo:.3f}, {hi:.3f}]"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
