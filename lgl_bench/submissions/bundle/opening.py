"""Opening a bundle somebody sent: every file is copied under a name we know, counted and hashed on the way.

Nothing here follows a link, extracts an archive by its own paths, or keeps reading past a limit. What comes after
works on the copy, so that nothing can change under it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from lgl_bench.core.errors import DataError
from lgl_bench.core.files import temporary_folder
from lgl_bench.core.validation import first_problem
from lgl_bench.runs.records import DamagedError, FitRecord, parse_fit
from lgl_bench.submissions.bundle.layout import (
    FORMAT,
    MANIFEST,
    MAX_BYTES,
    MAX_FILES,
    MAX_RATIO,
    MIB,
    NEEDED,
    BundleError,
    BundleManifest,
    answers_file,
    fit_file,
    limit_of,
    refuse_name,
    refuse_submitter,
)

_CHUNK = 1 << 20
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(ValueError, RuntimeError, OverflowError),
)
"""What Python raises if an archive or a file is damaged, or packed by a method that it lacks."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The copy of a bundle whose names, sizes and digests are in order.

    Attributes:
        folder: Where the copy is, until the bundle is closed.
        manifest: What it says it holds.
    """

    folder: Path
    manifest: BundleManifest

    def __contains__(self, name: object) -> bool:
        return name in self.manifest.files

    def json(self, name: str) -> dict[str, Any]:
        """A JSON file of the bundle."""
        return read_json((self.folder / name).read_bytes(), name)

    def fit(self, key: str) -> FitRecord | None:
        """The record of a fit; None if it is not in the bundle."""
        name = fit_file(key)
        return read_fit((self.folder / name).read_bytes(), name) if name in self else None

    def fit_keys(self) -> set[str]:
        """Keys of the fits that have a record."""
        return {Path(name).stem for name in self.manifest.files if name == fit_file(Path(name).stem)}

    def answer_keys(self) -> set[str]:
        """Keys of the fits that have answers."""
        return {Path(name).stem for name in self.manifest.files if name == answers_file(Path(name).stem)}


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Bundle]:
    """A bundle, folder or `.zip`, copied file by file into a temporary folder."""
    with temporary_folder("bundle") as temporary:
        target = temporary / "bundle"
        target.mkdir()
        if path.is_dir() and not path.is_symlink():
            yield _copy(_folder_files(path), target)
        elif path.is_file():
            with _archive(path) as archive:
                bundle = _copy(_zip_files(archive), target)
            yield bundle
        else:
            raise DataError(f"{path} is no bundle: neither a folder nor a .zip; 'lgl-bench submit' makes one")


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise BundleError(f"{path} cannot be read as a zip: {error}") from error


def read_json(data: bytes, name: str) -> dict[str, Any]:
    """A JSON object in which no name is given twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name is given twice")
        return found

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=once)
        if _SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a character raises
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BundleError(f"{name} holds no JSON object")
    return value


def read_fit(data: bytes, name: str) -> FitRecord:
    """The record of a fit that somebody sent."""
    read_json(data, name)  # which refuses a name that is given twice and text that cannot be printed
    try:
        return parse_fit(data, name)
    except DamagedError as error:
        raise BundleError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that may be read: its declared size, and how to open it."""

    size: int
    open: Callable[[], IO[bytes]]


def _folder_files(folder: Path) -> dict[str, _Source]:
    found: dict[str, _Source] = {}
    for place, folders, files in os.walk(folder, followlinks=False):
        here = Path(place)
        for name in sorted([*folders, *files]):
            path = here / name
            relative = path.relative_to(folder).as_posix()
            state = path.lstat()
            if stat.S_ISLNK(state.st_mode):
                raise BundleError(f"{ascii(relative)} is a symlink; a bundle holds plain files")
            if stat.S_ISDIR(state.st_mode):
                continue
            if not stat.S_ISREG(state.st_mode):
                raise BundleError(f"{ascii(relative)} is no plain file")
            _admit(found, relative)
            found[relative] = _Source(state.st_size, lambda path=path: _open_plain(path))  # type: ignore[misc]
    return found


def _open_plain(path: Path) -> IO[bytes]:
    """Opens a file unless it has become a link meanwhile, if the system has a flag for that."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise BundleError(f"{path.name} cannot be opened: {error.strerror}") from error


