"""A recipe of a synthetic stream, to change a part of."""

from __future__ import annotations

from typing import Any

BASE: dict[str, Any] = {
    "times": [2000, 2001, 2003, 2004],
    "growth": [200, 200, 200, 200],
    "births": [4, 0, 1, 0],
    "seed": 5,
}
