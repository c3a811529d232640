"""Importers: from the layouts data sets are published in to a raw graph.

An importer is a function `(source: Path, options: dict) -> RawGraph`, registered under the name a manifest
gives as its `format`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from lgl_bench.core.registry import Registry
from lgl_bench.streams.raw import RawGraph

Importer: TypeAlias = Callable[[Path, dict[str, Any]], RawGraph]

importers: Registry[Importer] = Registry(
    "format",
    "lgl_bench.importers",
    tuple(f"lgl_bench.streams.importers.{name}" for name in ("planetoid", "ogb", "adjlist", "table", "anthology")),
)
