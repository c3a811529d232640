"""A plugin package to start from: it works as written, and its test passes."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path
from string import Template
from typing import Any

from lgl_bench.core.errors import UsageError
from lgl_bench.submissions.templates import CLASSES, PYPROJECT, README, TEST

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
_LONGEST = 40


def scaffold(kind: str, name: str, folder: Path, *, force: bool = False) -> list[str]:
    """Writes the package and returns its files.

    Args:
        kind: "detector", "backbone", "threshold" or "strategy".
        name: What it will be asked for by: lower case, digits and dashes.
        folder: Where it goes.
        force: Whether files that are there are replaced.
    """
    if kind not in CLASSES:
        raise UsageError(f"there is no package to start a {kind} from; there is one for {', '.join(CLASSES)}")
    _check_name(kind, name)
    module = name.replace("-", "_")
    words = {
        "name": name,
        "module": module,
        "kind": kind,
        "kinds": _registry(kind).plural,
        "cls": "".join(part.capitalize() for part in name.split("-")),
    }
    files = {
        "pyproject.toml": PYPROJECT,
        "README.md": README,
        f"{module}/__init__.py": CLASSES[kind],
        f"tests/test_{module}.py": TEST,
    }
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --to names a folder")
    taken = [file for file in files if (folder / file).exists() or (folder / file).is_symlink()]
    if taken and not force:
        raise UsageError(f"{folder / taken[0]} exists already; give --force to replace it, or another --to")
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    return list(files)


def _check_name(kind: str, name: str) -> None:
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise UsageError(
            f"'{name}' cannot be a {kind}'s name: use lower-case letters, digits and single dashes, a letter first, "
            f"at most {_LONGEST} in all, such as my-method"
        )
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module in ("lgl_bench", "tests", "torch"):
        raise UsageError(f"'{name}' would hide the Python module {module}; choose another name")
    registry = _registry(kind)
    if registry.is_built_in(name):
        raise UsageError(f"a {kind} named '{name}' comes with lgl-bench already; choose another name")


def _registry(kind: str) -> Any:
    from lgl_bench.backbones import backbones
    from lgl_bench.detectors import detectors
    from lgl_bench.strategies import strategies
    from lgl_bench.thresholds import thresholds

    return {"backbone": backbones, "detector": detectors, "threshold": thresholds, "strategy": strategies}[kind]
