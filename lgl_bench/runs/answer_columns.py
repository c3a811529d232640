"""The answers of a unit: the names, meanings and types of their columns. Nobody else spells them.

vertex                     int64    id of the vertex in its stream
time                       int64    year of the task
class_pred                 int64    global id of the predicted known class
confidence                 float64  probability of that class
novelty:EXPR               float64  mapped novelty under a detector
neighbour:EXPR             float64  its mean over the neighbours of the vertex
rejected:EXPR|THRESHOLD    bool     whether a threshold on that detector calls the vertex new

fit.json names what was answered, or failed, by `EXPR` or `EXPR|THRESHOLD`: an `AnswerName`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from lgl_bench.core.grammar import parse
from lgl_bench.core.mixing import mix
from lgl_bench.core.parquet import ParquetError, open_parquet
from lgl_bench.core.types import BoolArray, FloatArray, IntArray

VERTEX, TIME, PREDICTED, CONFIDENCE = "vertex", "time", "class_pred", "confidence"
WHOLE = (VERTEX, TIME, PREDICTED)
"""Columns of whole numbers."""
SHARED = (*WHOLE, CONFIDENCE)
"""Columns that every file begins with, whatever was scored."""
Kind: TypeAlias = Literal["novelty", "neighbour", "rejected"]
_KINDS: tuple[Kind, ...] = ("novelty", "neighbour", "rejected")


class AnswerName(NamedTuple):
    """What fit.json calls an answer: a detector, or a decision of a threshold on it."""

    detector: str
    threshold: str = ""

    def __str__(self) -> str:
        return f"{self.detector}|{self.threshold}" if self.threshold else self.detector

    @classmethod
    def parse(cls, text: str) -> AnswerName:
        """From `EXPR` or `EXPR|THRESHOLD`.

        >>> AnswerName.parse("msp|naive(delta=0.1)")
        AnswerName(detector='msp', threshold='naive(delta=0.1)')
        """
        detector, _, threshold = text.partition("|")
        return cls(detector, threshold)


class ScoreColumn(NamedTuple):
    """A column that belongs to a detector."""

    kind: Kind
    name: AnswerName

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @classmethod
    def parse(cls, column: str) -> ScoreColumn | None:
        """From the name of a column; None if it is no column of a detector.

        >>> ScoreColumn.parse("neighbour:msp"), ScoreColumn.parse("confidence")
        (ScoreColumn(kind='neighbour', name=AnswerName(detector='msp', threshold='')), None)
        """
        kind, _, rest = column.partition(":")
        for known in _KINDS:
            if kind == known and rest:
                return cls(known, AnswerName.parse(rest))
        return None


def novelty_column(detector: str) -> str:
    """The column of a detector's novelty."""
    return str(ScoreColumn("novelty", AnswerName(detector)))


def neighbour_column(detector: str) -> str:
    """The column of the mean novelty of the neighbours."""
    return str(ScoreColumn("neighbour", AnswerName(detector)))


def rejected_column(detector: str, threshold: str) -> str:
    """The column of a threshold's decisions."""
    return str(ScoreColumn("rejected", AnswerName(detector, threshold)))


def answered_names(columns: Iterable[str]) -> list[AnswerName]:
    """What some columns answer, novelty and decisions, each once, in their order."""
    parsed = (ScoreColumn.parse(str(column)) for column in columns)
    return list(dict.fromkeys(one.name for one in parsed if one is not None and one.kind != "neighbour"))


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """Stored answers, column by column."""

    columns: Mapping[str, npt.NDArray[Any]]

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        return self.columns[column]

    @property
    def vertices(self) -> IntArray:
        """Ids of the scored vertices."""
        return self.columns[VERTEX]

    @property
    def predicted(self) -> IntArray:
        """Global ids of the predicted classes."""
        return self.columns[PREDICTED]

    @property
    def confidence(self) -> FloatArray:
        """Probability of the predicted class; NaN if answers made outside lgl-bench say nothing of it."""
        found = self.columns.get(CONFIDENCE)
        return np.full(len(self.vertices), np.nan) if found is None else found

    def rejected(self, detector: str, threshold: str) -> BoolArray | None:
        """Which vertices a threshold calls new; None if it was not asked."""
        return self.columns.get(rejected_column(detector, threshold))

    def scores(self, detector: str) -> tuple[FloatArray, FloatArray] | None:
        """Novelty of a detector that was scored, and its mean over the neighbours; None if one of them is missing."""
        own, neighbours = self.columns.get(novelty_column(detector)), self.columns.get(neighbour_column(detector))
        return None if own is None or neighbours is None else (own, neighbours)

    def mixed(self, base: str, alpha: float | None) -> FloatArray | None:
        """Novelty of a base, or of GOOD over it at an alpha; None if the base was not scored."""
        if alpha is None:
            return self.columns.get(novelty_column(base))
        found = self.scores(base)
        return None if found is None else mix(*found, alpha)

    def novelty(self, detector: str) -> FloatArray | None:
        """Novelty of a detector as it is stored, or of GOOD over one that is stored; None if there is neither."""
        own = self.columns.get(novelty_column(detector))
        if own is not None:
            return own
        base, alpha = good_parts(detector)
        return None if alpha is None else self.mixed(base, alpha)

    def without(self, names: Iterable[AnswerName]) -> AnswerColumns:
        """The columns that do not belong to some names."""
        dropped = set(names)

        def stays(column: str) -> bool:
            parsed = ScoreColumn.parse(column)
            return parsed is None or parsed.name not in dropped

        return AnswerColumns({column: values for column, values in self.columns.items() if stays(column)})

    def sorted_by_vertex(self) -> AnswerColumns:
        """The same with vertices in ascending order."""
        order = np.argsort(self.vertices, kind="stable")
        return AnswerColumns({column: values[order] for column, values in self.columns.items()})


