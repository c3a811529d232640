"""Plugins combined by name: `good(odin(eps=0.05, temperature=1000), alpha=0.6)`.

    expression := name [ "(" [ argument { "," argument } ] ")" ]
    argument   := name "=" value | expression
    value      := number | word | "true" | "false"
    name       := letter { letter | digit | "-" | "_" } [ "+" ]

Expressions that come before named values are the plugins a meta-plugin wraps. The canonical text fills in
defaults, sorts the named values, and is in lower case without spaces.

A text, canonical or not, has at most 300 characters, because it becomes a key and the name of a column; plugins nest
at most 8 deep, and a number has at most 40 characters.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from lgl_bench.core.errors import UsageError, quoted

Constant: TypeAlias = float | int | bool | str

LONGEST = 300
DEEPEST = 8
LONGEST_NAME = 60
LONGEST_NUMBER = 40
SHOWN = 120
"""Characters of an expression that a message repeats."""

_TOKEN = re.compile(
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_-]*\+?)|(?P<sign>[(),=])",
    re.ASCII,
)
_SPACE = re.compile(r"\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """A plugin's name, the plugins it wraps, and its named values."""

    name: str
    arguments: tuple[Expression, ...] = ()
    parameters: tuple[tuple[str, Constant], ...] = ()

    def __str__(self) -> str:
        named = [f"{key}={constant_text(value)}" for key, value in sorted(self.parameters)]
        inside = ",".join([*map(str, self.arguments), *named])
        return f"{self.name}({inside})" if inside else self.name


def parse(text: str) -> Expression:
    """An expression from its text.

    >>> str(parse("GOOD( react(energy, percentile=80), alpha=.5)"))
    'good(react(energy,percentile=80),alpha=0.5)'

    Raises:
        UsageError: It is no expression, or longer or deeper than one may be.
    """
    if len(text) > LONGEST:
        raise UsageError(f"{quoted(text, SHOWN)}: an expression has at most {LONGEST} characters")
    return _Parser(text).whole()


def plugin_name(text: str) -> str:
    """The name an expression begins with, of a plugin or a stream; any text has one.

    >>> plugin_name("good(random,alpha=0.5)"), plugin_name("dblp-easy-twin(seed=3)"), plugin_name("msp")
    ('good', 'dblp-easy-twin', 'msp')
    """
    return text.partition("(")[0].strip()


@cache
def without_values(text: str) -> str:
    """An expression without its values: the names of the plugins; any other text as it is.

    >>> without_values("good(odin(eps=0.05,temperature=1000.0),alpha=0.6)"), without_values("=cmd()+1")
    ('good(odin)', '=cmd()+1')
    """
    try:
        return str(_bare(parse(text)))
    except UsageError:
        return text


def _bare(expression: Expression) -> Expression:
    return Expression(expression.name, tuple(_bare(part) for part in expression.arguments))


def is_name(text: str) -> bool:
    """Whether an expression can name a plugin so: `open-wrf`, `isomax+`.

    >>> [is_name(text) for text in ("isomax+", "Mine", "two words", "5")]
    [True, False, False, False]
    """
    match = _TOKEN.fullmatch(text)
    return match is not None and match.lastgroup == "name" and text == text.lower() and len(text) <= LONGEST_NAME


def constant_text(value: Constant) -> str:
    """A named value as an expression writes it."""
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
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
            self._enter()
            while self.token != ")":
                self._argument(arguments, parameters)
                if self.token == ",":
                    self._take()
                    if self.token == ")":
                        raise self._error("an argument")
                elif self.token != ")":
                    raise self._error("',' or ')'")
            self._take()
            self.depth -= 1
        return Expression(name, tuple(arguments), tuple(sorted(parameters.items())))

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UsageError(f"{self._where(self.start)}: plugins nest at most {DEEPEST} deep")
        self._take()

    def _argument(self, arguments: list[Expression], parameters: dict[str, Constant]) -> None:
        here = self.start
        bare = self.kind == "name" and not self.text.startswith("(", self._after_space())
        found = self._expression()
        if self.token != "=" or not bare:
            if parameters:
                raise UsageError(f"{self._where(here)}: '{found}' stands after a named value; put it first")
            arguments.append(found)
            return
        self._take()
        if found.name in parameters:
            raise UsageError(f"{self._where(here)}: '{found.name}' is given twice")
        parameters[found.name] = self._value()

    def _value(self) -> Constant:
        if self.kind == "number":
            return self._number()
        if self.kind == "name":
            word = self._take().lower()
            return {"true": True, "false": False}.get(word, word)
        raise self._error("a number or a word")

    def _number(self) -> float | int:
        here, token = self._where(self.start), self._take()
        if len(token) > LONGEST_NUMBER:
            raise UsageError(f"{here}: a number has at most {LONGEST_NUMBER} characters, found {len(token)}")
        value = float(token) if set(token) & set(".eE") else int(token)
        if not math.isfinite(value):
            raise UsageError(f"{here}: {token} is larger than any number that can be held")
        return value

    def _take(self) -> str:
        token = self.token
        self._next()
        return token

    def _next(self) -> None:
        self.start = self._after_space()
        if self.start == len(self.text):
            self.kind, self.token = "end", ""
            return
        match = _TOKEN.match(self.text, self.start)
        if match is None:
            raise UsageError(
                f"{self._where(self.start)}: {quoted(self.text[self.start])} has no place in an expression "
                "such as good(odin, alpha=0.6)"
            )
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.at = match.end()

    def _after_space(self) -> int:
        match = _SPACE.match(self.text, self.at)
        return match.end() if match else self.at

    def _where(self, position: int) -> str:
        return f"{quoted(self.text, SHOWN)}, position {position + 1}"

    def _error(self, expected: str) -> UsageError:
        found = quoted(self.token) if self.token else "nothing more"
        return UsageError(f"{self._where(self.start)}: expected {expected}, found {found}")
