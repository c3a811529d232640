"""Files and folders that appear whole or not at all, locks, and the clearing of what killed processes left.

What is being made is called `.NAME.PID.partial`, beside its place, and takes the place by a rename. Whoever makes the
same thing next clears the partial ones of processes that are no more. Folders for a moment lie in the system's
temporary folder and are called `lgl-bench-PURPOSE-PID-...`; the next of the same purpose clears those of the dead.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from lgl_bench.core.processes import alive, pid_in, writer_alive

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A name to write a file under; it becomes `path` once the block has ended, and vanishes if it raises."""
    if path.exists() and not path.is_file():
        # A rename would put a file in the place of a device such as /dev/null.
        raise FileExistsError(errno.EEXIST, "something else than a file is there", str(path))
    partial = _beside(path, "partial")
    try:
        yield partial
        _sync(partial)
        partial.replace(path)
    except OSError as error:
        error.filename = str(path)  # a full disk does not say what it has no room for
        raise
    finally:
        partial.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all; an older one is replaced."""
    with writing(path) as partial:
        partial.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Writes a file in UTF-8, whole or not at all; an older one is replaced."""
    write_bytes(path, text.encode())


@contextlib.contextmanager
def workspace(place: Path) -> Iterator[Path]:
    """An empty folder beside `place`, on the same file system, which vanishes once the block has ended."""
    place.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(place)
    partial = _beside(place, "partial")
    partial.mkdir()
    try:
        yield partial
    finally:
        remove(partial)


@contextlib.contextmanager
def building(place: Path) -> Iterator[Path]:
    """An empty folder to fill; it becomes `place` once the block has ended, and vanishes if it raises.

    What stood at the place stays until then and is exchanged for the new folder: at no moment is there neither.
    """
    with workspace(place) as partial:
        yield partial
        _put(partial, place)


def clear_leftovers(place: Path) -> None:
    """Clears what killed processes left beside `place`, and puts back what one of them had moved out of the way."""
    if not place.parent.is_dir():
        return
    dead = []
    for path in place.parent.iterdir():
        pid = pid_in(path)
        # What carries our own number was left by an earlier process that had it.
        if path.name in (f".{place.name}.{pid}.partial", f".{place.name}.{pid}.old") and (
            pid == os.getpid() or not writer_alive(path)
        ):
            dead.append(path)
    for path in sorted(dead, key=lambda path: path.suffix):
        if path.suffix == ".old" and not os.path.lexists(place):
            path.rename(place)
        else:
            remove(path)


@contextlib.contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """A folder of our own for a moment; those that killed processes made for the same purpose are cleared."""
    prefix = f"lgl-bench-{purpose}-"
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        pid = path.name.removeprefix(prefix).partition("-")[0]
        with contextlib.suppress(OSError):  # it may belong to somebody else
            if pid.isdecimal() and not alive(int(pid), path.lstat().st_mtime):
                remove(path)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextlib.contextmanager
def locked(path: Path, on_wait: Callable[[int | None], None] = lambda holder: None) -> Iterator[None]:
    """Holds a lock that one process at a time has; that of a process that died is free.

    Args:
        path: The file of the lock. While it is held, `PATH.pid` beside it names the process.
        on_wait: Called with the process that holds it, None if it is not known, before waiting for it.
    """
    lock, holder = FileLock(path), path.with_name(f"{path.name}.pid")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        with contextlib.suppress(OSError):
            text = holder.read_text(encoding="utf-8")[:20].strip()
            on_wait(int(text) if text.isdecimal() and text.isascii() else None)
        lock.acquire()
    try:
        holder.write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def remove(path: Path) -> None:
    """Removes a file, a link or a whole folder; nothing happens if there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{ending}")


def _put(fresh: Path, place: Path) -> None:
    """Moves a folder to its place; what stood there takes its name, or is removed."""
    if not os.path.lexists(place):
        fresh.rename(place)
    elif not _exchange(fresh, place):
        # The next `clear_leftovers` puts it back if we are killed between the two renames.
        old = _beside(place, "old")
        place.rename(old)
        try:
            fresh.rename(place)
        except OSError:
            old.rename(place)
            raise
        remove(old)


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges the names of two paths in one step; returns whether the system and its file system can."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):
        return False
    return not rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
