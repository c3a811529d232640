"""The errors a user can meet. Each carries the exit code of the command that raised it.

A message says what, got what, and what to do. The command line prints it as one paragraph.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_LONGEST_GUESSED = 100  # comparing a name with all there are takes time that grows with its length


class LglBenchError(Exception):
    """Base of every error that lgl-bench raises on purpose."""

    exit_code = 1

    def __init__(self, *parts: object) -> None:
        # Messages quote names, cells and other errors as files hold them: whatever these are, it can be printed.
        super().__init__(*(_paragraph(part) if isinstance(part, str) else part for part in parts))

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders; a constructor of several arguments must not be called again there.
        return _restore, (type(self), str(self))


def _restore(kind: type[LglBenchError], message: str) -> LglBenchError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    return error


class LglBenchWarning(UserWarning):
    """Base of every warning that lgl-bench raises on purpose."""


class UsageError(LglBenchError):
    """The request itself is wrong: an unknown name, a parameter out of range."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that nothing is registered under.

    What begins with the name is suggested first, up to two in the order of `known`: `auroc` is short for something.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], remedy: str) -> None:
        guessed = name.lower() if len(name) <= _LONGEST_GUESSED else ""
        known = list(known)
        guesses = [other for other in known if len(guessed) > 1 and other.startswith(guessed)][:2]
        guesses = guesses or difflib.get_close_matches(guessed, sorted(known), n=1, cutoff=0.6)
        named = " or ".join(f"'{other}'" for other in guesses)
        super().__init__(f"unknown {kind} {quoted(name)}{f'; did you mean {named}?' if guesses else '.'} {remedy}")


class DuplicateNameError(UsageError):
    """A second plugin under a name that is taken."""


class PluginError(UsageError):
    """A plugin that cannot be loaded or breaks its contract."""


class DataError(LglBenchError):
    """Data that is missing, damaged, or not what it claims to be."""

    exit_code = 3


class StatisticsWarning(LglBenchWarning):
    """A stream differs from a published figure that nobody could check."""


LONGEST_REASON = 500
"""Characters of a reason that are kept."""
_LONGEST_MESSAGE = 1500
_END = 400  # of a longer message as much is kept of its end, which says what to do


def printable(text: object, most: int = LONGEST_REASON) -> str:
    r"""A text of somebody else as one line that any file and any terminal can take; empty if it has none.

    >>> printable("two\n lines, \udc80 and \x1b[31m")
    'two lines, \\udc80 and \\x1b[31m'
    """
    try:
        line = " ".join(str.__str__(str(text)).split())
    except BaseException:  # a plugin's own __str__ may raise anything
        return ""
    line = line if len(line) <= most else line[:most] + "..."
    return _escaped(line)


def quoted(text: object, most: int = 80) -> str:
    r"""A text from outside as a message shows it: in quotes, on one line, printable, and short.

    >>> print(quoted("two\nlines"), quoted("x" * 1000, most=3))
    'two\nlines' 'xxx...' (1,000 characters)
    """
    whole = str(text)
    kept = whole if len(whole) <= most else whole[:most] + "..."
    shown = f"'{_escaped(kept)}'"
    return shown if len(whole) <= most else f"{shown} ({len(whole):,} characters)"


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _paragraph(text: str) -> str:
    """A message as one paragraph; of a very long one the beginning and the end."""
    line = printable(text, most=len(text))
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - _END]} [...] {line[-_END:]}"


def reason_of(error: BaseException) -> str:
    """Why something failed, from whatever a plugin raised: printable, on one line, and of bounded length.

    >>> reason_of(ValueError("no luck")), reason_of(DataError("the file is empty"))
    ('ValueError: no luck', 'the file is empty')
    """
    message = printable(error)
    if isinstance(error, LglBenchError):
        return message
    if isinstance(error, MemoryError):
        return "it ran out of memory"
    name = printable(type.__dict__["__name__"].__get__(type(error)))
    return f"{name}: {message}" if message else name
