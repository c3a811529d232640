"""Types of the fields of files, and the one sentence that says which field is wrong and why.

They convert nothing: a number in quotes is no number, and `true` is no 1.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, ValidationError

from lgl_bench.core.errors import quoted
from lgl_bench.core.grammar import LONGEST_NAME

LONGEST_LINE = 500
_LONGEST_PROBLEM = 300
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


def is_word(text: str) -> bool:
    r"""Whether a text is a plain word: it can be a name in a table, in an expression and of a file.

    >>> [is_word(text) for text in ("isomax+", "60-20-20", "my suite", "../smoke", "a\n")]
    [True, True, False, False, False]
    """
    return len(text) <= LONGEST_NAME and _WORD.fullmatch(text) is not None and ".." not in text


def _word(text: str) -> str:
    if not is_word(text):
        raise ValueError(
            f"{quoted(text)} cannot be a name: use letters, digits and any of - _ . +, a letter or digit first, "
            f"at most {LONGEST_NAME} in all"
        )
    return text


def _line(text: str) -> str:
    if len(text) > LONGEST_LINE or not text.isprintable():
        raise ValueError(f"{quoted(text)}: at most {LONGEST_LINE} characters on one line are taken")
    return text


Word: TypeAlias = Annotated[str, AfterValidator(_word)]
Line: TypeAlias = Annotated[str, AfterValidator(_line)]
# Open at both ends, so that a field can give closed ones of its own.
Whole: TypeAlias = Annotated[int, Field(strict=True, gt=-(2**63), lt=2**63)]
Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]


def first_problem(error: ValidationError | TypeError) -> str:
    """The first field that is wrong, and why, short enough for a sentence.

    A `TypeError` comes from a name that is no name of a field, and has no place.
    """
    if isinstance(error, TypeError):
        return str(error)[:_LONGEST_PROBLEM]
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    reason = " ".join(first["msg"].removeprefix("Value error, ").split())
    short = reason if len(reason) <= _LONGEST_PROBLEM else reason[:_LONGEST_PROBLEM] + "..."
    return f"field {quoted(place)}: {short}" if place else short
