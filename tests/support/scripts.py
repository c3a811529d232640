"""Scripts of the repository that are no part of the package, as modules."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.support.blocks import ROOT


def load_script(path: str) -> ModuleType:
    """A script by its path from the root of the repository."""
    spec = importlib.util.spec_from_file_location(path.rpartition("/")[2].removesuffix(".py"), ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
