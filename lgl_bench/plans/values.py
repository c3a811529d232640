"""Values of detectors and thresholds that are out of range are refused before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.core.expressions import Expression, build, parse
from lgl_bench.core.registry import Registry
from lgl_bench.detectors import detectors
from lgl_bench.plans.methods import MethodRow
from lgl_bench.thresholds import thresholds


def check_values(rows: Iterable[MethodRow], decisions: Iterable[str]) -> None:
    """Makes every built-in detector and threshold of a plan once, and lets go of it.

    What a plugin of somebody's own thinks of its values is found out where it runs, in a process of its own.

    Args:
        rows: Of the plan; if something is chosen, all that it is chosen among.
        decisions: Thresholds, as expressions.

    Raises:
        UsageError: A value is out of range.
    """
    scored = {candidate.base for row in rows for candidate in row.candidates}
    mixed = {row.concrete for row in rows if isinstance(row.alpha, float)}
    for registry, texts in ((detectors, scored | mixed), (thresholds, set(decisions))):
        for text in sorted(texts):
            _check(parse(text), registry)


def _check(expression: Expression, registry: Registry[Any]) -> None:
    if all(registry.is_built_in(name) for name in _names(expression)):
        try:
            build(expression, registry)
        except UsageError as error:
            raise UsageError(f"{registry.kind} '{expression}': {error}") from error


def _names(expression: Expression) -> list[str]:
    return [expression.name, *(name for part in expression.arguments for name in _names(part))]
