"""Digests of the code behind answers: those that other code made are made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache

from lgl_bench.core.expressions import Expression, parse
from lgl_bench.core.fingerprint import closure, digest, package_files
from lgl_bench.detectors import detectors
from lgl_bench.plans.fits import RUN_CODE, plugin_digest
from lgl_bench.runs.answer_columns import AnswerName, answered_names
from lgl_bench.thresholds import thresholds

ANSWER_CODE = ("detectors.good", "detectors.mapping")
"""Modules that every answer depends on, whichever detector it is of, with all that they import."""


def answer_digest(expression: Expression) -> str:
    """Digest of the code of every detector in an expression: answers of other code are made again."""
    names = [expression.name]
    waiting = list(expression.arguments)
    while waiting:
        part = waiting.pop()
        names.append(part.name)
        waiting += part.arguments
    return _combined(_answer_code(), *(plugin_digest(detectors, name) for name in names))


def decision_digest(detector: Expression, threshold: Expression) -> str:
    """Digest of the code of a detector and of the threshold that decides on it."""
    return _combined(answer_digest(detector), plugin_digest(thresholds, threshold.name))


def named_digest(name: str) -> str:
    """The same for an answer by its name in fit.json."""
    detector, threshold = _parsed(name)
    return answer_digest(detector) if threshold is None else decision_digest(detector, threshold)


def column_digests(columns: Iterable[str]) -> dict[str, str]:
    """Digests of the code behind the columns of answers, by what fit.json calls them."""
    return {str(name): named_digest(str(name)) for name in answered_names(columns)}


@cache
def _parsed(name: str) -> tuple[Expression, Expression | None]:
    detector, threshold = AnswerName.parse(name)
    return parse(detector), parse(threshold) if threshold else None


@cache
def _answer_code() -> str:
    return digest([*closure(package_files(*ANSWER_CODE)), *package_files(*RUN_CODE)])


def _combined(*digests: str) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
