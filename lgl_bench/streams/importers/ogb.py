"""OGB's raw node-property layout (Hu et al. 2020): `raw/{edge,node-feat,node-label,node_year,...}.csv.gz`.

Given as a folder or as the published zip. With `features = "structure"` the official features are not
needed: they are computed from each paper's own reference list (see `lgl_bench.streams.structure`).
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
from pydantic import Field

from lgl_bench.core.errors import DataError
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, unpacked
from lgl_bench.streams.raw import RawGraph
from lgl_bench.streams.structure import structure_features

_LONGEST_LINE = 1 << 20
_FLOOR = 64 * 2**20  # as much is unpacked from any file, however small
_RATIO = 100  # bytes per byte of a larger one; numbers as text take two to ten


class OgbOptions(Options):
    """Options of the format: where the features come from, and how many a structural one has."""

    features: Literal["official", "structure", "none"] = "official"
    dimensions: int = Field(default=128, ge=1, le=65_536)


@importers.register("ogb")
def read_ogb(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the raw files from a folder or a zip."""
    chosen = OgbOptions.read(options, "ogb")
    with unpacked(source) as folder:
        return _read_folder(folder, chosen)


def _read_folder(folder: Path, options: OgbOptions) -> RawGraph:
    edge_file, label_file = find_file(folder, "edge.csv.gz"), find_file(folder, "node-label.csv.gz")
    raw = edge_file.parent
    labels = _one_column(label_file)
    year_file = find_file(raw, "node_year.csv.gz")
    born = _one_column(year_file)
    edges = read_numbers(edge_file, pa.int64())
    if edges.shape[1] != 2:
        raise DataError(f"{edge_file} has {edges.shape[1]} columns; an edge list has two")
    _expect(len(labels), raw / "num-node-list.csv.gz", label_file)
    _expect(len(edges), raw / "num-edge-list.csv.gz", edge_file)
    ids = np.arange(len(labels))
    features: npt.NDArray[Any]
    if options.features == "official":
        features = read_numbers(find_file(raw, "node-feat.csv.gz"), pa.float32())
    elif options.features == "structure" and len(born) == len(ids):
        features = structure_features(edges.T, born, options.dimensions, edge_file.name)
    else:
        features = np.zeros((len(ids), 0), dtype=np.float32)
    return RawGraph(
        ids=ids,
        born=born,
        labels=_labels(labels),
        features=features,
        edges=edges.T,
        vertex_file=label_file.name,
        edge_file=edge_file.name,
        files={"times": year_file.name, "features": "node-feat.csv.gz"},
    )


def read_numbers(path: Path, kind: Any) -> npt.NDArray[Any]:
    """A csv.gz without a header as a matrix of one type, read block by block."""
    try:
        with _unzipped(path) as file:
            first = file.readline(_LONGEST_LINE)
            width = first.count(b",") + 1
        if len(first) == _LONGEST_LINE:
            raise DataError(f"{path}, line 1 is longer than {_LONGEST_LINE:,} bytes; a line is the values of one row")
        names = [str(i) for i in range(width)]
        # Through Python's gzip: the csv reader's own takes a file that ends too early for a whole one.
        with _unzipped(path) as file:
            reader = pyarrow.csv.open_csv(
                file,
                read_options=pyarrow.csv.ReadOptions(column_names=names),
                convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, kind)),
            )
            blocks = [np.column_stack([column.to_numpy(False) for column in batch]) for batch in reader]
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} cannot be read ({error}); correct the row, or get the file again if it is cut short"
        ) from error
    pa.default_memory_pool().release_unused()
    found = np.concatenate([np.empty((0, width), dtype=kind.to_pandas_dtype()), *blocks])
    if pa.types.is_integer(kind) and found.dtype.kind != "i":
        row = int(np.argmax(np.isnan(found).any(axis=1)))
        raise DataError(f"{path}, row {row}: a cell is empty; every cell must be a whole number")
    return found


def _unzipped(path: Path) -> io.BufferedReader:
    limit = max(_FLOOR, _RATIO * path.stat().st_size)
    return io.BufferedReader(_Limited(path, limit), 1 << 20)


class _Limited(io.RawIOBase):
    """A gz file that is refused once it has more bytes than plausible: a megabyte of zeros can be a gigabyte."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self._limit, self._left = path, limit, limit
        self._file = gzip.open(path)  # noqa: SIM115  closed with this file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._file.readinto(buffer)
        self._left -= read
        if self._left < 0:
            raise DataError(
                f"{self._path} has {self._path.stat().st_size:,} bytes and unpacks to more than {self._limit:,}, which "
                "no table of numbers does; get it again from its source"
            )
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


def _one_column(path: Path) -> npt.NDArray[Any]:
    found = read_numbers(path, pa.float64())
    if found.shape[1] != 1:
        raise DataError(f"{path} has {found.shape[1]} columns; it needs one, a number per vertex")
    return found[:, 0]


def _labels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """OGB writes a missing label as nan."""
    return np.where(np.isnan(labels), -1, labels)


def _expect(found: int, path: Path, counted: Path) -> None:
    if not path.is_file():
        return
    expected = read_numbers(path, pa.int64())
    if expected.shape != (1, 1) or expected[0, 0] != found:
        expected_rows = ", ".join(map(str, expected.reshape(-1)[:3])) or "nothing"
        raise DataError(f"{counted} has {found} rows, {path.name} says {expected_rows}; get the files again")
