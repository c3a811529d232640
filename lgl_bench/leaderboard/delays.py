"""How long until a class that emerges is detected, and with how many false alarms, read off the stored answers.

Reading answers takes longer than all else that a report or a board needs, so only the best methods are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from lgl_bench.core.errors import LglBenchError
from lgl_bench.grading.board_delays import delay_table, read_board_delays
from lgl_bench.grading.labels import Labels, stream_labels
from lgl_bench.grading.row_key import KEY
from lgl_bench.leaderboard.boards import OpenedBoard
from lgl_bench.leaderboard.compare.answers import Cells, Run
from lgl_bench.leaderboard.ranking import ranked
from lgl_bench.leaderboard.table.schema import PLACE
from lgl_bench.metrics.emerging import YearAnswers, detection_delay, emerging_classes
from lgl_bench.runs.store import RunStore

METHODS = 4
"""Methods per place and kind whose delays are shown."""


class _RankedRow(Protocol):
    @property
    def key(self) -> Cells: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def threshold(self) -> str: ...


Row = TypeVar("Row", bound=_RankedRow)


def best_methods(rows: Iterable[Row]) -> list[Row]:
    """The rows of a place whose delays are shown: the best without a threshold, then the best with one.

    Of rows with the same rank the key decides, so that a board and a report made from it take the same.
    """
    given = list(rows)
    places = sorted((row.rank, row.key, at) for at, row in enumerate(given) if row.rank is not None)
    best = [given[at] for *_, at in places]
    return [*[row for row in best if not row.threshold][:METHODS], *[row for row in best if row.threshold][:METHODS]]


class DelayReader:
    """Reads the delays of rows off the answers of their runs.

    Attributes:
        reasons: Per stream whose labels are not available, why.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self.reasons: dict[str, str] = {}
        self._data_dir = data_dir
        self._labels: dict[tuple[str, str], Labels | None] = {}

    def delays(self, run: Run, key: Cells) -> pd.DataFrame:
        """Of each emerging class, delay and false alarms with every seed; none without answers over several years."""
        cells = dict(zip(KEY, key, strict=True))
        years = run.years.iloc[run.by_method.get(key, [])]
        years = years[years["status"] == "ok"]
        found: list[tuple[int, int, int, float | None, float | None]] = []
        labels = self._opened(cells) if years["time"].nunique() > 1 and run.has_answers else None
        if labels is None:
            return delay_table(key, found)
        for seed, part in years.groupby("seed"):
            units = part.to_dict("records")
            answers = [year for unit in units if (year := _year(run.store, labels, cells, unit)) is not None]
            born = emerging_classes(answers)
            for label, one in detection_delay(answers).items():
                found.append((int(seed), label, born[label], one.delay.value, one.false_alarm_rate.value))
        return delay_table(key, found)

    def _opened(self, cells: dict[str, str]) -> Labels | None:
        name, checksum = place = cells["stream"], cells["stream_checksum"]
        if place not in self._labels:
            try:
                self._labels[place] = stream_labels(name, checksum, self._data_dir)
            except LglBenchError as error:
                self._labels[place] = None
                self.reasons[name] = str(error)
        return self._labels[place]


def _year(store: RunStore, labels: Labels, cells: dict[str, str], unit: dict[Any, Any]) -> YearAnswers | None:
    record = store.fit(unit["key"])
    if record is None or not store.has_answers(unit["key"]):
        return None
    columns = store.columns(unit["key"])
    name, threshold = unit.get("chosen") or cells["detector"], cells["threshold"]
    rejected = columns.rejected(name, threshold) if threshold else None
    novelty = columns.novelty(name)
    if rejected is None and (threshold or novelty is None):
        return None
    known = np.array(record.known, dtype=np.int64)
    return YearAnswers(int(unit["time"]), labels.of(columns.vertices), known, rejected=rejected, novelty=novelty)


@dataclass(frozen=True, slots=True)
class _BoardRow:
    key: Cells
    rank: int | None
    threshold: str
    board: int


def delays_of(boards: Sequence[OpenedBoard], frame: pd.DataFrame, reader: DelayReader) -> list[pd.DataFrame]:
    """The delays of boards: those beside a CSV, and of run folders those of the best methods of each place.

    Args:
        boards: What the rows are from.
        frame: The rows of all of them, with the column `board` of a pool.
        reader: What reads the answers, and knows afterwards of which streams it could not.
    """
    runs = [None if board.folder is None else Run(board.folder) for board in boards]
    found = [read_board_delays(Path(board.name)) for board in boards if board.folder is None]
    order = ranked(frame)
    texts = order[list(KEY)].astype(str).itertuples(index=False, name=None)
    ranks = (None if pd.isna(rank) else int(rank) for rank in order["rank"])
    places: dict[Cells, list[_BoardRow]] = {}
    for key, rank, board in zip(texts, ranks, order["board"], strict=True):
        cells = dict(zip(KEY, key, strict=True))
        row = _BoardRow(key, rank, cells["threshold"], int(board))
        places.setdefault(tuple(cells[name] for name in PLACE), []).append(row)
    for rows in places.values():
        for row in best_methods(rows):
            run = runs[row.board]
            if run is not None:
                found.append(reader.delays(run, row.key))
    return found
