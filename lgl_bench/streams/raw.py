"""From what an importer read to a clean stream: every row checked, every error with its file and row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import DataError, quoted
from lgl_bench.core.types import BoolArray, Features, FloatArray, IntArray, Sparse
from lgl_bench.streams.lookup import positions
from lgl_bench.streams.names import is_text, name_positions, number_names
from lgl_bench.streams.stream import Stream, StreamInfo, Unit, assemble
from lgl_bench.streams.structure import structure_features

MAX_CLASSES = 100_000
"""Labels run from 0 on: a larger one is no class id, and what is counted per class would fill the memory."""
MAX_TIMES = 10_000
"""More different times than this are moments, not steps."""


@dataclass(frozen=True, slots=True)
class RawGraph:
    """A graph as it comes from a source, nothing dropped yet.

    Attributes:
        ids: Vertex ids: numbers from 0 on, or names, such as DOIs.
        born: Year of birth of each vertex.
        labels: Class ids; -1 or missing if there is none.
        features: One row per vertex.
        edges: (2, m) vertex ids, as many lines as the source has; a citing paper comes before the cited one.
        split: Codes of a published split.
        class_names: Name of each class id, if the source has them.
        vertex_file: File the vertices come from, for messages.
        files: Files of "times", "labels" and "features" if they have their own, for messages.
        edge_file: File the edges come from, for messages.
        edge_lines: Line of each edge in that file, if it is not its number plus one.
        structure: Columns of features to compute from the edges, instead of `features`; 0 for none.
        drop_unknown: Whether an edge to a vertex that does not exist is dropped and counted; otherwise it is an error.
        unit: What the times count.
        notes: What the importer has to say to the user.
        left_out: How many things of the source are not in the graph, by what they lack.
    """

    ids: npt.NDArray[Any]
    born: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    features: Features
    edges: npt.NDArray[Any]
    split: npt.NDArray[np.int8] | None = None
    class_names: tuple[str, ...] = ()
    vertex_file: str = "the vertex table"
    edge_file: str = "the edge list"
    edge_lines: IntArray | None = field(default=None)
    files: Mapping[str, str] = field(default_factory=dict)
    structure: int = 0
    drop_unknown: bool = False
    unit: Unit = "year"
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    def file(self, what: str) -> str:
        """The file that "times", "labels" or "features" come from."""
        return self.files.get(what, self.vertex_file)


def build(raw: RawGraph, info: StreamInfo) -> Stream:
    """Checks a raw graph and sorts it into a stream; self-loops and repeats are dropped and counted."""
    if not len(raw.ids):
        raise DataError(f"{raw.vertex_file} has no vertices; a stream needs at least one")
    for what, array in (("times", raw.born), ("labels", raw.labels), ("features", raw.features)):
        if array.shape[0] != len(raw.ids):
            raise DataError(
                f"{raw.vertex_file} has {len(raw.ids)} vertices, but there are {array.shape[0]} {what} in "
                f"{raw.file(what)}; every vertex needs exactly one"
            )
    born = _whole(raw.born, "time", raw.file("times"))
    _few_times(born, raw.file("times"))
    names = raw.ids.astype(object) if is_text(raw.ids) else None
    ids = _numbers(raw) if names is None else number_names(names, born, raw.vertex_file)
    labels = np.maximum(_whole(raw.labels, "label", raw.file("labels")), -1)
    _few_classes(labels, raw.file("labels"))
    _finite(raw.features, raw.file("features"))
    classes = raw.class_names or info.class_names or tuple(str(k) for k in range(int(labels.max()) + 1))
    if labels.max() >= len(classes):
        row = int(np.argmax(labels))
        raise DataError(
            f"{raw.file('labels')}, row {row}: label {labels[row]} has no class name; "
            f"{len(classes)} are given, for labels 0 to {len(classes) - 1}"
        )
    ends, note = _ends(raw, ids if names is None else names)
    lines, known, loops = raw.edges.shape[1], ends.shape[1], int((ends[0] == ends[1]).sum())
    features = _structure(raw, ids, born, ends) if raw.structure else canonical(raw.features)
    # The ends are handed over without a name: the largest arrays of an import are freed as soon as used.
    held = [ends]
    del ends
    stream = assemble(replace(info, class_names=classes), ids, born, labels, features, held.pop(), raw.split, names)
    counts = {"edge_lines": lines, "self_loops": loops, "repeated_edges": known - loops - stream.num_edges}
    counts |= {"unknown_edges": lines - known} if known < lines else {}
    counts |= raw.left_out
    imported, notes = {**counts, **info.imported}, (*info.notes, *raw.notes, *note)
    return replace(stream, info=replace(stream.info, imported=imported, unit=raw.unit, notes=notes))


def _numbers(raw: RawGraph) -> IntArray:
    """Ids that are numbers: whole, from 0 on, distinct."""
    ids = _whole(raw.ids, "vertex id", raw.vertex_file)
    if ids.min() < 0:
        row = int(np.argmax(ids < 0))
        raise DataError(f"{raw.vertex_file}, row {row}: vertex id {ids[row]} is negative; ids start at 0")
    _distinct(ids, raw.vertex_file)
    return ids


def _structure(raw: RawGraph, ids: IntArray, born: IntArray, ends: IntArray) -> npt.NDArray[np.float32]:
    """Features from the edges. They depend on the order of the vertices, so they are made in the stream's own."""
    order = np.lexsort((ids, born))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return structure_features(place[ends], born[order], raw.structure, raw.edge_file)[place]


