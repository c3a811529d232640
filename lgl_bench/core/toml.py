"""TOML that people write, read within bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import LglBenchError, UsageError, quoted

LARGEST = 2**20
"""Bytes of a file: more than any suite, manifest or preset needs, and little enough to be read in a moment."""
_DEEPEST = 16
LONGEST_PATH = 300
_LONGEST_REASON = 200
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# Found before anything is read: the time Python's reader takes grows with the square of the parts of a dotted key.
_DOTTED = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_DEEPEST}}}")


def read_toml(
    path: Path, what: str, error_type: type[LglBenchError] = UsageError, *, missing: str = "check its name"
) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        path: A regular file: reading a pipe or a device could wait without end.
        what: Of the file, for messages: "the suite".
        error_type: What is raised if it cannot be read.
        missing: What to do if there is no such file.

    Raises:
        LglBenchError: Of the type given: it cannot be opened, is larger than 1 MiB, nests too deeply, is not UTF-8 or
            no TOML.
    """
    bad = f"{what} {quoted(path, LONGEST_PATH)} cannot be read"
    try:
        if path.exists() and not path.is_file():
            raise error_type(f"{bad}: it is no file")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise error_type(f"{what} {quoted(path, LONGEST_PATH)} does not exist; {missing}") from error
    except (OSError, ValueError) as error:
        raise error_type(f"{bad}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > LARGEST:
        raise error_type(f"{bad}: it is larger than {LARGEST:,} bytes")
    try:
        text = data.decode("utf-8")
        if _DOTTED.search(text):
            raise error_type(f"{bad}: it nests more than {_DEEPEST} deep")
        fields = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise error_type(f"{bad}: it is no TOML: byte {error.start + 1} is not UTF-8; correct it") from error
    except RecursionError as error:
        raise error_type(f"{bad}: it nests more than {_DEEPEST} deep") from error
    except ValueError as error:  # a wrong sign, or a number of more digits than Python reads
        raise error_type(f"{bad}: it is no TOML: {str(error)[:_LONGEST_REASON]}; correct it") from error
    if _deeper_than(fields, _DEEPEST):
        raise error_type(f"{bad}: it nests more than {_DEEPEST} deep")
    return fields


def _deeper_than(value: Any, most: int) -> bool:
    """Whether tables and lists nest deeper; level by level, because the depth may be anything."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)