def _zip_files(archive: zipfile.ZipFile) -> dict[str, _Source]:
    found: dict[str, _Source] = {}
    for info in archive.infolist():
        name = info.orig_filename  # `filename` is cut at a NUL and has its slashes changed
        kind = info.external_attr >> 16
        if stat.S_ISLNK(kind):
            raise BundleError(f"{ascii(name[:200])} is a symlink; a bundle holds plain files")
        if name in ("answers/", "fits/", "plugins/") and not info.file_size:
            continue
        _admit(found, name)
        if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
            raise BundleError(f"{name} is no plain file")
        if info.flag_bits & 1:
            raise BundleError(f"{name} is encrypted")
        if info.file_size > MIB and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            raise BundleError(
                f"{name} is a zip bomb: {info.compress_size:,} bytes claim to unpack to {info.file_size:,}"
            )
        found[name] = _Source(info.file_size, lambda info=info: archive.open(info))  # type: ignore[misc]
    return found


def _admit(found: dict[str, _Source], name: str) -> None:
    reason = refuse_name(name)
    if reason:
        raise BundleError(reason)
    if name in found:
        raise BundleError(f"{name} is there twice")
    if len(found) >= MAX_FILES:
        raise BundleError(f"it holds more than {MAX_FILES:,} files")


def _copy(sources: dict[str, _Source], target: Path) -> Bundle:
    total = sum(source.size for source in sources.values())
    if total > MAX_BYTES:
        raise BundleError(f"its files claim {total:,} bytes; more than {MAX_BYTES:,} are not unpacked")
    for name, source in sources.items():
        limit = limit_of(name) or 0
        if source.size > limit:
            raise BundleError(f"{name} claims {source.size:,} bytes; more than {limit:,} are not read")
    if MANIFEST not in sources:
        raise BundleError(f"{MANIFEST} is missing: this is no bundle; 'lgl-bench submit' makes one")
    _take(MANIFEST, sources[MANIFEST], target)
    manifest = _manifest((target / MANIFEST).read_bytes())
    claimed = {*manifest.files, MANIFEST}
    for name in sorted({*claimed, *NEEDED} - {*sources}):
        raise BundleError(f"{name[:200]} is missing")
    for name in sorted({*sources} - claimed):
        raise BundleError(f"{name} is not in {MANIFEST}")
    for name, entry in manifest.files.items():
        digest, size = _take(name, sources[name], target)
        if (digest, size) != (entry.sha256, entry.size):
            raise BundleError(f"{name} is not the file that {MANIFEST} names: its sha256 or its size differs")
    return Bundle(target, manifest)


def _manifest(data: bytes) -> BundleManifest:
    fields = read_json(data, MANIFEST)
    if fields.get("format") != FORMAT:
        raise BundleError(f"{MANIFEST} has format {str(fields.get('format'))[:20]}; this version reads format {FORMAT}")
    try:
        manifest = BundleManifest(**fields)
    except (ValidationError, TypeError) as error:
        raise BundleError(f"{MANIFEST}: {first_problem(error)}") from error
    reasons = [reason for name in manifest.files if (reason := refuse_name(name))]
    if MANIFEST in manifest.files:
        reasons.append(f"{MANIFEST} names itself")
    if refuse_submitter(manifest.submitter):
        reasons.append(f"the submitter's name: {refuse_submitter(manifest.submitter)}")
    if reasons:
        raise BundleError(f"{MANIFEST}: {reasons[0]}")
    return manifest


def _take(name: str, source: _Source, target: Path) -> tuple[str, int]:
    """Copies a file, reading no byte more than it declares; its sha256 and size."""
    place = target / name
    place.parent.mkdir(exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with place.open("xb") as copy:
        for chunk in _chunks(name, source):
            size += len(chunk)
            if size > source.size:
                raise BundleError(f"{name} holds more than the {source.size:,} bytes it declares")
            digest.update(chunk)
            copy.write(chunk)
    return digest.hexdigest(), size


def _chunks(name: str, source: _Source) -> Iterator[bytes]:
    try:
        with source.open() as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except _DAMAGE as error:
        raise BundleError(f"{name} cannot be read: {error}") from error
