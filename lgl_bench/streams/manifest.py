"""Manifests: one TOML per data set, with where it comes from and what it must look like."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lgl_bench.core.errors import DataError, StatisticsWarning, quoted
from lgl_bench.core.toml import LONGEST_PATH, read_toml
from lgl_bench.core.validation import Flag, Line, Number, Whole, Word, first_problem
from lgl_bench.streams.generator import Recipe

_LARGEST_PART = 2**30  # a larger member of a zip is left to the limits of its extraction


_Sha256: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class File(_Strict):
    """A file to download: mirrors in order, and its sha256 if it is known."""

    name: Word
    urls: tuple[Line, ...] = Field(min_length=1)
    sha256: _Sha256 | None = None


Figure: TypeAlias = Literal[
    "vertices",
    "edges",
    "features",
    "classes",
    "years",
    "isolated",
    "unlabelled",
    "known_at_t0",
    "new_classes",
    "homophily_graph",
    "homophily_vertex",
    "homophily_class_insensitive",
    "homophily_index",
]


class Statistic(_Strict):
    """A published figure that an import is checked against.

    Attributes:
        figure: Which one: `vertices`, `edges`, `homophily_graph`, ...
        value: What was published.
        counts: What an edge figure counts: arcs, undirected pairs, or lines of the source.
        verified: Whether anybody could check it against the files. A mismatch with a verified figure is an
            error, with another a warning.
        digits: Digits behind the point that are compared.
        source: Where it was published.
    """

    figure: Figure
    value: Number
    counts: Literal["arcs", "pairs", "lines", ""] = ""
    verified: Flag
    digits: Whole = Field(default=0, ge=0, le=15)
    source: Line = ""


class Manifest(_Strict):
    """A data set.

    Attributes:
        format: The importer, by name.
        options: Options of the importer.
        revision: Which state of its source the figures and the checksum are of, if that source goes on changing.
        notes: How to get it and how to run it, beyond what holds for every data set.
        problems: What is known to be wrong with it or odd about it, one sentence or two each.
        t0: Last year of the first training task; None for a static graph.
        stream_checksum: Of the stream that an import must give, to the last bit.
        parts: sha256 of files inside an archive or folder, as far as they are known.
        twin: Recipe of the embedded twin, if there is one.
    """

    name: Annotated[Word, Field(pattern="^[a-z0-9][a-z0-9-]*$")]
    title: Line
    description: Line
    format: Word
    options: dict[Word, Flag | Whole | Number | Line] = {}
    licence: Line
    citation: Line
    homepage: Line = ""
    revision: Line = ""
    notes: Line = ""
    problems: tuple[Line, ...] = ()
    t0: Whole | None = None
    stream_checksum: _Sha256 | None = None
    class_names: tuple[Line, ...] = ()
    files: tuple[File, ...] = ()
    parts: dict[Line, _Sha256] = {}
    statistics: tuple[Statistic, ...] = ()
    twin: Recipe | None = None


def read_manifest(path: Path) -> Manifest:
    """A manifest, checked field by field."""
    path = Path(path)
    fields = read_toml(path, "the manifest", DataError)
    try:
        return Manifest.model_validate(fields)
    except ValidationError as error:
        raise DataError(
            f"the manifest {quoted(path, LONGEST_PATH)}: {first_problem(error)}; correct or remove it"
        ) from error


def check_parts(manifest: Manifest, source: Path) -> None:
    """Compares the files whose sha256 is known with those found; absent ones are the importer's matter."""
    known = {file.name: file.sha256 for file in manifest.files if file.sha256} | manifest.parts
    try:
        for name, where, found in _digests(source, set(known)):
            if found != known[name]:
                raise DataError(
                    f"{where} is not the published file of {manifest.name}: expected sha256 {known[name]}, "
                    f"found {found}; get it again from its source"
                )
    except OSError as error:
        raise DataError(
            f"{error.filename or source} cannot be read: {error.strerror or error}; check its permissions"
        ) from error


def _digests(source: Path, names: set[str]) -> Iterator[tuple[str, str, str]]:
    """Name, place and sha256 of the files of these names: in a folder, in a zip, or the file itself."""
    if not names:
        return
    for path in [source] if source.is_file() else sorted(source.rglob("*")):
        if path.name in names and path.is_file():
            with path.open("rb") as file:
                yield path.name, str(path), hashlib.file_digest(file, "sha256").hexdigest()
    # a zip that is damaged is refused by the importer, which extracts it
    with contextlib.suppress(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        if source.is_file() and zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                for info in archive.infolist():
                    name = info.filename.rpartition("/")[2]
                    if name in names and info.file_size <= _LARGEST_PART:
                        with archive.open(info) as member:
                            digest = hashlib.file_digest(member, "sha256").hexdigest()  # type: ignore[arg-type]
                        yield name, f"{info.filename} in {source}", digest


def check_statistics(manifest: Manifest, figures: dict[str, Any]) -> None:
    """Compares an imported stream with the published figures."""
    for statistic in manifest.statistics:
        found = _figure(statistic, figures)
        if found is not None and abs(found - statistic.value) <= 0.5 * 10.0**-statistic.digits * (statistic.digits > 0):
            continue
        what = f"{statistic.figure} ({statistic.counts})" if statistic.counts else statistic.figure
        problem = (
            f"{manifest.name}: {what}: expected {_short(statistic.value)} ({statistic.source}), found {_short(found)}"
        )
        if statistic.verified:
            raise DataError(f"{problem}; these are not the published files, or they are damaged{_state(manifest)}")
        warnings.warn(f"{problem}; the published figure could never be checked", StatisticsWarning, stacklevel=2)


def check_checksum(manifest: Manifest, found: str) -> None:
    """Compares the checksum of an imported stream with the one it must have."""
    if manifest.stream_checksum not in (None, found):
        raise DataError(
            f"{manifest.name}: the stream_checksum must be {manifest.stream_checksum}, found {found}; these are other "
            f"files, or other options, which need a name of their own (and --format {manifest.format})"
            f"{_state(manifest)}"
        )


def _state(manifest: Manifest) -> str:
    return f"; take {manifest.revision}" if manifest.revision else ""


def _figure(statistic: Statistic, figures: dict[str, Any]) -> float | None:
    if statistic.figure == "edges":
        lines = figures["imported"].get("edge_lines")
        return {"arcs": figures["arcs"], "pairs": figures["edges"], "lines": lines}.get(statistic.counts)
    if statistic.figure.startswith("homophily_"):
        found = figures["homophily"][statistic.figure.removeprefix("homophily_")]
        return None if found is None else float(found)
    if statistic.figure == "years":
        return len(figures["years"])
    found = figures.get(statistic.figure)
    return None if found is None else float(found)


def _short(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
