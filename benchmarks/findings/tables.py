"""What the page reads: boards with the tests beside them, facts of streams, and how budgets were measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lgl_bench.core.grammar import Expression, parse
from lgl_bench.leaderboard.compare.board_tests import BoardTests, read_board_tests
from lgl_bench.leaderboard.table.names import PRINTED, Fact, metric_column
from lgl_bench.leaderboard.table.read import read_board
from lgl_bench.leaderboard.values import ranking_metrics
from lgl_bench.metrics.ranks import STATIC_PROTOCOLS
from lgl_bench.streams.catalogue import is_twin

ROOT = Path(__file__).resolve().parents[2]
STREAMS_FILE = "streams.csv"
GOOD_FILE = "good.csv"
STATIC, TEMPORAL = "static graphs", "temporal streams"


class Board(NamedTuple):
    """A board of one budget: its name, its rows on real streams, and the tests beside it."""

    name: str
    budget: str
    frame: pd.DataFrame
    tests: BoardTests | None = None


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a repository.

    Attributes:
        folder: Of the boards; `findings` below it holds facts of streams.
        budgets: The file that `benchmarks/budgets.py` keeps.
    """

    folder: Path = ROOT / "leaderboard"
    budgets: Path = ROOT / "benchmarks" / "budget_ranking.csv"
    _read: dict[str, Board | None] = field(default_factory=dict)

    def board(self, name: str) -> Board | None:
        """A board without its twins and printed rows; None if there is no such board or no such row.

        Raises:
            SystemExit: Its rows are of several budgets.
        """
        if name not in self._read:
            path = self.folder / f"{name}.csv"
            frame = real_rows(read_board(path)) if path.is_file() else pd.DataFrame()
            found = Board(name, one(frame["budget"]), frame, read_board_tests(path)) if len(frame) else None
            self._read[name] = found
        return self._read[name]

    def boards(self) -> list[Board]:
        """Every board, by name."""
        found = (self.board(path.stem) for path in sorted(self.folder.glob("*.csv")))
        return [board for board in found if board is not None]

    def homophily(self) -> dict[tuple[str, str], float]:
        """Class-insensitive homophily by stream and checksum."""
        path = self.folder / "findings" / STREAMS_FILE
        if not path.is_file():
            return {}
        rows = read_csv(path)
        values = zip(rows["stream"], rows["stream_checksum"], rows["class_insensitive"], strict=True)
        return {(stream, checksum): float(value) for stream, checksum, value in values}


def read_csv(path: Path) -> pd.DataFrame:
    """A table of `leaderboard/findings`; empty text stays empty text."""
    return pd.read_csv(path, keep_default_na=False)


def real_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows on real streams that somebody ran."""
    twins = {name for name in set(frame["stream"]) if is_twin(name)}
    kept = ~frame["stream"].isin(twins) & (frame[Fact.TRUST] != PRINTED)
    return frame[kept].reset_index(drop=True)


def detector_name(text: str) -> str:
    """A detector by the names of its plugins, whether its values were given or chosen.

    >>> detector_name("good(odin(auto),alpha=auto)"), detector_name("good(odin(eps=0.1),alpha=0.5)")
    ('good(odin)', 'good(odin)')
    """
    return str(_named(parse(text)))


def _named(found: Expression) -> Expression:
    return Expression(found.name, tuple(_named(part) for part in found.arguments if part.name != "auto"))


def kinds(frame: pd.DataFrame) -> pd.Series:
    """Of each row, whether its stream is a static graph or a temporal stream."""
    return frame["protocol"].map(lambda text: STATIC if text.partition("(")[0] in STATIC_PROTOCOLS else TEMPORAL)


def one(column: pd.Series) -> Any:
    """The value that all rows of a table share.

    Raises:
        SystemExit: They differ.
    """
    values = list(dict.fromkeys(column))
    if len(values) != 1:
        raise SystemExit(f"{column.name} differs between rows of one table: {values}; make the whole table anew")
    return values[0]


def by_budget(boards: Iterable[Board]) -> dict[str, list[Board]]:
    """Boards that may share a table: those of one budget."""
    found: dict[str, list[Board]] = {}
    for board in boards:
        found.setdefault(board.budget, []).append(board)
    return dict(sorted(found.items()))


def shown(
    boards: Iterable[Board], rows_of: Callable[[Board], pd.DataFrame]
) -> Iterator[list[tuple[Board, pd.DataFrame]]]:
    """Per budget, the boards that have something to show, each with it."""
    for own in by_budget(boards).values():
        found = [(board, rows) for board in own if len(rows := rows_of(board))]
        if found:
            yield found


def per_budget(rows: pd.DataFrame, answer: Callable[[pd.DataFrame], str]) -> str:
    """An answer, one for each budget if rows are of several."""
    parts = {budget: answer(own) for budget, own in rows.groupby("budget", sort=True)}
    named = [f"`{budget}`: {text}" for budget, text in parts.items()]
    return " ".join(named if len(parts) > 1 else parts.values())


def made(boards: Iterable[Board]) -> str:
    """How the rows of some boards of one budget were made, in words."""
    boards = list(boards)
    frame = pd.concat([board.frame for board in boards], ignore_index=True)
    seeds = sorted({int(n) for n in frame[metric_column("accuracy", "n_seeds")].dropna()})
    several = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    commits = sorted({str(text)[:7] for text in frame[Fact.GIT_COMMIT] if text})
    budget = one(pd.Series([board.budget for board in boards], name="budget"))
    plural = "" if several == "1" else "s"
    return f"budget `{budget}`, {several} seed{plural}, made at commit{'s' * (len(commits) > 1)} {', '.join(commits)}"


def figures(frame: pd.DataFrame) -> pd.DataFrame:
    """Of each row, mean and interval of the metric that ranks it."""
    metrics = ranking_metrics(frame)
    cells = {
        part: [row[metric_column(name, part)] for name, (_, row) in zip(metrics, frame.iterrows(), strict=True)]
        for part in ("mean", "lo", "hi")
    }
    return pd.DataFrame({name: pd.to_numeric(pd.Series(values)) for name, values in cells.items()}).set_index(
        frame.index
    )
