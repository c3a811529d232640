"""Expressions made complete, and made into plugins; see `grammar` for how they are written."""

from __future__ import annotations

import difflib
import inspect
import math
import typing
from collections.abc import Callable
from typing import Any

from lgl_bench.core.errors import LglBenchError, PluginError, UsageError, quoted
from lgl_bench.core.grammar import LONGEST, SHOWN, Constant, Expression, constant_text, parse
from lgl_bench.core.registry import Registry

__all__ = ["Constant", "Expression", "build", "complete", "fills", "parse", "signature"]

_LARGEST = 2**63 - 1  # what numpy and torch hold as an integer


def complete(
    expression: Expression,
    registry: Registry[Any],
    preset: Callable[[str], dict[str, Constant]] = lambda name: {},
) -> Expression:
    """The canonical expression: every value given, from a preset if the plugin has one, else its default.

    Raises:
        UsageError: A name, a value or the number of wrapped plugins is wrong.
    """
    plugin = registry.get(expression.name)
    wrapped, accepted = signature(plugin)
    if len(expression.arguments) != len(wrapped):
        what = f"wraps {len(wrapped)}: {', '.join(wrapped)}" if wrapped else "wraps none"
        raise UsageError(
            f"{registry.kind} '{expression.name}' {what}; {len(expression.arguments)} given in '{expression}'"
        )
    given = dict(expression.parameters)
    for name in given:
        if name not in accepted:
            guess = difflib.get_close_matches(name, accepted, n=1)
            hint = f"; did you mean '{guess[0]}'?" if guess else "."
            takes = ", ".join(sorted(accepted)) or "none"
            raise UsageError(f"{registry.kind} '{expression.name}' has no parameter '{name}'{hint} It takes: {takes}")
    values: dict[str, Constant] = {}
    for name, (kind, default) in accepted.items():
        value = given.get(name, preset(expression.name).get(name, default))
        if value is inspect.Parameter.empty:
            raise UsageError(f"{registry.kind} '{expression.name}' needs a value for '{name}'")
        values[name] = _cast(value, kind, f"{registry.kind} '{expression.name}', {name}")
    arguments = tuple(complete(argument, registry, preset) for argument in expression.arguments)
    whole = Expression(expression.name, arguments, tuple(sorted(values.items())))
    if len(str(whole)) > LONGEST:
        raise UsageError(
            f"{quoted(whole, SHOWN)}: with all its values written out an expression has at most {LONGEST} characters"
        )
    return whole


def build(expression: Expression, registry: Registry[Any]) -> Any:
    """The plugin an expression names, with everything it wraps.

    Raises:
        UsageError: A name or value is wrong, or the plugin does not take the values.
    """
    return _built(complete(expression, registry), registry)


def _built(whole: Expression, registry: Registry[Any]) -> Any:
    arguments = [_built(argument, registry) for argument in whole.arguments]
    plugin = registry.get(whole.name)
    try:
        return plugin(*arguments, **dict(whole.parameters))
    except LglBenchError:
        raise
    except Exception as error:  # whatever a plugin of somebody's own raises, a value out of its range comes first
        reason = f"{type(error).__name__}: {error}"
        raise PluginError(f"{registry.kind} {quoted(whole, SHOWN)} cannot be made: {reason[:LONGEST]}") from error


def fills(whole: Expression, asked: Expression) -> bool:
    """Whether an expression can be another one with its defaults filled in; what they wrap is not looked at."""
    given = dict(whole.parameters)
    return whole.name == asked.name and all(given.get(key) == value for key, value in asked.parameters)


def signature(plugin: Any) -> tuple[list[str], dict[str, tuple[Any, Any]]]:
    """Names of wrapped plugins (parameters called `base`), and named values with type and default."""
    try:
        hints = typing.get_type_hints(plugin.__init__) if plugin.__init__ is not object.__init__ else {}
    except (NameError, TypeError) as error:
        raise PluginError(f"the types that {plugin.__qualname__} declares cannot be resolved: {error}") from error
    wrapped, accepted = [], {}
    for name, parameter in inspect.signature(plugin).parameters.items():
        if name == "base":
            wrapped.append(name)
        else:
            accepted[name] = (hints.get(name, Any), parameter.default)
    return wrapped, accepted


def _cast(value: Constant, kind: Any, what: str) -> Constant:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{what} = {value}: it must be finite")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is float and number:
        return float(value)
    if kind in (int, Any) and whole and number and not -_LARGEST <= float(value) <= _LARGEST:
        raise UsageError(f"{what} = {constant_text(value)}: an integer lies between -2**63 and 2**63")
    if kind is int and whole and number:
        return int(value)
    if kind is str and isinstance(value, str):
        return value
    if typing.get_origin(kind) is typing.Literal and value in typing.get_args(kind):
        return value
    if kind is Any:
        return value
    options = typing.get_args(kind)
    wanted = " or ".join(map(str, options)) if options else getattr(kind, "__name__", str(kind))
    raise UsageError(f"{what} = {constant_text(value)}: expected {wanted}")