def answer_table(
    vertices: IntArray,
    time: int,
    predicted: IntArray,
    confidence: FloatArray | None,
    novelty: Mapping[str, FloatArray],
    neighbour: Mapping[str, FloatArray],
    rejected: Mapping[tuple[str, str], BoolArray],
) -> pd.DataFrame:
    """Answers as columns to store.

    Args:
        vertices: Ids of the scored vertices.
        time: Of the task.
        predicted: Global ids of the predicted classes.
        confidence: Their probabilities; None if nobody gives them.
        novelty: By detector.
        neighbour: By detector, its mean over the neighbours.
        rejected: By detector and threshold.
    """
    columns: dict[str, npt.NDArray[Any]] = {
        VERTEX: vertices,
        TIME: np.full(len(vertices), time, dtype=np.int64),
        PREDICTED: predicted,
    }
    columns |= {} if confidence is None else {CONFIDENCE: confidence}
    columns |= {novelty_column(name): values for name, values in novelty.items()}
    columns |= {neighbour_column(name): values for name, values in neighbour.items()}
    columns |= {rejected_column(*names): values for names, values in rejected.items()}
    return pd.DataFrame(columns)


def good_parts(detector: str) -> tuple[str, float | None]:
    """Base and alpha of `good(BASE,alpha=A)`; the detector itself and None for anything else.

    >>> good_parts("good(msp,alpha=0.5)"), good_parts("msp")
    (('msp', 0.5), ('msp', None))
    """
    expression = parse(detector)
    alpha = dict(expression.parameters).get("alpha")
    if expression.name != "good" or len(expression.arguments) != 1 or not isinstance(alpha, int | float):
        return detector, None
    return str(expression.arguments[0]), float(alpha)


def parse_answers(data: bytes) -> AnswerColumns:
    """The columns of an answers file.

    Raises:
        ParquetError: It is damaged, or a column is missing, there twice, or not what it must be.
    """
    file = open_parquet(pa.BufferReader(data), len(data))
    names = [str(name) for name in file.schema_arrow.names]
    for name in (VERTEX, PREDICTED):
        if name not in names:
            raise ParquetError(f"has no column '{name}'")
    for name in names:
        wanted = _type_of(name)
        if names.count(name) > 1 or wanted is None:
            raise ParquetError(f"has a column {ascii(name[:100])} {'twice' if wanted else 'that has no place there'}")
        kind = file.schema_arrow.field(name).type
        if kind != wanted:
            raise ParquetError(f"has a column {ascii(name[:100])} of type {kind}, where {wanted} must be")
    try:
        # One file, one thread: a data set scan would cost more than the reading.
        table = file.read(use_threads=False)
    except (OSError, pa.ArrowException, OverflowError) as error:
        raise ParquetError(f"cannot be read: {error}") from error
    found = {name: table.column(name) for name in names}
    for name, column in found.items():
        if column.null_count or (column.type == pa.float64() and not np.isfinite(column.to_numpy()).all()):
            raise ParquetError(f"has a column {ascii(name[:100])} with values that are empty or not finite")
    return AnswerColumns({name: column.to_numpy() for name, column in found.items()})


def parse_classes(data: bytes) -> IntArray:
    """The classes of a file that holds nothing else.

    Raises:
        ParquetError: It is damaged, or holds something else.
    """
    file = open_parquet(pa.BufferReader(data), len(data))
    schema = file.schema_arrow
    if list(schema.names) != [PREDICTED] or schema.field(0).type != pa.int64():
        raise ParquetError(f"has other columns than whole numbers '{PREDICTED}'")
    try:
        column = file.read(use_threads=False).column(0)
    except (OSError, pa.ArrowException, OverflowError) as error:
        raise ParquetError(f"cannot be read: {error}") from error
    if column.null_count:
        raise ParquetError(f"has a column '{PREDICTED}' with values that are empty")
    found: IntArray = column.to_numpy()
    return found


def _type_of(name: str) -> Any:
    """The type of a column; None for one that has no place in answers."""
    if name in WHOLE:
        return pa.int64()
    if name == CONFIDENCE:
        return pa.float64()
    column = ScoreColumn.parse(name)
    if column is None:
        return None
    return pa.bool_() if column.kind == "rejected" else pa.float64()
