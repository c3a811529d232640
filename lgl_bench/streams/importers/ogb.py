"""OGB's raw node-property layout (Hu et al. 2020): `raw/{edge,node-feat,node-label,node_year,...}.csv.gz`.

Given as a folder or as the published zip. With `features = "structure"` the official features are not
needed: they are computed from each paper's own reference list (see `lgl_bench.streams.structure`).
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from lgl_bench.core.errors import DataError
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, unpacked
from lgl_bench.streams.raw import RawGraph
from lgl_bench.streams.structure import structure_features


class OgbOptions(Options):
    """Options of the format: where the features come from, and how many a structural one has."""

    features: Literal["official", "structure", "none"] = "official"
    dimensions: int = 128


@importers.register("ogb")
def read_ogb(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the raw files from a folder or a zip."""
    chosen = OgbOptions.read(options, "ogb")
    with unpacked(source) as folder:
        return _read_folder(folder, chosen)


def _read_folder(folder: Path, options: OgbOptions) -> RawGraph:
    edge_file, label_file = find_file(folder, "edge.csv.gz"), find_file(folder, "node-label.csv.gz")
    raw = edge_file.parent
    labels = read_numbers(label_file, pa.float64())[:, 0]
    year_file = find_file(raw, "node_year.csv.gz")
    born = read_numbers(year_file, pa.float64())[:, 0]
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
        with gzip.open(path) as file:
            width = file.readline().count(b",") + 1
        names = [str(i) for i in range(width)]
        # Through Python's gzip: the csv reader's own takes a file that ends too early for a whole one.
        with gzip.open(path) as file:
            reader = pyarrow.csv.open_csv(
                file,
                read_options=pyarrow.csv.ReadOptions(column_names=names),
                convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, kind)),
            )
            blocks = [np.column_stack([column.to_numpy(False) for column in batch]) for batch in reader]
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise DataError(
            f"{path} cannot be read ({error}); mend the row, or get the file again if it is cut short"
        ) from error
    pa.default_memory_pool().release_unused()
    return np.concatenate(blocks)


def _labels(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """OGB writes a missing label as nan."""
    return np.where(np.isnan(labels), -1, labels)


def _expect(found: int, path: Path, counted: Path) -> None:
    if path.is_file() and (expected := int(read_numbers(path, pa.int64())[0, 0])) != found:
        raise DataError(f"{counted} has {found} rows, {path.name} says {expected}; get the files again")
