"""What a run keeps: weights, answers, grades. A power cut can cost the unit at hand, nothing else.

    DIR/plan.json                              what was asked for last
    DIR/plans/DIGEST.json                      everything that was ever asked for
    DIR/fits/KEY/{model.safetensors,fit.json}  one fit
    DIR/answers/KEY.parquet                    vertex, time, class_pred, confidence, novelty:EXPR,
                                               neighbour:EXPR, rejected:EXPR|THRESHOLD
    DIR/{years.parquet,intervals.json,standing.json,leaderboard.csv}  made from the above

A store only grows: another run adds to it. Every file appears whole, by a rename; fit.json holds the digests of weights
and answers, and what is read is held against them. One run at a time works in a folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.parquet import ParquetError
from lgl_bench.core.processes import alive, pid_in
from lgl_bench.runs.answer_table import FIRST, parse_answers
from lgl_bench.runs.records import AnswersRecord, DamagedError, FitRecord, StoreWarning, dump_fit, parse_fit

_AGAIN = "give the run's command again, which makes it again"


class RunStore:
    """The folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Makes the folders and clears what a killed run left half-written."""
        try:
            for name in ("fits", "answers", "plans"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"the run folder {self.folder} cannot be made: {error.strerror or error}") from error
        for pattern in (".*.partial", "*/.*.partial", "fits/*/.*.partial"):
            for path in self.folder.glob(pattern):
                pid = pid_in(path)
                if pid is None or not alive(pid):
                    _remove(path)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Waits until no other run works in the folder; the lock of a process that died is free."""
        with (self.folder / ".lock").open("a+", encoding="utf-8") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                holder = file.read(20).strip()
                who = f"process {holder}" if holder.isdigit() else "another process"
                warnings.warn(
                    f"{who} is running in {self.folder}; this run waits for it to end (--out names another folder)",
                    StoreWarning,
                    stacklevel=2,
                )
                fcntl.lockf(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)

    # fits

    def fit(self, key: str) -> FitRecord | None:
        """The record of a fit; None if there is none."""
        path = self.folder / "fits" / key / "fit.json"
        if not _there(path):
            return None
        data = _read(path)
        try:
            return parse_fit(data, str(path))
        except DamagedError as error:
            raise DamagedError(f"{error}; {_AGAIN}") from error

    def weights(self, key: str) -> bytes | None:
        """The weights of a fit; None if they were not kept."""
        path = self._weights(key)
        if not _there(path):
            return None
        record, data = self.fit(key), _read(path)
        if record is None or record.weights != weights_digest(data):
            raise DamagedError(f"{path} is damaged: its bytes are not those that were written; {_AGAIN}")
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
    ) -> FitRecord:
        """Keeps a fit with new weights and new columns of answers; returns the record as it is written.

        Args:
            key: Of the unit.
            record: Its `answers` are those of the store, whatever they say.
            weights: If there are new ones.
            answers: Columns to add; others of the file stay.
            sources: Digests of the code behind these columns.
            replace: Whether the other columns go.
        """
        place = self.folder / "fits" / key
        if weights is not None:
            record = record.but(weights=weights_digest(weights))
            _write(place, "model.safetensors", weights)
        before = self._current_answers(key)
        if answers is None:
            record = record.but(answers=[] if before is None else [before])
            _write(place, "fit.json", dump_fit(record))
            return record
        kept = None if before is None or replace else before
        data = _parquet(_merged(self.answers(key) if kept else None, answers))
        after = AnswersRecord(
            sha256=hashlib.sha256(data).hexdigest(), sources={**(kept.sources if kept else {}), **(sources or {})}
        )
        record = record.but(answers=[after])
        # A kill before the rename leaves the old file, and a record that knows it.
        _write(place, "fit.json", dump_fit(record if before is None else record.but(answers=[before, after])))
        _write(self.folder / "answers", f"{key}.parquet", data)
        if before is not None:
            _write(place, "fit.json", dump_fit(record))
        return record

    def forget(self, keys: Iterable[str]) -> None:
        """Removes fits and their answers, so that they are made again."""
        for key in keys:
            _remove(self.folder / "fits" / key)
            _remove(self._answers(key))

    def forget_failures(self, keys: Iterable[str], plugins: str | None = None) -> None:
        """Removes fits that failed, and what is noted as failed of others, so that both are tried again.

        Args:
            keys: Of which units.
            plugins: If given, only fits that failed with other plugin files than these.
        """
        for key in keys:
            record = self.fit(key)
            if record is None:
                continue
            if (
                record.status in ("failed", "diverged")
                and plugins is None
                or record.status == "failed"
                and record.plugins != plugins
            ):
                self.forget([key])
            elif record.failed and plugins is None:
                self.write_fit(key, record.but(failed={}, failed_sources={}))

    def drop_weights(self, key: str) -> None:
        """Forgets the weights of a fit that nobody builds on any more."""
        _remove(self._weights(key))

    def mend(self, keys: Iterable[str]) -> list[str]:
        """Removes what is damaged, so that it is made again; says what."""
        told = []
        for key in keys:
            for read, remove in (
                (self.fit, lambda key: self.forget([key])),
                (self.weights, self.drop_weights),
                (self._check_answers, lambda key: _remove(self._answers(key))),
            ):
                try:
                    read(key)
                except DamagedError as error:
                    told.append(str(error).removesuffix(f"; {_AGAIN}"))
                    remove(key)
        return told

    # answers

    def has_answers(self, key: str) -> bool:
        """Whether a unit has answers."""
        return _there(self._answers(key))

    def sources(self, key: str) -> dict[str, str]:
        """Digest of the code behind each `EXPR` and `EXPR|THRESHOLD` that is answered."""
        found = self._current_answers(key)
        return {} if found is None else dict(found.sources)

    def columns(self, key: str) -> dict[str, npt.NDArray[Any]]:
        """The answers of a unit, column by column."""
        data = self.answer_bytes(key)
        try:
            return parse_answers(data)
        except ParquetError as error:
            raise DamagedError(f"{self._answers(key)} {error}; {_AGAIN}") from error

    def answer_bytes(self, key: str) -> bytes:
        """The file of a unit's answers, as it was written."""
        data = _read(self._answers(key))
        self._matching(key, data)
        return data

    def answers(self, key: str) -> pd.DataFrame:
        """The answers of a unit as a table."""
        return pd.DataFrame(self.columns(key))

    def add_answers(self, key: str, columns: pd.DataFrame) -> None:
        """Adds columns of answers to a fit that is there."""
        record = self.fit(key)
        if record is None:
            raise DataError(f"{self.folder}/fits/{key} is missing")
        self.write_fit(key, record, answers=columns)

    def _check_answers(self, key: str) -> None:
        if self.has_answers(key):
            self.columns(key)

    def _current_answers(self, key: str) -> AnswersRecord | None:
        path = self._answers(key)
        return self._matching(key, _read(path)) if _there(path) else None

    def _matching(self, key: str, data: bytes) -> AnswersRecord:
        """What is noted of the answers file with these bytes."""
        record, digest = self.fit(key), hashlib.sha256(data).hexdigest()
        for noted in record.answers if record is not None else []:
            if noted.sha256 == digest:
                return noted
        path = self._answers(key)
        raise DamagedError(f"{path} is damaged: its bytes are not those that were written; {_AGAIN}")

    def _answers(self, key: str) -> Path:
        return self.folder / "answers" / f"{key}.parquet"

    def _weights(self, key: str) -> Path:
        return self.folder / "fits" / key / "model.safetensors"

    # tables

    def write_text(self, name: str, text: str) -> None:
        """A file of the run, whole or not at all."""
        path = self.folder / name
        _write(path.parent, path.name, text.encode())

    def write_frame(self, name: str, frame: pd.DataFrame) -> None:
        """A Parquet table of the run."""
        _write(self.folder, name, _parquet(frame))


