"""A reply as bytes from a process that nobody trusts: a JSON head of bounded size, then plain arrays of known sizes.

Nothing in it can run code or claim memory: sizes follow from the request, and every value is checked.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lgl_bench.core.errors import PluginError, printable
from lgl_bench.runs.isolation.requests import Reply, Request
from lgl_bench.runs.scoring import PartAnswers
from lgl_bench.training.trainer import Fit

MAX_HEADER = 2**20
"""Bytes of the JSON head."""
_LENGTH = struct.Struct(">Q")


def encode_reply(request: Request, reply: Reply) -> Iterator[bytes]:
    """The reply in pieces."""
    fit, answers = reply.fit, reply.answers
    head: dict[str, Any] = {
        "fit": None if fit is None else [fit.status, fit.reason, fit.epochs, fit.loss, fit.seconds],
        "peak_memory_mb": reply.peak_memory_mb,
        "weights": len(reply.weights or b""),
        "memory": len(reply.memory or b""),
        "failed": {} if answers is None else answers.failed,
    }
    yield from _with_length(head)
    yield reply.weights or b""
    yield reply.memory or b""
    arrays: dict[str, Any] = {"columns": reply.columns, "confidence": reply.confidence}
    if answers is not None:
        arrays = {"novelty": answers.novelty, **answers.rejected}
    for name, dtype, size in _layout(request, head):
        array = np.ascontiguousarray(arrays[name], dtype=dtype)
        assert array.shape == (size,)
        yield array.tobytes()


def encode_failure(reason: str) -> Iterator[bytes]:
    """The reason why there is no reply."""
    yield from _with_length({"error": reason})


class Inbox:
    """A reply as it arrives.

    Args:
        request: What was asked.
        most_weights: Bytes that new weights may have.
    """

    def __init__(self, request: Request, most_weights: int) -> None:
        self.request, self.most_weights = request, most_weights
        self._data = bytearray()
        self._head: dict[str, Any] | None = None
        self._start = 0
        self._size = _LENGTH.size

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return self._head is not None and len(self._data) >= self._size

    def feed(self, data: bytes) -> None:
        """Takes what arrived; what is more than a reply is left out."""
        self._data += data
        if self._start == 0 and len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack(self._data[: _LENGTH.size])
            if length > MAX_HEADER:
                raise _unusable("its head is too long")
            self._start = self._size = _LENGTH.size + length
        if self._start and self._head is None and len(self._data) >= self._start:
            self._head = _parsed(bytes(self._data[_LENGTH.size : self._start]))
            self._size = self._start + self._body()
        if self._head is not None:
            del self._data[self._size :]

    def reply(self) -> Reply:
        """What was answered.

        Raises:
            PluginError: The plugin failed, or its process sent what is no reply.
        """
        head = self._head
        assert head is not None and self.complete
        if "error" in head:
            raise PluginError(printable(head["error"]) or "it failed and gave no reason")
        end = self._start + head["weights"]
        at = end + head["memory"]
        arrays = {}
        for name, dtype, size in _layout(self.request, head):
            arrays[name] = np.frombuffer(self._data, dtype=dtype, count=size, offset=at)
            at += arrays[name].nbytes
        weights = bytes(self._data[self._start : end]) or None
        memory = bytes(self._data[end : end + head["memory"]]) or None
        return replace(_checked(self.request, head, weights, arrays), memory=memory)

    def _body(self) -> int:
        head = self._head
        assert head is not None
        if "error" in head:
            return 0
        _check_head(self.request, head, self.most_weights)
        parts = int(head["weights"]) + int(head["memory"])
        return parts + sum(np.dtype(dtype).itemsize * n for _, dtype, n in _layout(self.request, head))


def _with_length(head: dict[str, Any]) -> Iterator[bytes]:
    text = json.dumps(head).encode()
    yield _LENGTH.pack(len(text))
    yield text


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict):
        raise _unusable("its head is no JSON object")
    return head


def _layout(request: Request, head: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Name, type and size of every array, in order."""
    n = request.task.test.num_vertices
    if request.part is None:
        if head["fit"] is None or head["fit"][0] == "ok":
            yield from (("columns", "<i8", n), ("confidence", "<f8", n))
        return
    yield "novelty", "<f8", n
    for threshold in request.part.thresholds:
        if str(threshold) not in head["failed"]:
            yield str(threshold), "u1", len(request.task.scored)


def _check_head(request: Request, head: dict[str, Any], most_weights: int) -> None:
    fit, weights, failed = head.get("fit"), head.get("weights"), head.get("failed")
    if not isinstance(failed, dict) or not _is_number(head.get("peak_memory_mb")):
        raise _unusable("its head is not complete")
    if (fit is None) != (request.weights is not None) or (fit is not None and not _is_fit(fit)):
        raise _unusable("it does not say what became of the fit")
    expected = fit is not None and fit[0] == "ok"
    if not isinstance(weights, int) or isinstance(weights, bool) or not 0 <= weights <= most_weights:
        raise _unusable("its weights have an impossible size")
    if bool(weights) != expected:
        raise _unusable("weights are missing, or there are some that were not asked for")
    memory = head.get("memory")
    if not isinstance(memory, int) or isinstance(memory, bool) or not 0 <= memory <= most_weights - weights:
        raise _unusable("what its strategy keeps has an impossible size")
    if memory and not expected:
        raise _unusable("it keeps something of a fit that was not made")


def _is_fit(fit: Any) -> bool:
    if not isinstance(fit, list) or len(fit) != 5:
        return False
    status, reason, epochs, loss, seconds = fit
    return (
        status in ("ok", "diverged")
        and isinstance(reason, str)
        and isinstance(epochs, int)
        and isinstance(loss, int | float)
        and _is_number(seconds)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _checked(
    request: Request, head: dict[str, Any], weights: bytes | None, arrays: dict[str, npt.NDArray[Any]]
) -> Reply:
    for name in ("novelty", "confidence"):
        array = arrays.get(name)
        if array is not None and not ((array >= 0) & (array <= 1)).all():
            raise _unusable(f"not every {name} lies in [0, 1]")
    columns = arrays.get("columns")
    if columns is not None and not ((columns >= 0) & (columns < len(request.task.known))).all():
        raise _unusable("it predicts a class that is not known")
    answers = None
    if request.part is not None:
        rejected = {str(one): arrays[str(one)] for one in request.part.thresholds if str(one) in arrays}
        if any(array.max(initial=0) > 1 for array in rejected.values()):
            raise _unusable("a decision is neither true nor false")
        reasons = {str(one): head["failed"].get(str(one)) for one in request.part.thresholds}
        failed = {name: printable(reason) for name, reason in reasons.items() if reason is not None}
        decided = {name: array.astype(np.bool_) for name, array in rejected.items()}
        answers = PartAnswers(arrays["novelty"].astype(np.float64), decided, failed)
    return Reply(
        _fit(head["fit"]),
        weights,
        float(head["peak_memory_mb"]),
        None if columns is None else columns.astype(np.int64),
        arrays.get("confidence"),
        answers,
    )


def _fit(fields: list[Any] | None) -> Fit | None:
    if fields is None:
        return None
    status: Literal["ok", "diverged"] = "ok" if fields[0] == "ok" else "diverged"
    return Fit(status, printable(fields[1]), fields[2], float(fields[3]), float(fields[4]))


def _unusable(problem: str) -> PluginError:
    return PluginError(f"its process sent an answer that cannot be used: {problem}")
