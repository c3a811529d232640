"""The layout dblp-easy, dblp-hard, PharmaBio (Galke et al. 2021) and acl-venues are published in.

`adjlist.txt` has a vertex and its neighbours a line; `X.npy`, `y.npy` and `t.npy` are indexed by vertex id,
whatever order the lines are in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import DataError
from lgl_bench.core.types import IntArray
from lgl_bench.streams.importers import importers
from lgl_bench.streams.importers.files import Options, find_file, maybe_sparse, read_npy, unpacked
from lgl_bench.streams.raw import RawGraph


class AdjlistOptions(Options):
    """The format has no options."""


@importers.register("adjlist")
def read_adjlist(source: Path, options: dict[str, Any]) -> RawGraph:
    """Reads the four files from a folder or a zip."""
    AdjlistOptions.read(options, "adjlist")
    with unpacked(source) as folder:
        return _read_folder(folder)


def _read_folder(folder: Path) -> RawGraph:
    lists = find_file(folder, "adjlist.txt")
    arrays = {name: read_npy(find_file(lists.parent, f"{name}.npy")) for name in ("X", "y", "t")}
    sizes = {name: array.shape[0] if array.ndim else 0 for name, array in arrays.items()}
    if len(set(sizes.values())) != 1 or arrays["X"].ndim != 2:
        raise DataError(
            f"X.npy, y.npy and t.npy in {lists.parent} have {sizes['X']}, {sizes['y']} and {sizes['t']} "
            "rows; all three are indexed by vertex id and must be equally long, X with a row of features each"
        )
    edges, lines = _read_lists(lists)
    names = lists.parent / "classes.txt"
    return RawGraph(
        ids=np.arange(sizes["y"]),
        born=np.array(arrays["t"]).reshape(-1),
        labels=np.array(arrays["y"]).reshape(-1),
        features=maybe_sparse(arrays["X"], "X.npy"),
        edges=edges,
        class_names=tuple(names.read_text(encoding="utf-8").split("\n")[:-1]) if names.is_file() else (),
        vertex_file="y.npy",
        files={"times": "t.npy", "labels": "y.npy", "features": "X.npy"},
        edge_file=lists.name,
        edge_lines=lines,
    )


def _read_lists(path: Path) -> tuple[IntArray, IntArray]:
    """Edges as (2, m) ids and the line each stands on."""
    try:
        rows = path.read_text(encoding="ascii").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    parsed: list[npt.NDArray[np.int64]] = []
    for number, row in enumerate(rows, start=1):
        try:
            parsed.append(np.array(row.split(), dtype=np.int64))
        except (ValueError, OverflowError) as error:
            raise DataError(
                f"{path.name}, line {number}: {error}; a line is a vertex id and the ids of its neighbours"
            ) from error
    lengths = np.array([max(len(row) - 1, 0) for row in parsed])
    heads = np.array([row[0] if len(row) else 0 for row in parsed], dtype=np.int64)
    tails = [row[1:] for row in parsed if len(row) > 1]
    targets = np.concatenate(tails) if tails else np.empty(0, dtype=np.int64)
    lines = np.repeat(np.arange(1, len(rows) + 1), lengths)
    return np.stack([np.repeat(heads, lengths), targets]), lines
