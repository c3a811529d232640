"""Cora, CiteSeer and PubMed in the layout of Yang et al. (2016), "Revisiting Semi-Supervised Learning".

`ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`: Python-2 pickles of scipy matrices, numpy arrays and a
dictionary. Row i of `tx` belongs to the vertex on line i of `test.index`. Unpickling runs code, so the
unpickler admits only the handful of names these files need.

The public split: the first len(y) vertices train, the next 500 validate, those in `test.index` test.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, to_sparse
from lgl_bench.streams.raw import RawGraph

_ADMITTED: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): __import__("collections").defaultdict,
    ("__builtin__", "list"): list,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): scipy.sparse.csr_matrix,
}
_RECONSTRUCT = ("numpy.core.multiarray", "_reconstruct")


class PlanetoidOptions(Options):
    """Options of the format.

    Attributes:
        prefix: NAME in `ind.NAME.x`.
        unlabelled: What becomes of vertices whose label row is all zero (CiteSeer has 15): class 0, as the
            published counts have it, or none.
        validation: Vertices of the public validation split.
    """

    prefix: str
    unlabelled: Literal["class-0", "none"] = "class-0"
    validation: int = 500


@importers.register("planetoid")
def read_planetoid(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the eight files of one data set."""
    chosen = PlanetoidOptions.read(options, "planetoid")
    part = {
        name: find_file(source, f"ind.{chosen.prefix}.{name}")
        for name in ("y", "tx", "allx", "ty", "ally", "graph", "test.index")
    }
    labelled = len(unpickle(part["y"]))
    allx, tx = (_matrix(part[name]) for name in ("allx", "tx"))
    ally, ty = (np.asarray(unpickle(part[name])) for name in ("ally", "ty"))
    for x, rows, y, onehots in (("allx", allx, "ally", ally), ("tx", tx, "ty", ty)):
        if onehots.ndim != 2 or rows.shape[0] != len(onehots):
            raise DataError(
                f"{part[x].name} has {rows.shape[0]} rows, {part[y].name} the shape {onehots.shape}; every "
                "vertex needs a row in both. Get the files again"
            )
    graph = unpickle(part["graph"])
    test = _test_index(part["test.index"], tx.shape[0], allx.shape[0])
    total = int(test.max()) + 1
    # Vertices of CiteSeer's gaps have neither features nor a label: their rows stay zero.
    row_of = np.concatenate([np.arange(allx.shape[0]), test])
    stacked = scipy.sparse.vstack([allx, tx]).tocoo()
    features = scipy.sparse.csr_matrix((stacked.data, (row_of[stacked.row], stacked.col)), shape=(total, allx.shape[1]))
    onehot = np.zeros((total, ally.shape[1]), dtype=np.int64)
    onehot[row_of] = np.concatenate([ally, ty])
    labels = onehot.argmax(axis=1)
    if chosen.unlabelled == "none":
        labels[onehot.sum(axis=1) == 0] = -1
    split = np.zeros(total, dtype=np.int8)
    split[:labelled] = 1
    split[labelled : labelled + chosen.validation] = 2
    split[test] = 3
    degree = [len(neighbours) for neighbours in graph.values()]
    edges = np.stack(
        [
            np.repeat(np.fromiter(graph, dtype=np.int64, count=len(graph)), degree),
            np.fromiter((v for row in graph.values() for v in row), dtype=np.int64, count=sum(degree)),
        ]
    )
    return RawGraph(
        ids=np.arange(total),
        born=np.zeros(total, dtype=np.int64),
        labels=labels,
        features=to_sparse(features),
        edges=edges,
        split=split,
        vertex_file=part["allx"].name,
        edge_file=part["graph"].name,
    )


def unpickle(path: Path) -> Any:
    """The object in a pickle that names nothing outside the short list."""
    try:
        with path.open("rb") as file:
            return _Restricted(file, path).load()
    except DataError:
        raise
    except Exception as error:  # a damaged pickle can raise anything at all
        raise DataError(
            f"{path} cannot be read ({type(error).__name__}: {error}); is it cut short? Get it again"
        ) from error


def _matrix(path: Path) -> Any:
    """A pickled sparse matrix whose indices lie inside it; scipy would follow them anywhere."""
    found = unpickle(path)
    try:
        matrix = scipy.sparse.csr_matrix(found)
        matrix.check_format(full_check=True)
    except Exception as error:  # whatever the pickle held, scipy made nothing of it
        raise DataError(f"{path} holds no sparse matrix ({error}); get it again") from error
    return matrix


class _Restricted(pickle.Unpickler):
    def __init__(self, file: Any, path: Path) -> None:
        super().__init__(file, encoding="latin1")
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == _RECONSTRUCT:
            return _reconstruct
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise DataError(
                f"{self._path} names {module}.{name}, which no Planetoid file needs; unpickling it could run "
                "foreign code, so it is refused. Get the file again from a source you trust"
            ) from None


def _reconstruct(kind: Any, shape: Any, dtype: Any) -> Any:
    """An empty array, as numpy's own pickle support makes it before it fills it in."""
    if kind is not np.ndarray:
        raise DataError(f"a pickled array of type {kind!r} is refused")
    return np.ndarray.__new__(np.ndarray, shape, dtype)


def _test_index(path: Path, rows: int, first: int) -> IntArray:
    try:
        test = np.array([int(line) for line in path.read_text().split()], dtype=np.int64)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is no list of vertex numbers ({error}); get it again") from error
    if len(test) != rows or len(set(test.tolist())) != rows or (rows and test.min() < first):
        raise DataError(
            f"{path} lists {len(test)} vertices where tx has {rows} rows; every row needs its own number "
            f"from {first} on. Get the files again"
        )
    return test
