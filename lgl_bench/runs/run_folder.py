"""The folder of a run: one run at a time works in it, and every file in it appears whole, by a rename."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import locked, remove, write_bytes
from lgl_bench.core.processes import alive, pid_in
from lgl_bench.runs.records import DamagedError, StoreWarning

RUN_AGAIN = "give the run's command again, which makes it again"


class RunFolder:
    """A folder with the files of a run."""

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
                    remove(path)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Waits until no other run works in the folder; the lock of a process that died is free."""

        def warn(holder: int | None) -> None:
            who = "another process" if holder is None else f"process {holder}"
            warnings.warn(
                f"{who} is running in {self.folder}; this run waits for it to end (--out names another folder)",
                StoreWarning,
                stacklevel=2,
            )

        with locked(self.folder / ".lock", warn):
            yield

    def write_text(self, name: str, text: str) -> None:
        """A file of the run, whole or not at all."""
        path = self.folder / name
        write_file(path.parent, path.name, text.encode())

    def write_frame(self, name: str, frame: pd.DataFrame) -> None:
        """A Parquet table of the run."""
        write_file(self.folder, name, parquet_bytes(frame))


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """A table as the bytes of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), sink, compression="zstd")
    return bytes(sink.getvalue())


def exists(path: Path) -> bool:
    """Whether there is anything under a name; reading finds out whether it is a file."""
    return path.exists() or path.is_symlink()


def read_file(path: Path) -> bytes:
    """The bytes of a file of a run.

    Raises:
        DamagedError: It is missing, is no file, or cannot be read.
    """
    # A pipe or a device would never end.
    if not path.is_file():
        raise DamagedError(f"{path} {'is no file' if exists(path) else 'is missing'}; {RUN_AGAIN}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedError(f"{path} cannot be read: {error.strerror or error}; {RUN_AGAIN}") from error


def write_file(folder: Path, name: str, data: bytes) -> None:
    """Writes a file of a run, whole or not at all.

    Raises:
        DataError: The disk is full, or the place cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / name, data)
    except OSError as error:
        raise DataError(f"{folder / name} cannot be written: {error.strerror or error}") from error