def weights_digest(weights: bytes) -> str:
    """What fit.json holds of weights."""
    return hashlib.sha256(weights).hexdigest()


def _merged(kept: pd.DataFrame | None, fresh: pd.DataFrame) -> pd.DataFrame:
    """All columns, the new ones in place of the old, in a fixed order."""
    if kept is not None:
        fresh = pd.concat([kept.drop(columns=[name for name in fresh if name in kept]), fresh], axis=1)
    front = [name for name in FIRST if name in fresh]
    return fresh[[*front, *sorted(set(fresh.columns) - set(front))]]


def _parquet(frame: pd.DataFrame) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), sink, compression="zstd")
    return bytes(sink.getvalue())


def _there(path: Path) -> bool:
    """Whether there is anything under a name; reading tells whether it is a file."""
    return path.exists() or path.is_symlink()


def _read(path: Path) -> bytes:
    # A pipe or a device would never end.
    if not path.is_file():
        raise DamagedError(f"{path} {'is no file' if _there(path) else 'is missing'}; {_AGAIN}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedError(f"{path} cannot be read: {error.strerror or error}; {_AGAIN}") from error


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _write(folder: Path, name: str, data: bytes) -> None:
    partial = folder / f".{name}.{os.getpid()}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / name)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise DataError(f"{folder / name} cannot be written: {error.strerror or error}") from error
