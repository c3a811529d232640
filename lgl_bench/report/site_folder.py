"""The folder a site is written to: whole or not there, and nothing else is replaced."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lgl_bench.core.errors import DataError, UsageError
from lgl_bench.core.files import building

MARKER = "lgl-bench-site.json"


def check_place(place: Path, force: bool) -> None:
    """Raises if something would be replaced that must not be.

    Raises:
        UsageError: A folder is there and `force` is not given, or it is none of ours.
    """
    if not place.exists() and not place.is_symlink():
        return
    if not place.is_dir() or place.is_symlink():
        raise UsageError(f"{place} is there and is no folder; give another name")
    if not any(place.iterdir()):
        return
    if not (place / MARKER).is_file():
        raise UsageError(f"{place} is there and was not made by 'lgl-bench report' ({MARKER} is missing); give another")
    if not force:
        raise UsageError(f"{place} exists already; give --force to replace it")


@contextlib.contextmanager
def replacing(place: Path, force: bool, about: dict[str, Any]) -> Iterator[Path]:
    """A folder to build in; it takes its place once everything is written, and vanishes if something fails."""
    place = Path.cwd() / place
    check_place(place, force)
    try:
        with building(place) as fresh:
            yield fresh
            (fresh / MARKER).write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error.strerror or error}") from error
