"""The layout dblp-easy, dblp-hard, PharmaBio (Galke et al. 2021) and acl-venues are published in.

`adjlist.txt` has a vertex and its neighbours a line; `X.npy`, `y.npy` and `t.npy` are indexed by vertex id,
whatever order the lines are in.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np

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
    sizes = {name: values.shape[0] if values.ndim else 0 for name, values in arrays.items()}
    widths = [arrays[name].size != sizes[name] for name in ("y", "t")]
    if len(set(sizes.values())) != 1 or arrays["X"].ndim != 2 or any(widths):
        raise DataError(
            f"X.npy, y.npy and t.npy in {lists.parent} have {sizes['X']}, {sizes['y']} and {sizes['t']} "
            "rows; all three are indexed by vertex id and must be equally long, X with a row of features each, y and t "
            "with one number each"
        )
    edges, lines = _read_lists(lists)
    return RawGraph(
        ids=np.arange(sizes["y"]),
        born=np.array(arrays["t"]).reshape(-1),
        labels=np.array(arrays["y"]).reshape(-1),
        features=maybe_sparse(arrays["X"], "X.npy"),
        edges=edges,
        class_names=_class_names(lists.parent / "classes.txt"),
        vertex_file="y.npy",
        files={"times": "t.npy", "labels": "y.npy", "features": "X.npy"},
        edge_file=lists.name,
        edge_lines=lines,
    )


def _class_names(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    try:
        return tuple(path.read_text(encoding="utf-8").split("\n")[:-1])
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}; it has the name of a class per line, in UTF-8") from error


def _read_lists(path: Path) -> tuple[IntArray, IntArray]:
    """Edges as (2, m) ids and the line each stands on."""
    heads, targets, degrees = array("q"), array("q"), array("q")
    try:
        with path.open(encoding="ascii", newline="\n") as file:
            for number, row in enumerate(file, start=1):
                head, *neighbours = row.split() or ["0"]
                try:
                    heads.append(int(head))
                    targets.extend(map(int, neighbours))
                except (ValueError, OverflowError) as error:
                    raise DataError(
                        f"{path.name}, line {number}: {error}; a line is a vertex id and the ids of its neighbours"
                    ) from error
                degrees.append(len(neighbours))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    lengths = np.array(degrees, dtype=np.int64)
    lines = np.repeat(np.arange(1, len(lengths) + 1), lengths)
    return np.stack([np.repeat(np.array(heads, dtype=np.int64), lengths), np.array(targets, dtype=np.int64)]), lines
