"""Plugins combined by name: `good(odin(eps=0.05, temperature=1000), alpha=0.6)`.

    expression := name [ "(" [ argument { "," argument } ] ")" ]
    argument   := name "=" value | expression
    value      := number | word | "true" | "false"
    name       := letter { letter | digit | "-" | "_" } [ "+" ]

Expressions that come before named values are the plugins a meta-plugin wraps. The canonical text fills in
defaults, sorts the named values, and is in lower case without spaces.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from lgl_bench.core.errors import UsageError
from lgl_bench.core.registry import Registry

Constant: TypeAlias = float | int | bool | str

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_-]*\+?)|(?P<sign>[(),=]))"
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A plugin's name, the plugins it wraps, and its named values."""

    name: str
    arguments: tuple[Expression, ...] = ()
    parameters: tuple[tuple[str, Constant], ...] = ()

    def __str__(self) -> str:
        named = [f"{key}={_text(value)}" for key, value in sorted(self.parameters)]
        inside = ",".join([*map(str, self.arguments), *named])
        return f"{self.name}({inside})" if inside else self.name


def parse(text: str) -> Expression:
    """An expression from its text.

    >>> str(parse("GOOD( react(energy, percentile=80), alpha=.5)"))
    'good(react(energy,percentile=80),alpha=0.5)'
    """
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.kind, self.token = "", ""
        self.start = 0
        self._next()

    def whole(self) -> Expression:
        found = self._expression()
        if self.kind != "end":
            raise self._error("the end")
        return found

    def _expression(self) -> Expression:
        if self.kind != "name":
            raise self._error("a name")
        name = self._take().lower()
        arguments: list[Expression] = []
        parameters: dict[str, Constant] = {}
        if self.token == "(":
            self._take()
            while self.token != ")":
                self._argument(arguments, parameters)
                if self.token == ",":
                    self._take()
                    if self.token == ")":
                        raise self._error("an argument")
                elif self.token != ")":
                    raise self._error("',' or ')'")
            self._take()
        return Expression(name, tuple(arguments), tuple(sorted(parameters.items())))

    def _argument(self, arguments: list[Expression], parameters: dict[str, Constant]) -> None:
        here = self.start
        bare = self.kind == "name" and not self.text[self.at :].lstrip().startswith("(")
        found = self._expression()
        if self.token != "=" or not bare:
            if parameters:
                raise UsageError(
                    f"'{self.text}', position {here + 1}: '{found}' stands after a named value; put it first"
                )
            arguments.append(found)
            return
        self._take()
        if found.name in parameters:
            raise UsageError(f"'{self.text}', position {here + 1}: '{found.name}' is given twice")
        parameters[found.name] = self._value()

    def _value(self) -> Constant:
        if self.kind == "number":
            token = self._take()
            return int(token) if re.fullmatch(r"[-+]?\d+", token) else float(token)
        if self.kind == "name":
            word = self._take().lower()
            return {"true": True, "false": False}.get(word, word)
        raise self._error("a number or a word")

    def _take(self) -> str:
        token = self.token
        self._next()
        return token

    def _next(self) -> None:
        rest = self.text[self.at :]
        self.start = self.at + len(rest) - len(rest.lstrip())
        if not rest.strip():
            self.kind, self.token = "end", ""
            return
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise UsageError(
                f"'{self.text}', position {self.start + 1}: '{self.text[self.start]}' has no place in an expression "
                "such as good(odin, alpha=0.6)"
            )
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.at = match.end()

    def _error(self, expected: str) -> UsageError:
        found = f"'{self.token}'" if self.token else "nothing more"
        return UsageError(f"'{self.text}', position {self.start + 1}: expected {expected}, found {found}")


def complete(
    expression: Expression,
    registry: Registry[Any],
    preset: Callable[[str], dict[str, Constant]] = lambda name: {},
) -> Expression:
    """The canonical expression: every value given, from a preset where the plugin has one, else its default.

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
    return Expression(expression.name, arguments, tuple(sorted(values.items())))


def build(expression: Expression, registry: Registry[Any]) -> Any:
    """The plugin an expression names, with everything it wraps."""
    whole = complete(expression, registry)
    arguments = [build(argument, registry) for argument in whole.arguments]
    return registry.get(whole.name)(*arguments, **dict(whole.parameters))


def signature(plugin: Any) -> tuple[list[str], dict[str, tuple[Any, Any]]]:
    """Names of wrapped plugins (parameters called `base`), and named values with type and default."""
    hints = typing.get_type_hints(plugin.__init__) if plugin.__init__ is not object.__init__ else {}
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
    whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind is int and whole and not isinstance(value, bool):
        return int(value)
    if kind is str and isinstance(value, str):
        return value
    if typing.get_origin(kind) is typing.Literal and value in typing.get_args(kind):
        return value
    if kind is Any:
        return value
    wanted = " or ".join(map(str, typing.get_args(kind))) if typing.get_args(kind) else kind.__name__
    raise UsageError(f"{what} = {_text(value)}: expected {wanted}")


def _text(value: Constant) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)
