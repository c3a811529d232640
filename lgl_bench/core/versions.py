"""Versions of what a result was made with: the one place that asks for them."""

from __future__ import annotations

import importlib
import platform


def versions(*names: str) -> dict[str, str]:
    """Versions by the name of a module, or "python"; modules are imported.

    >>> list(versions("lgl_bench", "python"))
    ['lgl_bench', 'python']
    """
    return {name: _version(name) for name in names}


def _version(name: str) -> str:
    return platform.python_version() if name == "python" else str(importlib.import_module(name).__version__)
