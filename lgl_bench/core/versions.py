"""Versions of what a result was made with: the one place that asks for them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_NOT_IMPORTED = ("dgl", "numba")
"""Packages that take seconds to import, and that may be missing."""
_installed_version = cache(version)
"""Reads the metadata of a package, which takes a moment; the key of every fit asks for it."""


def versions(*names: str) -> dict[str, str]:
    """Versions by the name of a module, or "python"; "" for one that is not installed.

    >>> list(versions("lgl_bench", "python"))
    ['lgl_bench', 'python']
    """
    return {name: _version(name) for name in names}


def _version(name: str) -> str:
    if name == "python":
        return platform.python_version()
    if importlib.util.find_spec(name) is None:
        return ""
    if name in _NOT_IMPORTED:
        with contextlib.suppress(PackageNotFoundError):
            return _installed_version(name)
    return str(importlib.import_module(name).__version__)
