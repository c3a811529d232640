"""Plain values as TOML; Python reads the format but does not write it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from lgl_bench.core.errors import UsageError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(values: Mapping[str, Any]) -> str:
    """A TOML document: strings, numbers, booleans, lists of them, tables, lists of tables.

    >>> print(to_toml({"name": "a", "fits": [{"lr": 0.01, "parameters": {"hidden": 8}}]}), end="")
    name = "a"
    <BLANKLINE>
    [[fits]]
    lr = 0.01
    <BLANKLINE>
    [fits.parameters]
    hidden = 8
    """
    return "\n".join(_lines(values, "")).lstrip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: str) -> list[str]:
    lines = [f"{_key(name)} = {_value(value)}" for name, value in table.items() if not _nested(value)]
    for name, value in table.items():
        inner = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Mapping):
            lines += ["", f"[{inner}]", *_lines(value, inner)]
        elif _nested(value):
            for item in value:
                lines += ["", f"[[{inner}]]", *_lines(item, inner)]
    return lines


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)
    )


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise UsageError(f"{value!r} has no place in a TOML file")