def canonical(features: Features) -> Features:
    """float32, columns ascending within a row, no stored zeros."""
    if not isinstance(features, Sparse):
        return np.ascontiguousarray(features, dtype=np.float32)
    row = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    step = np.diff(features.indices.astype(np.int64))
    sorted_already = bool((step[row[1:] == row[:-1]] > 0).all())
    if sorted_already and features.values.all():
        return features
    order = np.lexsort((features.indices, row))
    order = order[features.values[order] != 0]
    lengths = np.bincount(row[order], minlength=features.shape[0])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Sparse(indptr, features.indices[order], features.values[order], features.columns)


def _ends(raw: RawGraph, ids: npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    """Row numbers of the two ends of every edge. If edges to unknown vertices are left out, a note says so."""
    if ids.dtype.kind in "OUS" or is_text(raw.edges.reshape(-1)):
        edges, ends = raw.edges, name_positions(ids)(raw.edges)
    else:
        edges = _whole(raw.edges, "vertex id of an edge", raw.edge_file, raw.edge_lines)
        ends = positions(ids)(edges)
    unknown: BoolArray = np.any(ends < 0, axis=0)
    if not unknown.any():
        return ends, ()
    at = int(np.argmax(unknown))
    where, edge = _line(at, raw.edge_lines), " - ".join(_id(end) for end in edges[:, at])
    bad = edges[:, at][ends[:, at] < 0][0]
    if not raw.drop_unknown:
        what = "is negative" if isinstance(bad, np.integer) and bad < 0 else f"is not a vertex of {raw.vertex_file}"
        raise DataError(
            f"{raw.edge_file}, {where}: the edge {edge} names {_id(bad)}, which {what}; add the vertex or "
            "remove the edge"
        )
    if unknown.all():
        raise DataError(
            f"no edge of {raw.edge_file} joins two vertices of {raw.vertex_file}: the first edge is {edge}, the first "
            f"vertex {_id(ids[0])}; if the ids are in another column, name it with --option id=COLUMN"
        )
    note = (
        f"ignored {int(unknown.sum()):,} of {len(unknown):,} edges, to vertices that are not in {raw.vertex_file}; the "
        f"first is {where} of {raw.edge_file}, which names {_id(bad)}"
    )
    return ends[:, ~unknown], (note,)


def _id(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else str(value)


def _whole(array: npt.NDArray[Any], what: str, file: str, lines: IntArray | None = None) -> npt.NDArray[np.int64]:
    if not array.size:
        return np.zeros(array.shape, dtype=np.int64)
    if array.dtype.kind in "mM":  # numpy would take a date for the days since 1970
        place = _line(0, lines, "row")
        raise DataError(f"{file}, {place}: the {what} {array.reshape(-1)[0]} is a date; use whole numbers")
    if array.dtype.kind in "iub":
        good = array <= np.iinfo(np.int64).max if array.dtype.kind == "u" else np.True_
        values = array
    else:
        values = _floats(array, what, file, lines)
        good = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2.0**53)
    if not good.all():
        first = int(np.argmax(~good.reshape(-1)))
        place = _line(first % (good.shape[-1] or 1), lines, "row")
        why = "is too large" if array.dtype.kind == "u" else "is not a whole number"
        raise DataError(f"{file}, {place}: the {what} {array.reshape(-1)[first]} {why}; correct the row")
    return values.astype(np.int64, copy=False)


def _floats(array: npt.NDArray[Any], what: str, file: str, lines: IntArray | None) -> FloatArray:
    """Numbers that stand there as floats, as text or as objects."""
    if array.dtype.kind not in "fUSO":
        raise DataError(f"{file}: a {what} is of type {array.dtype}; use whole numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        at = next((i for i, value in enumerate(array.reshape(-1)) if not _is_number(value)), 0)
        place = _line(at % (array.shape[-1] or 1), lines, "row")
        raise DataError(
            f"{file}, {place}: the {what} {array.reshape(-1)[at]!r} is no number; use whole numbers"
        ) from error


def _few_times(born: IntArray, file: str) -> None:
    if born.min() <= -(2**53) or born.max() >= 2**53:
        row = int(np.argmax(np.abs(born.astype(np.float64))))
        raise DataError(f"{file}, row {row}: the time {born[row]} is beyond 2**53; count years or other steps")
    if (times := len(np.unique(born))) > MAX_TIMES:
        raise DataError(
            f"{file} has {times:,} different times, and each is a step of the stream, a folder and a task; round them, "
            f"to years for instance, to {MAX_TIMES:,} at most"
        )


def _few_classes(labels: IntArray, file: str) -> None:
    if labels.max() >= MAX_CLASSES:
        row = int(np.argmax(labels))
        raise DataError(
            f"{file}, row {row}: the label {labels[row]} would be one of {int(labels[row]) + 1:,} classes, and there "
            f"may be {MAX_CLASSES:,}; number the classes from 0 on"
        )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _line(at: int, lines: IntArray | None, word: str = "line") -> str:
    return f"line {lines[at]}" if lines is not None else f"{word} {at if word == 'row' else at + 1}"


def _distinct(ids: IntArray, file: str) -> None:
    order = np.argsort(ids, kind="stable")
    again = np.flatnonzero(np.diff(ids[order]) == 0)
    if again.size:
        row = int(order[again[0] + 1])
        raise DataError(f"{file}, row {row}: vertex id {ids[row]} stands there a second time; ids must be distinct")


def _finite(features: Features, file: str) -> None:
    values = features.values if isinstance(features, Sparse) else features
    if values.dtype.kind not in "fiub":
        raise DataError(f"{file}: features are of type {values.dtype}, not numbers")
    # A sum is finite unless something in it is not (or it overflows, which the full look settles).
    if not values.size or np.isfinite(values.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    at = int(np.argmax(bad))
    if isinstance(features, Sparse):
        row = int(np.searchsorted(features.indptr, at, side="right")) - 1
        column = int(features.indices[at])
    else:
        row, column = divmod(at, values.shape[1])
    raise DataError(
        f"{file}, row {row}, feature {column}: the value is {values.reshape(-1)[at]}; features must be finite"
    )
