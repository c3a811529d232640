"""Vertices that are known by a name instead of a number: DOIs, arXiv ids.

Inside lgl-bench a vertex has a number. Names are numbered from 0 on in the order of (time, name), so that neither the
order of the rows nor years that are appended later change the number of a vertex. The name stays beside the number, in
the column `name` of a stream on disk: it is for people, and nothing is computed from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.types import IntArray
from lgl_bench.streams.stream import Stream

WHOLE = r"-?(0|[1-9][0-9]{0,17})(\.0)?"
"""Text that is a number; 007 and 1501.00010 are names. Tools that know no empty whole numbers write 12 as 12.0."""
_whole = re.compile(WHOLE)


def is_text(ids: npt.NDArray[Any]) -> bool:
    """Whether ids are names: text, of which at least one is no whole number.

    >>> is_text(np.array(["10.1000/182", "7"])), is_text(np.array(["12", "7.0"])), is_text(np.array([12, 7]))
    (True, False, False)
    """
    return ids.dtype.kind in "OUS" and not all(_whole.fullmatch(str(value)) for value in ids.tolist())


def number_names(names: npt.NDArray[Any], born: IntArray, file: str) -> IntArray:
    """A number for each name: its place in the order of (time, name).

    >>> number_names(np.array(["b", "a", "c"], dtype=object), np.array([2001, 2001, 2000]), "papers.csv").tolist()
    [2, 1, 0]
    """
    repeats = pd.Index(names).duplicated()
    if repeats.any():
        row = int(np.argmax(repeats))
        raise DataError(
            f"{file}, row {row}: vertex id {quoted(names[row])} stands there a second time; ids must be distinct"
        )
    years = born.tolist()
    order = sorted(range(len(names)), key=lambda row: (years[row], names[row]))
    numbers = np.empty(len(names), dtype=np.int64)
    numbers[order] = np.arange(len(names))
    return numbers


def name_positions(ids: npt.NDArray[Any]) -> Callable[[npt.NDArray[Any]], IntArray]:
    """A function from ids, as text, to their position in `ids`; -1 for an id that is not there.

    >>> name_positions(np.array([7, 3]))(np.array([["3.0", "x"]], dtype=object)).tolist()
    [[1, -1]]
    """
    numbers = ids.dtype.kind in "iub"
    index = pd.Index([str(value) for value in ids.tolist()] if numbers else ids)

    def place(wanted: npt.NDArray[Any]) -> IntArray:
        flat = wanted.reshape(-1)
        if numbers:
            flat = np.array([_plain(str(value)) for value in flat.tolist()], dtype=object)
        text = flat if flat.dtype.kind in "OU" else flat.astype(str)
        found: IntArray = index.get_indexer(pd.Index(text)).astype(np.int64)
        return found.reshape(wanted.shape)

    return place


def vertex_frame(stream: Stream) -> pd.DataFrame:
    """The vertices with what they are called: `vertex` as in the answers of a run, name, time, and class."""
    classes = [*stream.info.class_names, ""]
    columns: dict[str, Any] = {"vertex": stream.ids}
    if stream.names is not None:
        columns["name"] = stream.names
    return pd.DataFrame({**columns, "time": stream.born, "class": [classes[label] for label in stream.labels]})


def _plain(text: str) -> str:
    return text.removesuffix(".0") if _whole.fullmatch(text) else text
