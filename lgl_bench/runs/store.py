"""What a run keeps: weights, answers, grades. A power cut can cost the unit under way, nothing else.

    DIR/plan.json                              what was asked for last
    DIR/plans/DIGEST.json                      everything that was ever asked for
    DIR/fits/KEY/{model.safetensors,fit.json}  one fit, and memory.safetensors if its strategy keeps something
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
from lgl_bench.runs.answer_columns import SHARED, AnswerColumns, parse_answers
from lgl_bench.runs.records import AnswersRecord, DamagedError, FitRecord, dump_fit, parse_fit
from lgl_bench.runs.run_folder import RUN_AGAIN, RunFolder, exists, parquet_bytes, read_file, write_file

_RECORD, _WEIGHTS, _MEMORY = "fit.json", "model.safetensors", "memory.safetensors"


def record_path(folder: Path, key: str) -> Path:
    """Where a run folder has the record of a fit."""
    return folder / "fits" / key / _RECORD


class RunStore(RunFolder):
    """The fits of a run folder and their answers."""

    def fit(self, key: str) -> FitRecord | None:
        """The record of a fit; None if there is none."""
        path = record_path(self.folder, key)
        if not exists(path):
            return None
        data = read_file(path)
        try:
            return parse_fit(data, str(path))
        except DamagedError as error:
            raise DamagedError(f"{error}; {RUN_AGAIN}") from error

    def weights(self, key: str) -> bytes | None:
        """The weights of a fit; None if they were not kept."""
        path = self.folder / "fits" / key / _WEIGHTS
        if not exists(path):
            return None
        record, data = self.fit(key), read_file(path)
        if record is None or record.weights != weights_digest(data):
            raise _damaged(path)
        return data

    def memory(self, key: str) -> bytes | None:
        """What the strategy of a fit left; None if it left nothing.

        Raises:
            DamagedError: It left something, and that is gone or damaged.
        """
        record = self.fit(key)
        if record is None or record.memory is None:
            return None
        path = self.folder / "fits" / key / _MEMORY
        data = read_file(path) if exists(path) else b""
        if record.memory != weights_digest(data):
            raise _damaged(path)
        return data

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
        """
        place = self.folder / "fits" / key
        if memory is not None:
            record = record.but(memory=weights_digest(memory))
            write_file(place, _MEMORY, memory)
        if weights is not None:
            record = record.but(weights=weights_digest(weights))
            write_file(place, _WEIGHTS, weights)
        before = _current_answers(self, key)
        if answers is None:
            record = record.but(answers=[] if before is None else [before])
            write_file(place, _RECORD, dump_fit(record))
            return record
        kept = None if before is None or replace else before
        data = parquet_bytes(_merged(self.answers(key) if kept else None, answers))
        after = AnswersRecord(
            sha256=hashlib.sha256(data).hexdigest(), sources={**(kept.sources if kept else {}), **(sources or {})}
        )
        record = record.but(answers=[after])
        # A kill before the rename leaves the old file, and a record that knows it.
        write_file(place, _RECORD, dump_fit(record if before is None else record.but(answers=[before, after])))
        write_file(self.folder / "answers", f"{key}.parquet", data)
        if before is not None:
            write_file(place, _RECORD, dump_fit(record))
        return record

    def forget(self, keys: Iterable[str]) -> None:
        """Removes fits and their answers, so that they are made again."""
        for key in keys:
            remove(self.folder / "fits" / key)
            self.drop_answers(key)

    def drop_weights(self, key: str) -> None:
        """Forgets the weights of a fit that nobody builds on any more."""
        remove(self.folder / "fits" / key / _WEIGHTS)

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


def weights_digest(weights: bytes) -> str:
    """What the record of a fit holds of its weights."""
    return hashlib.sha256(weights).hexdigest()


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
    raise _damaged(path)


def _damaged(path: Path) -> DamagedError:
    return DamagedError(f"{path} is damaged: its bytes are not those that were written; {RUN_AGAIN}")


def _merged(kept: pd.DataFrame | None, fresh: pd.DataFrame) -> pd.DataFrame:
    """All columns, the new ones in place of the old, in a fixed order."""
    if kept is not None:
        fresh = pd.concat([kept.drop(columns=[name for name in fresh if name in kept]), fresh], axis=1)
    front = [name for name in SHARED if name in fresh]
    return fresh[[*front, *sorted(set(fresh.columns) - set(front))]]
