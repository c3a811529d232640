"""The records that cross layers. Arrays inside are read-only, and flagged so: who writes into one gets an error.

What a method gets to answer is a `Graph`, which has no labels by type; the `Truth` of a task goes to
metrics and to nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError
from lgl_bench.core.graph_libraries import Convertible

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def read_only(array: AnyArray) -> AnyArray:
    """The same memory, flagged as not writable. The array of whoever made it stays as it is."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def flag_arrays(record: Any) -> None:
    """Flags every array of a frozen record that is being made."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(record, field.name, read_only(value))


@dataclass(frozen=True, slots=True)
class Sparse:
    """Rows of sparse features (CSR): row i is `indices[indptr[i]:indptr[i + 1]]` with its `values`.

    Column indices ascend within a row and no stored value is zero.
    """

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    columns: int

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.columns

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    def rows(self, start: int, stop: int) -> Sparse:
        """Rows `start` to `stop`; a prefix (`start` = 0) copies nothing."""
        indptr = self.indptr[start : stop + 1]
        first, last = int(indptr[0]), int(indptr[-1])
        return Sparse(
            indptr if first == 0 else indptr - first,
            self.indices[first:last],
            self.values[first:last],
            self.columns,
        )

    def dense(self) -> npt.NDArray[np.float32]:
        """The same rows as a dense array."""
        out = np.zeros(self.shape, dtype=np.float32)
        out[np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices] = self.values
        return out


Features: TypeAlias = npt.NDArray[np.float32] | Sparse


def feature_rows(features: Features, start: int, stop: int) -> Features:
    """Rows `start` to `stop` of dense or sparse features."""
    return features.rows(start, stop) if isinstance(features, Sparse) else features[start:stop]


@dataclass(frozen=True, slots=True)
class Graph(Convertible):
    """Features and edges, no labels.

    Attributes:
        features: One row per vertex, dense or sparse.
        edges: (2, m): every undirected edge as its two arcs, one after the other; no self-loops.
        num_vertices: n; vertices are 0..n-1.
        born: The year each vertex appeared, which is no label.
    """

    features: Features
    edges: IntArray
    num_vertices: int
    born: IntArray

    def __post_init__(self) -> None:
        flag_arrays(self)

    def _exported(self) -> tuple[Graph, dict[str, npt.NDArray[Any]]]:
        return self, {"time": self.born}


@dataclass(frozen=True, slots=True)
class ScoredGraph(Graph):
    """A graph as only a transductive detector gets it: it is known which vertices are scored together.

    Attributes:
        scored: These vertices.
        trained: The vertices the model was trained on; None if the protocol does not say where they are.
    """

    scored: IntArray
    trained: IntArray | None


@dataclass(frozen=True, slots=True)
class Snapshot(Convertible):
    """A graph up to a year with what may be learned from it.

    Attributes:
        time: The last year inside.
        graph: Features and edges up to that year.
        labels: Global class ids; -1 if a vertex has none.
        first: Position in the stream of vertex 0 (0 unless old years were cut off).
    """

    time: int
    graph: Graph
    labels: IntArray
    first: int = 0

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def born(self) -> IntArray:
        """The year each vertex appeared."""
        return self.graph.born

    def _exported(self) -> tuple[Graph, dict[str, npt.NDArray[Any]]]:
        return self.graph, {"time": self.born, "label": self.labels}


Role: TypeAlias = Literal["validation", "test"]


@dataclass(frozen=True, slots=True)
class Task:
    """What a method is given: learn from `train` where `fit_mask` holds, answer `scored` of `test`.

    Attributes:
        time: The year the scored vertices belong to.
        role: Validation tasks are for choosing and stay out of headline figures.
        fold: What distinguishes tasks of one time: the class left out, "" if there is none.
        train: What may be learned from; labels that are not to be seen are -1.
        fit_mask: Vertices of `train` the loss is taken on; each has a label. Nothing else is learned from labels.
        calibration: Vertices of `train` held out from the loss, for thresholds and score mappings. None if
            calibration comes from the answers of the task before.
        test: The graph to answer on.
        scored: Vertices of `test` to answer for.
        known: Global ids of the classes known by then, in the order of the model's outputs.
        trained: Vertices of `test` that the loss is taken on, in the order of `fit_mask`: what transductive detectors
            may know of training. None if the protocol does not say.
    """

    time: int
    role: Role
    fold: str
    train: Snapshot
    fit_mask: BoolArray
    calibration: IntArray | None
    test: Graph
    scored: IntArray
    known: IntArray
    trained: IntArray | None = None

    def __post_init__(self) -> None:
        flag_arrays(self)

    @property
    def skip_reason(self) -> str:
        """Why the task cannot be answered; empty if it can."""
        if len(self.known) < 2:
            return f"{len(self.known)} known classes; a classifier needs at least two"
        if not self.fit_mask.any():
            return "no labelled training vertex"
        return "" if len(self.scored) else "no labelled vertex to score"


@dataclass(frozen=True, slots=True)
class Truth:
    """What metrics and the store may know of the scored vertices: labels, and positions in the stream."""

    labels: IntArray
    vertices: IntArray

    def __post_init__(self) -> None:
        flag_arrays(self)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a model says of n vertices: logits (n, known classes) and embeddings (n, d), as tensors."""

    logits: Any
    embeddings: Any


@dataclass(frozen=True, slots=True)
class Scores:
    """What thresholds see of one graph.

    Attributes:
        novelty: Of every vertex, in [0, 1], higher is more novel.
        probabilities: (n, known classes).
        graph: Features and edges.
        scored: The vertices to learn from or to decide on.
        labels: Class of each vertex as a column of `probabilities`, -1 if it must not be known. Only
            scores of training vertices have it.
    """

    novelty: FloatArray
    probabilities: FloatArray
    graph: Graph
    scored: IntArray
    labels: IntArray | None = None

    def __post_init__(self) -> None:
        flag_arrays(self)


@dataclass(frozen=True, slots=True)
class Value:
    """What a metric returns: a number, or None with the reason why there is none."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TrainingParameters:
    """How a model is fitted.

    Attributes:
        epochs: Walks over the training vertices.
        lr: Learning rate of Adam.
        steps: Most steps of the optimiser, in the middle of an epoch too; None for no limit.
        warm_steps: The same for a model that goes on from weights of an earlier year.
    """

    epochs: int = 200
    lr: float = 0.01
    steps: int | None = None
    warm_steps: int | None = None

    def __post_init__(self) -> None:
        if self.epochs < 1 or not 0 < self.lr <= 1e30:
            raise UsageError(f"epochs = {self.epochs}, lr = {self.lr}: both must be positive and finite")
        for name, steps in (("steps", self.steps), ("warm_steps", self.warm_steps)):
            if steps is not None and steps < 1:
                raise UsageError(f"{name} = {steps}: it must be at least 1")

    def continued(self) -> TrainingParameters:
        """Those of a fit that goes on from weights of an earlier year."""
        return replace(self, steps=self.warm_steps)
