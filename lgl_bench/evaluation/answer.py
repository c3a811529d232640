"""An answer to a task, checked before it is kept: shapes, numbers, classes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import UsageError
from lgl_bench.core.types import BoolArray, FloatArray, IntArray, Task

_LISTED = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method says of the scored vertices of a task.

    Attributes:
        predicted: Global id of a known class, per scored vertex.
        novelty: By detector, in [0, 1]: as it was given, or its ranks within the task.
        neighbour: By detector, its mean over the neighbours, if novelty of all vertices is known.
        rejected: Who is called new; None if the method does not say.
        confidence: Probability of the predicted class; None if the method does not say.
        bounded: Whether novelty was given in [0, 1].
        failed: By detector, why there is no novelty.
    """

    predicted: IntArray
    novelty: dict[str, FloatArray]
    neighbour: dict[str, FloatArray] = field(default_factory=dict)
    rejected: BoolArray | None = None
    confidence: FloatArray | None = None
    bounded: bool = True
    failed: dict[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """A hash of all of it."""
        found = hashlib.sha256(np.ascontiguousarray(self.predicted).tobytes())
        parts = {f"n {name}": values for name, values in self.novelty.items()}
        parts |= {f"m {name}": values for name, values in self.neighbour.items()}
        parts |= {name: values for name in ("rejected", "confidence") if (values := getattr(self, name)) is not None}
        for name in sorted(parts):
            found.update(name.encode() + np.ascontiguousarray(parts[name]).tobytes())
        found.update(repr(sorted(self.failed)).encode())
        return found.hexdigest()


def checked_answer(
    task: Task, method: str, predicted: Any, novelty: Any, rejected: Any = None, confidence: Any = None
) -> Answer:
    """An answer as it is kept.

    Args:
        task: The task that is answered.
        method: Name of the method.
        predicted: Global id of a known class for each of `task.scored`.
        novelty: Finite, higher is more novel, on any scale.
        rejected: Whether each of them is called new.
        confidence: Probability of the predicted class.

    Raises:
        UsageError: Something has another shape, is not finite, or names a class that is not known.
    """
    scores = _numbers("novelty", novelty, task).astype(np.float64)
    bounded = bool(((scores >= 0) & (scores <= 1)).all())
    return Answer(
        checked_classes(task, predicted),
        {method: scores if bounded else ranks(scores)},
        rejected=None if rejected is None else _decisions(rejected, task),
        confidence=None if confidence is None else _shares("confidence", confidence, task),
        bounded=bounded,
    )


def checked_classes(task: Task, predicted: Any) -> IntArray:
    """Predicted classes, each of them known."""
    given = _shaped("predicted", predicted, task)
    if given.dtype.kind not in "iu" and not (given.dtype.kind == "f" and (given == np.floor(given)).all()):
        raise UsageError(f"predicted is of type {given.dtype}; give whole numbers, the ids of known classes")
    classes: IntArray = given.astype(np.int64)
    wrong = np.flatnonzero(~np.isin(classes, task.known))
    if len(wrong):
        known = ", ".join(map(str, task.known.tolist()[:_LISTED])) + (", ..." if len(task.known) > _LISTED else "")
        raise UsageError(
            f"predicted[{wrong[0]}] = {classes[wrong[0]]} is no class that is known in the task of "
            f"{task.fold or task.time}; known are {known}. Column j of a model's outputs is the class task.known[j]"
        )
    return classes


def ranks(scores: FloatArray) -> FloatArray:
    """Scores on any scale in [0, 1], in the same order, equal ones equal: their mean rank over their number.

    Metrics look at the order of novelty within a task and at nothing else.

    >>> ranks(np.array([-3.0, 8.0, 8.0, 100.0])).tolist()
    [0.125, 0.5, 0.5, 0.875]
    """
    if not len(scores):
        return scores
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    found: FloatArray = middle[place] / len(scores)
    return found


def array_of(values: Any) -> npt.NDArray[Any]:
    """A list, an array, a Series or a tensor of any device as an array of its own."""
    detach = getattr(values, "detach", None)
    return np.array(detach().cpu().numpy() if callable(detach) else values)


def _shaped(name: str, values: Any, task: Task) -> npt.NDArray[Any]:
    array = array_of(values)
    wanted = (len(task.scored),)
    if array.shape != wanted:
        whole = array.shape[:1] == (task.test.num_vertices,)
        hint = f": it seems to be of all vertices of task.test, take {name}[task.scored]" if whole else ""
        raise UsageError(f"{name} has the shape {array.shape}; one value for each of task.scored is {wanted}{hint}")
    return array


def _numbers(name: str, values: Any, task: Task) -> npt.NDArray[Any]:
    array = _shaped(name, values, task)
    if array.dtype.kind not in "fiub":
        raise UsageError(f"{name} is of type {array.dtype}; give numbers")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise UsageError(
            f"{name}[{wrong[0]}] = {array[wrong[0]]}: {len(wrong)} of {len(array)} values are not finite; give every "
            "scored vertex a number"
        )
    return array


def _shares(name: str, values: Any, task: Task) -> FloatArray:
    array = _numbers(name, values, task).astype(np.float64)
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        raise UsageError(f"{name}[{wrong[0]}] = {array[wrong[0]]}: a probability lies in [0, 1]")
    return array


def _decisions(values: Any, task: Task) -> BoolArray:
    array = _shaped("rejected", values, task)
    if array.dtype != np.bool_ and not (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
        raise UsageError(f"rejected is of type {array.dtype}; give True for who is called new and False for others")
    return array.astype(np.bool_)
