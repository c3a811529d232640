"""The files of one fit: its record, its weights, what its strategy left, and its row of the matrix of years.

fit.json holds the digests of the others; what is read is held against them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd

from lgl_bench.core.files import remove
from lgl_bench.core.parquet import ParquetError
from lgl_bench.core.types import IntArray
from lgl_bench.runs.answer_columns import PREDICTED, parse_classes
from lgl_bench.runs.records import DamagedError, FitRecord, parse_fit
from lgl_bench.runs.run_folder import RUN_AGAIN, RunFolder, exists, parquet_bytes, read_file, write_file

RECORD, WEIGHTS, MEMORY, MATRIX = "fit.json", "model.safetensors", "memory.safetensors", "matrix.parquet"


def record_path(folder: Path, key: str) -> Path:
    """Where a run folder has the record of a fit."""
    return folder / "fits" / key / RECORD


def weights_digest(weights: bytes) -> str:
    """What the record of a fit holds of its weights."""
    return hashlib.sha256(weights).hexdigest()


def matrix_bytes(classes: IntArray) -> bytes:
    """A row of the matrix of years as its file."""
    return parquet_bytes(pd.DataFrame({PREDICTED: classes}))


def damaged(path: Path) -> DamagedError:
    """A file that is not what was written."""
    return DamagedError(f"{path} is damaged: its bytes are not those that were written; {RUN_AGAIN}")


class FitFiles(RunFolder):
    """The fits of a run folder."""

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
        path = self.folder / "fits" / key / WEIGHTS
        if not exists(path):
            return None
        record, data = self.fit(key), read_file(path)
        if record is None or record.weights != weights_digest(data):
            raise damaged(path)
        return data

    def memory(self, key: str) -> bytes | None:
        """What the strategy of a fit left; None if it left nothing.

        Raises:
            DamagedError: It left something, and that is gone or damaged.
        """
        record = self.fit(key)
        if record is None or record.memory is None:
            return None
        path = self.folder / "fits" / key / MEMORY
        data = read_file(path) if exists(path) else b""
        if record.memory != weights_digest(data):
            raise damaged(path)
        return data

    def matrix_file(self, key: str) -> bytes | None:
        """The row of the matrix of years as it was written; None if the model was not asked, or not after its fit."""
        record, path = self.fit(key), self.folder / "fits" / key / MATRIX
        if record is None or record.matrix_row is None or not exists(path):
            return None
        data = read_file(path)
        if record.matrix_row != weights_digest(data):
            raise damaged(path)
        return data

    def matrix_row(self, key: str) -> IntArray | None:
        """The classes that the model of a fit gives to the vertices of every year (`matrix_row`); None as above."""
        data = self.matrix_file(key)
        try:
            return None if data is None else parse_classes(data)
        except ParquetError as error:
            raise DamagedError(f"{self.folder / 'fits' / key / MATRIX} {error}; {RUN_AGAIN}") from error

    def write_parts(
        self, key: str, record: FitRecord, weights: bytes | None, memory: bytes | None, matrix: IntArray | None
    ) -> FitRecord:
        """Writes what is new beside the record, which is returned with the digests, to be written last."""
        parts = {
            "memory": (MEMORY, memory),
            "weights": (WEIGHTS, weights),
            "matrix_row": (MATRIX, None if matrix is None else matrix_bytes(matrix)),
        }
        for name, (file, data) in parts.items():
            if data is not None:
                record = record.but(**{name: weights_digest(data)})
                write_file(self.folder / "fits" / key, file, data)
        return record

    def drop_weights(self, key: str) -> None:
        """Forgets the weights of a fit that nobody builds on any more."""
        remove(self.folder / "fits" / key / WEIGHTS)

    def drop_matrix_row(self, key: str) -> None:
        """Forgets the row of the matrix, so that it is made again."""
        remove(self.folder / "fits" / key / MATRIX)
