"""The errors a user can meet. Each carries the exit code of the command that raised it.

A message says what, got what, and what to do. The command line prints it as one paragraph.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_LONGEST_GUESSED = 100  # comparing a name with all there are takes time that grows with its length


def quoted(text: object, most: int = 80) -> str:
    r"""A text from outside as a message shows it: in quotes, on one line, printable, and short.

    >>> print(quoted("two\nlines"), quoted("x" * 1000, most=3))
    'two\nlines' 'xxx...' (1,000 characters)
    """
    whole = str(text)
    kept = whole if len(whole) <= most else whole[:most] + "..."
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in kept)
    return f"'{plain}'" if len(whole) <= most else f"'{plain}' ({len(whole):,} characters)"


class LglBenchError(Exception):
    """Base of every error that lgl-bench raises on purpose."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders; a constructor of several arguments must not be called again there.
        return _restore, (type(self), str(self))


def _restore(kind: type[LglBenchError], message: str) -> LglBenchError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    return error


class LglBenchWarning(UserWarning):
    """Base of every warning that lgl-bench gives."""


class UsageError(LglBenchError):
    """The request itself is wrong: an unknown name, a parameter out of range."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, name: str, known: Iterable[str], remedy: str) -> None:
        guessed = name.lower() if len(name) <= _LONGEST_GUESSED else ""
        guesses = difflib.get_close_matches(guessed, sorted(known), n=1, cutoff=0.6)
        guess = f"; did you mean '{guesses[0]}'?" if guesses else "."
        super().__init__(f"unknown {kind} {quoted(name)}{guess} {remedy}")


class DuplicateNameError(UsageError):
    """A second plugin under a name that is taken."""


class PluginError(UsageError):
    """A plugin that cannot be loaded or breaks its contract."""


class DataError(LglBenchError):
    """Data that is missing, damaged, or not what it claims to be."""

    exit_code = 3


class StatisticsWarning(LglBenchWarning):
    """A stream differs from a published figure that nobody could check."""
