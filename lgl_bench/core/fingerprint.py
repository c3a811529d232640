"""Digests of code: what is computed by other code is computed again.

A digest is taken over source files: some to start from, and all that they import, transitively, from this package and
from the package or folder a plugin's file lies in. Imports are read from the text, so nothing is run, and imports
inside functions count too. Libraries are left out: their versions are part of a key by themselves.

When in doubt a file counts: a comment that changes costs a computation, a helper that is overlooked costs the truth.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "lgl_bench"
_ROOT = Path(__file__).resolve().parents[1]
_LIBRARIES = tuple(Path(sysconfig.get_paths()[name]).resolve() for name in ("stdlib", "purelib", "platlib"))
_PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages"})


class SourceFile(NamedTuple):
    """A source file as it is now; another time or size is another source."""

    path: Path
    modified: int
    size: int


def package_files(*names: str) -> list[Path]:
    """The files of modules of this package, by their names below it; a sub-package stands for all its files.

    >>> [path.name for path in package_files("core.seeds")]
    ['seeds.py']
    """
    found: list[Path] = []
    for name in names:
        place = _ROOT.joinpath(*name.split("."))
        found += sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return found


def plugin_files(plugin: type[Any]) -> list[Path]:
    """The files of a class and of the classes it is built on, libraries apart."""
    own = plugin.__module__.split(".")[0]
    found = []
    for base in plugin.__mro__:
        name = getattr(sys.modules.get(base.__module__), "__file__", None)
        path = Path(name).resolve() if name else None
        if path is not None and (base.__module__.split(".")[0] in (own, PACKAGE) or not _installed(path)):
            found.append(path)
    return list(dict.fromkeys(found))


def closure(files: Iterable[Path]) -> list[Path]:
    """The files, and all that they import from this package or their own, sorted."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(_source(path))
    return sorted(found)


def digest(files: Iterable[Path]) -> str:
    """Digest of the bytes of files; where the package is installed does not matter."""
    total = hashlib.sha256()
    for path in sorted(set(files)):
        name = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
        total.update(f"{name}\0{content_digest(_source(path))}\n".encode())
    return total.hexdigest()[:16]


@cache
def content_digest(source: SourceFile) -> str:
    """Digest of one file."""
    return hashlib.sha256(read_source(source.path)).hexdigest()


@cache
def imported(source: SourceFile) -> tuple[Path, ...]:
    """The files a file imports from this package, or from the package or folder it is in itself."""
    try:
        tree = ast.parse(read_source(source.path))
    except (SyntaxError, ValueError):
        return ()
    names = dict.fromkeys(_imports(tree, _module_name(source.path)))
    found = (path for name in names for path in _files_of(name, source.path))
    return tuple(dict.fromkeys(path for path in found if path != source.path))


def read_source(path: Path) -> bytes:
    """The bytes of a source file; none if it is gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _source(path: Path) -> SourceFile:
    try:
        found = path.stat()
    except OSError:
        return SourceFile(path, 0, 0)
    return SourceFile(path, found.st_mtime_ns, found.st_size)


def _imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Names of modules that may be imported; of `from a import b` both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, base] if base else parents)
            yield base
            yield from (f"{base}.{name.name}" if base else name.name for name in node.names)


def _module_name(path: Path) -> str:
    """The full name of a file's module, by the `__init__.py` files around it; that of a package ends in `__init__`."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _files_of(name: str, importer: Path) -> Iterator[Path]:
    """Files that importing a module reads: its own, and the `__init__.py` of the packages around it."""
    top, *rest = name.split(".")
    if top == PACKAGE:
        # The package's own __init__.py is a door to all of it, and holds nothing that computes.
        yield from _below(_ROOT, rest)
        return
    own = _module_name(importer).split(".")
    home = importer.parents[len(own) - 1]
    if top != own[0] and _installed(importer):
        return  # another package: a library
    for folder in dict.fromkeys((home, importer.parent)):
        found = list(_below(folder, [top, *rest]))
        if found:
            yield from found
            return


def _below(folder: Path, parts: list[str]) -> Iterator[Path]:
    for part in parts:
        if (folder / f"{part}.py").is_file():
            yield folder / f"{part}.py"
            return
        folder = folder / part
        if not folder.is_dir():
            return
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


def _installed(path: Path) -> bool:
    """Whether a file belongs to Python or to an installed package, perhaps of an environment below this one."""
    return any(path.is_relative_to(folder) for folder in _LIBRARIES) or not _PACKAGE_FOLDERS.isdisjoint(path.parts)
