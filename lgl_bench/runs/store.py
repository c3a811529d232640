"""What a run keeps: weights, answers, grades. A power cut can cost the unit at hand, nothing else.

    DIR/plan.json                              what was asked for
    DIR/fits/KEY/{model.safetensors,fit.json}  one fit
    DIR/answers/KEY.parquet                    vertex, time, class_pred, confidence, novelty:EXPR,
                                               neighbour:EXPR, rejected:EXPR|THRESHOLD
    DIR/{years.parquet,intervals.json,standing.json,leaderboard.csv}  made from the above

Every file appears whole, by a rename. Two runs on the same store write the same bytes under the same key; adding
columns to answers is guarded by a lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.processes import alive, pid_in


class RunStore:
    """The folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def prepare(self) -> None:
        """Makes the folders and clears what a killed run left half-written."""
        try:
            for name in ("fits", "answers"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"the run folder {self.folder} cannot be made: {error.strerror or error}") from error
        with self.locked():
            for path in [*self.folder.glob(".*.partial"), *self.folder.glob("*/.*.partial")]:
                pid = pid_in(path)
                if pid is None or not alive(pid):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    # fits

    def fit(self, key: str) -> dict[str, Any] | None:
        """What is noted of a fit; None where there is none."""
        path = self.folder / "fits" / key / "fit.json"
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read: {error}; remove the folder, and the fit is made again") from error

    def weights(self, key: str) -> bytes | None:
        """The weights of a fit, where they were kept."""
        path = self.folder / "fits" / key / "model.safetensors"
        return path.read_bytes() if path.is_file() else None

    def write_fit(self, key: str, noted: dict[str, Any], weights: bytes | None) -> None:
        """Keeps a fit; a folder with fit.json is a whole one."""
        place = self.folder / "fits" / key
        partial = self.folder / "fits" / f".{key}.{os.getpid()}.partial"
        partial.mkdir(parents=True, exist_ok=True)
        if weights is not None:
            _write(partial / "model.safetensors", weights)
        _write(partial / "fit.json", json.dumps(noted, indent=1, sort_keys=True).encode() + b"\n")
        with self.locked():
            if place.exists():
                shutil.rmtree(place)
            partial.rename(place)

    def forget(self, keys: list[str], only_failed: bool) -> None:
        """Removes fits and answers, so that they are made again; or only what is noted as failed."""
        for key in keys:
            noted = self.fit(key)
            if not only_failed:
                shutil.rmtree(self.folder / "fits" / key, ignore_errors=True)
                (self.folder / "answers" / f"{key}.parquet").unlink(missing_ok=True)
            elif noted is not None and noted["status"] in ("failed", "diverged"):
                shutil.rmtree(self.folder / "fits" / key)
            elif noted is not None and noted.get("failed"):
                self.write_fit(key, {**noted, "failed": {}}, self.weights(key))

    def drop_weights(self, key: str) -> None:
        """Forgets the weights of a fit that nobody builds on any more."""
        (self.folder / "fits" / key / "model.safetensors").unlink(missing_ok=True)

    # answers

    def answer_columns(self, key: str) -> set[str]:
        """Columns that are there."""
        path = self.folder / "answers" / f"{key}.parquet"
        return set(pq.read_schema(path).names) if path.is_file() else set()

    def has_answers(self, key: str) -> bool:
        """Whether a unit has answers."""
        return (self.folder / "answers" / f"{key}.parquet").is_file()

    def columns(self, key: str) -> dict[str, npt.NDArray[Any]]:
        """The answers of a unit, column by column."""
        path = self.folder / "answers" / f"{key}.parquet"
        try:
            # One file, one thread: a data set scan would cost more than the reading.
            table = pq.ParquetFile(path).read(use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{path} cannot be read: {error}; remove it, and the answers are made again") from error
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def answers(self, key: str) -> pd.DataFrame:
        """The answers of a unit as a table."""
        return pd.DataFrame(self.columns(key))

    def add_answers(self, key: str, fresh: pd.DataFrame) -> None:
        """Adds or replaces columns; what other runs added stays."""
        path = self.folder / "answers" / f"{key}.parquet"
        with self.locked():
            if path.is_file():
                kept = self.answers(key)
                fresh = pd.concat([kept.drop(columns=[c for c in fresh if c in kept]), fresh], axis=1)
            front = [name for name in ("vertex", "time", "class_pred", "confidence") if name in fresh]
            ordered = fresh[[*front, *sorted(set(fresh.columns) - set(front))]]
            partial = path.with_name(f".{key}.{os.getpid()}.partial")
            pq.write_table(pa.Table.from_pandas(ordered, preserve_index=False), partial, compression="zstd")
            _sync(partial)
            partial.replace(path)

    # tables

    def write_text(self, name: str, text: str) -> None:
        """A file of the run, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f".{name}.{os.getpid()}.partial"
        _write(partial, text.encode())
        partial.replace(self.folder / name)

    def write_frame(self, name: str, frame: pd.DataFrame) -> None:
        """A Parquet table of the run."""
        partial = self.folder / f".{name}.{os.getpid()}.partial"
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), partial, compression="zstd")
        _sync(partial)
        partial.replace(self.folder / name)

    def plan(self) -> dict[str, Any]:
        """The plan of the last run."""
        path = self.folder / "plan.json"
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise DataError(f"{self.folder} holds no run: plan.json is missing") from error
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read: {error}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Alone among the processes that write to this store."""
        with (self.folder / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
