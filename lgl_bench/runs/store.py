"""What a run keeps: weights, answers, grades. A power cut can cost the unit under way, nothing else.

    DIR/plan.json                              what was asked for last
    DIR/plans/DIGEST.json                      everything that was ever asked for
    DIR/fits/KEY/{model.safetensors,fit.json}  one fit, memory.safetensors if its strategy keeps something, and
                                               matrix.parquet if its model answered for every year
    DIR/answers/KEY.parquet                    vertex, time, class_pred, confidence, novelty:EXPR,
                                               neighbour:EXPR, rejected:EXPR|THRESHOLD
    DIR/{years.parquet,intervals.json,standing.json,leaderboard.csv}  made from the above

A store only grows: another run adds to it. fit.json holds the digests of weights and answers, and what is read is held
against them. A fit of older code has another key, so it is never found by mistake.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import remove
from lgl_bench.core.parquet import ParquetError
from lgl_bench.core.types import IntArray
from lgl_bench.runs.answer_columns import SHARED, AnswerColumns, parse_answers
from lgl_bench.runs.fit_files import RECORD, FitFiles, damaged, record_path, weights_digest
from lgl_bench.runs.records import AnswersRecord, DamagedError, FitRecord, dump_fit
from lgl_bench.runs.run_folder import RUN_AGAIN, exists, parquet_bytes, read_file, write_file

__all__ = ["RunStore", "record_path", "weights_digest"]


class RunStore(FitFiles):
    """The fits of a run folder and their answers."""

    def write_fit(
        self,
        key: str,
        record: FitRecord,
        weights: bytes | None = None,
        answers: pd.DataFrame | None = None,
        sources: Mapping[str, str] | None = None,
        *,
        replace: bool = False,
        memory: bytes | None = None,
        matrix: IntArray | None = None,
    ) -> FitRecord:
        """Keeps a fit with new weights and new columns of answers; returns the record as it is written.

        Args:
            key: Of the unit.
            record: Its `answers` are those of the store, whatever they say.
            weights: If there are new ones.
            answers: Columns to add; others of the file stay.
            sources: Digests of the code behind these columns.
            replace: Whether the other columns go.
            memory: What the strategy of a new fit left.
            matrix: The row of the matrix of years, if it is new.
        """
        place = self.folder / "fits" / key
        record = self.write_parts(key, record, weights, memory, matrix)
        before = _current_answers(self, key)
        if answers is None:
            record = record.but(answers=[] if before is None else [before])
            write_file(place, RECORD, dump_fit(record))
            return record
        kept = None if before is None or replace else before
        data = parquet_bytes(_merged(self.answers(key) if kept else None, answers))
        after = AnswersRecord(
            sha256=hashlib.sha256(data).hexdigest(), sources={**(kept.sources if kept else {}), **(sources or {})}
        )
        record = record.but(answers=[after])
        # A kill before the rename leaves the old file, and a record that knows it.
        write_file(place, RECORD, dump_fit(record if before is None else record.but(answers=[before, after])))
        write_file(self.folder / "answers", f"{key}.parquet", data)
        if before is not None:
            write_file(place, RECORD, dump_fit(record))
        return record

    def forget(self, keys: Iterable[str]) -> None:
        """Removes fits and their answers, so that they are made again."""
        for key in keys:
            remove(self.folder / "fits" / key)
            self.drop_answers(key)

    def drop_answers(self, key: str) -> None:
        """Forgets the answers of a fit."""
        remove(_answers_path(self.folder, key))

    def has_answers(self, key: str) -> bool:
        """Whether a unit has answers."""
        return exists(_answers_path(self.folder, key))

    def sources(self, key: str) -> dict[str, str]:
        """Digest of the code behind each `EXPR` and `EXPR|THRESHOLD` that is answered."""
        found = _current_answers(self, key)
        return {} if found is None else dict(found.sources)

    def columns(self, key: str) -> AnswerColumns:
        """The answers of a unit, column by column."""
        data = self.answer_bytes(key)
        try:
            return parse_answers(data)
        except ParquetError as error:
            raise DamagedError(f"{_answers_path(self.folder, key)} {error}; {RUN_AGAIN}") from error

    def answer_bytes(self, key: str) -> bytes:
        """The file of a unit's answers, as it was written."""
        path = _answers_path(self.folder, key)
        data = read_file(path)
        _matching(self.fit(key), data, path)
        return data

    def answers(self, key: str) -> pd.DataFrame:
        """The answers of a unit as a table."""
        return pd.DataFrame(dict(self.columns(key).columns))


def add_answers(store: RunStore, key: str, columns: pd.DataFrame) -> None:
    """Adds columns of answers to a fit that is there."""
    record = store.fit(key)
    if record is None:
        raise DataError(f"{store.folder}/fits/{key} is missing")
    store.write_fit(key, record, answers=columns)


def _answers_path(folder: Path, key: str) -> Path:
    return folder / "answers" / f"{key}.parquet"


def _current_answers(store: RunStore, key: str) -> AnswersRecord | None:
    """What is recorded of the answers file of a fit; None if there is none."""
    path = _answers_path(store.folder, key)
    if not exists(path):
        return None
    record = store.fit(key)
    if record is not None and len(record.answers) == 1:
        return record.answers[0]  # its bytes are looked at when they are read
    return _matching(record, read_file(path), path)


def _matching(record: FitRecord | None, data: bytes, path: Path) -> AnswersRecord:
    """What is recorded of the answers file with these bytes."""
    digest = hashlib.sha256(data).hexdigest()
    for answers in record.answers if record is not None else []:
        if answers.sha256 == digest:
            return answers
    raise damaged(path)


def _merged(kept: pd.DataFrame | None, fresh: pd.DataFrame) -> pd.DataFrame:
    """All columns, the new ones in place of the old, in a fixed order."""
    if kept is not None:
        fresh = pd.concat([kept.drop(columns=[name for name in fresh if name in kept]), fresh], axis=1)
    front = [name for name in SHARED if name in fresh]
    return fresh[[*front, *sorted(set(fresh.columns) - set(front))]]
