"""Zip archives, opened as if a stranger had packed them.

Every name is checked before the first byte is written, expansion is counted in bytes really written, and an
archive that turns out bad half-way leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import stat
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from lgl_bench.core.errors import DataError

_CHUNK = 1 << 20
_RATIO_FROM = 64 * 2**20  # below this a high ratio is harmless
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others expand without a bound on memory
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)
_AGAIN = "delete the archive and fetch it again"
_BY_HAND = "take the archive from its original source, or unpack it by hand if you trust it"


def extract_zip(path: Path, into: Path, *, max_bytes: int = 20 * 2**30, max_ratio: float = 200.0) -> list[Path]:
    """Extracts a zip archive into a folder, whole or not at all.

    A file that is already in the folder is never overwritten.

    Args:
        path: The archive.
        into: The folder, made if it is missing.
        max_bytes: Most bytes that all members together may expand to.
        max_ratio: Most bytes per byte of archive, looked at once 64 MiB are written.

    Returns:
        The files extracted, in the archive's order.

    Raises:
        DataError: The archive is damaged, unsafe or too large, or the folder cannot be written.
    """
    path, into = Path(path), Path(into)
    extraction = _Extraction(into)
    member = None
    try:
        limit = min(max_bytes, max(_RATIO_FROM, int(max_ratio * path.stat().st_size)))
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(path, members)
            extraction.make_folder(into)
            for info in members:
                member = info.filename
                if not extraction.write(archive, info, limit):
                    raise _refusal(path, member, f"expands beyond the {limit:,} bytes allowed in all", _BY_HAND)
    except BaseException as error:
        extraction.undo()
        if isinstance(error, _DAMAGE):
            raise _refusal(path, member, f"is damaged or cut short ({error or 'it ends early'})") from error
        if isinstance(error, FileExistsError):
            raise _refusal(path, member, f"would overwrite {error.filename}", "remove that first") from error
        if isinstance(error, OSError):
            raise DataError(
                f"the archive {path} could not be extracted to {into}: {error.strerror or error}; "
                "check that the archive is readable and that the folder is writable and has space"
            ) from error
        raise
    return extraction.files


@dataclass(slots=True)
class _Extraction:
    """What was written so far, so that it can be taken back."""

    into: Path
    written: int = 0
    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def write(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bool:
        """Writes one member; False if all members together would pass the limit."""
        target = self.into / info.filename
        self.make_folder(target if info.is_dir() else target.parent)
        if info.is_dir():
            return True
        with archive.open(info) as source, target.open("xb") as sink:
            self.files.append(target)
            while chunk := source.read(_CHUNK):
                self.written += len(chunk)
                if self.written > limit:
                    return False
                sink.write(chunk)
        return True

    def make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            self.make_folder(folder.parent)
            folder.mkdir()
            self.folders.append(folder)

    def undo(self) -> None:
        with contextlib.suppress(OSError):
            for file in self.files:
                file.unlink(missing_ok=True)
            for folder in reversed(self.folders):
                folder.rmdir()


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    seen: dict[PurePosixPath, bool] = {}
    for info in members:
        # `filename` is already cleaned of what a hostile archive may hold; this one is as stored.
        name = info.orig_filename
        place = PurePosixPath(name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if place.is_absolute() or PureWindowsPath(name).drive or "\\" in name or "\0" in name:
            raise _refusal(path, name, "is not a plain relative path", _BY_HAND)
        if ".." in place.parts or not place.parts:
            raise _refusal(path, name, "leads out of the folder", _BY_HAND)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refusal(path, name, "is a symbolic link or a special file", _BY_HAND)
        if info.flag_bits & 0x1:
            raise _refusal(path, name, "is encrypted", "unpack it by hand with its password")
        if info.compress_type not in _METHODS:
            raise _refusal(path, name, f"is packed by method {info.compress_type}", "repack it with deflate")
        if place in seen:
            raise _refusal(path, name, "appears twice", _BY_HAND)
        seen[place] = info.is_dir()
    for place in seen:
        if not all(seen.get(parent, True) for parent in place.parents):
            raise _refusal(path, str(place), "lies in what is a file elsewhere in the archive", _BY_HAND)


def _refusal(path: Path, member: str | None, problem: str, remedy: str = _AGAIN) -> DataError:
    subject = f"the archive {path}" if member is None else f"the member {member!r} of the archive {path}"
    return DataError(f"{subject} {problem}; {remedy}")
