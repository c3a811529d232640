"""Cora, CiteSeer and PubMed in the layout of Yang et al. (2016), "Revisiting Semi-Supervised Learning".

`ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`: Python-2 pickles of scipy matrices, numpy arrays and a
dictionary. Row i of `tx` belongs to the vertex on line i of `test.index`. Unpickling runs code, so the files are
read by `lgl_bench.streams.importers.pickles`, which runs none.

The public split: the first len(y) vertices train, the next 500 validate, those in `test.index` test. With a file of
times the graph is a stream of years instead, and the split, which goes across them, is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse
from pydantic import Field

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, read_npy, to_sparse
from lgl_bench.streams.importers.pickles import read_array, read_matrix, read_pickle
from lgl_bench.streams.raw import MAX_TIMES, RawGraph


class PlanetoidOptions(Options):
    """Options of the format.

    Attributes:
        prefix: NAME in `ind.NAME.x`.
        unlabelled: What becomes of vertices whose label row is all zero (CiteSeer has 15): class 0, as the
            published counts have it, or none.
        validation: Vertices of the public validation split.
        times: A .npy file with a number per vertex: which of the years it is born in, 0 for the first.
        first_year: The year that 0 stands for.
        empty_years: Years after it that no number stands for, with spaces between them.
    """

    prefix: str = Field(pattern=r"^\w[\w.-]*$")
    unlabelled: Literal["class-0", "none"] = "class-0"
    validation: int = Field(default=500, ge=0)
    times: str = Field(default="", pattern=r"^(\w[\w.-]*\.npy)?$")
    first_year: int = Field(default=0, gt=-10_000, lt=10_000)
    empty_years: str = Field(default="", pattern=r"^(-?[0-9]{1,4}( |$))*$")


@importers.register("planetoid")
def read_planetoid(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the eight files of one data set."""
    chosen = PlanetoidOptions.read(options, "planetoid")
    part = {
        name: find_file(source, f"ind.{chosen.prefix}.{name}")
        for name in ("y", "tx", "allx", "ty", "ally", "graph", "test.index")
    }
    labelled = len(_onehots(part["y"]))
    allx, tx = (read_matrix(part[name]) for name in ("allx", "tx"))
    ally, ty = (_onehots(part[name]) for name in ("ally", "ty"))
    for x, rows, y, onehots in (("allx", allx, "ally", ally), ("tx", tx, "ty", ty)):
        if rows.shape[0] != len(onehots):
            raise DataError(
                f"{part[x].name} has {rows.shape[0]} rows, {part[y].name} the shape {onehots.shape}; every "
                "vertex needs a row in both. Get the files again"
            )
    if allx.shape[1] != tx.shape[1] or ally.shape[1] != ty.shape[1]:
        raise DataError(
            f"{part['allx'].name} and {part['tx'].name} have {allx.shape[1]} and {tx.shape[1]} features, "
            f"{part['ally'].name} and {part['ty'].name} {ally.shape[1]} and {ty.shape[1]} classes; they must agree. "
            "Get the files again"
        )
    edges = _edges(part["graph"])
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
    times = find_file(source, chosen.times) if chosen.times else None
    return RawGraph(
        ids=np.arange(total),
        born=np.zeros(total, dtype=np.int64) if times is None else _years(times, chosen),
        labels=labels,
        features=to_sparse(features),
        edges=edges,
        split=split if times is None else None,
        vertex_file=part["allx"].name,
        files={} if times is None else {"times": times.name},
        edge_file=part["graph"].name,
    )


def _years(path: Path, options: PlanetoidOptions) -> IntArray:
    """The year of each vertex from its number among the years that have vertices."""
    numbers = np.array(read_npy(path))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise DataError(f"{path} has no list of whole numbers, one per vertex; get it again")
    if numbers.min() < 0 or numbers.max() >= MAX_TIMES:
        raise DataError(f"{path} has a number outside 0 to {MAX_TIMES - 1:,}; get it again")
    empty = {int(year) for year in options.empty_years.split()}
    last = options.first_year + int(numbers.max()) + len(empty)
    years = [year for year in range(options.first_year, last + 1) if year not in empty]
    found: IntArray = np.array(years, dtype=np.int64)[numbers]
    return found


def _onehots(path: Path) -> npt.NDArray[Any]:
    """Rows of zeros with at most a one in each."""
    found = read_array(path, 2)
    if not found.shape[1] or not np.isin(found, (0, 1)).all() or (found.sum(axis=1) > 1).any():
        raise DataError(f"{path} has rows that name no class or several; a row is zeros and a one. Get it again")
    return found


def _edges(path: Path) -> IntArray:
    """(2, m) vertex numbers from a dictionary of neighbours."""
    graph = read_pickle(path)
    if not isinstance(graph, dict) or any(type(row) is not list for row in graph.values()):
        raise DataError(f"{path} holds no lists of neighbours by vertex; get it again")
    degree = [len(neighbours) for neighbours in graph.values()]
    # One list can stand for the neighbours of many vertices: few bytes would be any number of edges.
    if sum(degree) > path.stat().st_size:
        raise DataError(f"{path} has {sum(degree):,} neighbours, more than it has bytes; get it again")
    ends = [list(graph), [v for row in graph.values() for v in row]]
    if any(type(v) is not int or abs(v) >= 2**63 for end in ends for v in end):
        raise DataError(f"{path} has a vertex or neighbour that is no whole number; get it again")
    heads, tails = (np.array(end, dtype=np.int64) for end in ends)
    return np.stack([np.repeat(heads, degree), tails])


def _test_index(path: Path, rows: int, first: int) -> IntArray:
    try:
        test = np.array([int(line) for line in path.read_text(encoding="ascii").split()], dtype=np.int64)
    except (OSError, ValueError, OverflowError) as error:
        raise DataError(f"{path} is no list of vertex numbers ({error}); get it again") from error
    if len(test) != rows or len(set(test.tolist())) != rows or (rows and test.min() < first):
        raise DataError(
            f"{path} lists {len(test)} vertices where tx has {rows} rows; every row needs its own number "
            f"from {first} on. Get the files again"
        )
    if not rows:
        raise DataError(f"{path} lists no vertex; a data set has some to test on. Get the files again")
    # CiteSeer leaves out 15 of 3,327 numbers; arrays are made of as many rows as the largest says.
    if test.max() >= 2 * (first + rows):
        raise DataError(f"{path} names the vertex {test.max()}, but there are {first + rows} rows; get the files again")
    return test
