"""What a process in the sandbox sees of the file system: what Python and the package need, and a folder of its own.

Whatever is not named here does not exist for it: no home, no other run, no bundle. Paths are the same inside and
outside, so that nothing has to be translated.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lgl_bench.core.resources import shipped

PACKAGE = Path(__file__).resolve().parents[2]
"""The folder of the package; the folder above it may be a checkout with runs and bundles, and is not shown."""
PRIVATE = {"/tmp": "tmp", "/dev/shm": "shm"}
"""Folders every program may write to, and the folder under the sandbox's own that stands in for each. They are on
disk: what is written there does not count as memory, so a tmpfs would be a way around the memory limit."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    "/sys/devices/system/cpu",
)


@dataclass(frozen=True, slots=True)
class View:
    """The file system of a sandbox.

    Attributes:
        folder: The one folder that can be written to.
        links: Symlinks to make, with what they point to.
        read_only: Files and folders that can be read, by the path they are seen under.
        devices: Device files, besides those of every program.
        hidden: Files and folders that are seen as empty although they lie under what can be read.
    """

    folder: str
    links: dict[str, str]
    read_only: dict[str, str]
    devices: tuple[str, ...]
    hidden: tuple[str, ...]


def view_of(folder: Path, visible: Iterable[Path] = (), hidden: Iterable[Path] = ()) -> View:
    """The view of a process that works in `folder`.

    Args:
        folder: Can be written to.
        visible: Can be read, besides Python and the package.
        hidden: Cannot be read, wherever it is.
    """
    away = [path.resolve() for path in hidden if path.exists()]
    links: dict[str, str] = {}
    shown: dict[str, str] = {}
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            links[str(path)] = str(path.readlink())
        elif path.exists():
            shown[str(path)] = str(path)
    private = [*away, folder.resolve(), Path.home(), Path.cwd(), PACKAGE]
    for path in (*_python(private), *visible):
        if path.exists():
            shown |= dict.fromkeys(_names(path), str(path.resolve()))
    outermost = {
        seen: source
        for seen, source in shown.items()
        if not any(Path(seen).is_relative_to(other) for other in shown if other != seen)
    }
    masked = sorted(
        str(Path(seen) / path.relative_to(source))
        for seen, source in outermost.items()
        for path in away
        if path.is_relative_to(source)
    )
    return View(str(folder.resolve()), links, outermost, _graphics_cards(), tuple(masked))


def import_paths() -> list[str]:
    """Folders Python imports from in this process for an isolated one, the package's own first."""
    given = (Path(entry).absolute() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry)
    return list(dict.fromkeys([str(PACKAGE.parent), *map(str, given)]))


def _python(private: Sequence[Path]) -> list[Path]:
    """What this Python runs from: its prefixes, its executable, the package, and where else it imports from.

    A folder that holds more than code, such as the one the command was started in, is not shown: none that holds a
    private path is.
    """
    found = [Path(one) for one in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)]
    found += [PACKAGE, shipped("benchmarks"), shipped("data_manifests")]
    program = Path(sys.executable).absolute()
    while program.is_symlink():
        found.append(program)
        program = program.parent / program.readlink()
    found += [program, Path(site.getusersitepackages())]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for entry in (*sys.path, *import_paths(), *libraries):
        if entry and not any(path.is_relative_to(os.path.realpath(entry)) for path in private):
            found.append(Path(entry).absolute())
    return found


def _names(path: Path) -> tuple[str, ...]:
    """A path as it is written, and where it really is."""
    return tuple(dict.fromkeys((os.path.normpath(path.absolute()), str(path.resolve()))))


def _graphics_cards() -> tuple[str, ...]:
    return tuple(sorted(str(path) for path in Path("/dev").glob("nvidia*") if not path.is_dir()))
