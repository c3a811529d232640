"""Streams by name: what is imported, what has a manifest, and the twins that are always there."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError

from lgl_bench.core.errors import DataError, UnknownNameError, UsageError, quoted
from lgl_bench.core.expressions import parse
from lgl_bench.core.grammar import plugin_name
from lgl_bench.core.resources import shipped
from lgl_bench.core.validation import first_problem
from lgl_bench.streams.describe import describe
from lgl_bench.streams.download.fetch import Download, fetch
from lgl_bench.streams.generator import Recipe, generate
from lgl_bench.streams.importers import importers
from lgl_bench.streams.manifest import Manifest, check_checksum, check_parts, check_statistics, read_manifest
from lgl_bench.streams.raw import build
from lgl_bench.streams.start import with_t0
from lgl_bench.streams.store import open_stream, write_stream
from lgl_bench.streams.stream import Stream, StreamInfo

TWIN = "-twin"
_LONGEST_NAME = 100


def is_name(name: str) -> bool:
    r"""Whether a stream may have that name: one word, which is also the name of its folder.

    >>> is_name("dblp-easy"), is_name("my stream"), is_name("../elsewhere"), is_name("two\nlines")
    (True, False, False, False)
    """
    return len(name) <= _LONGEST_NAME and re.fullmatch(r"\w[\w.+-]*", name) is not None


def data_folder(given: Path | None = None) -> Path:
    """Where streams are kept: as given, else `LGL_BENCH_DATA`, else the platform's cache folder."""
    if given is not None:
        return Path(given)
    if os.environ.get("LGL_BENCH_DATA"):
        return Path(os.environ["LGL_BENCH_DATA"])
    return Path(platformdirs.user_cache_dir("lgl-bench", appauthor=False))


def manifests() -> dict[str, Manifest]:
    """Every data set that has a manifest, by name."""
    paths = sorted(shipped("data_manifests").glob("*.toml"))
    found = (_manifest(path, path.stat().st_mtime_ns if path.is_file() else 0) for path in paths)
    return {manifest.name: manifest for manifest in found}


@lru_cache(maxsize=100)
def _manifest(path: Path, changed: int) -> Manifest:
    """A manifest, read once until its file changes: a plan asks for all of them dozens of times."""
    return read_manifest(path)


def twins() -> dict[str, Manifest]:
    """The embedded twins, by their own name."""
    return {name + TWIN: manifest for name, manifest in manifests().items() if manifest.twin}


def imported(folder: Path) -> list[str]:
    """Names of the streams in a data folder."""
    return sorted(path.parent.name for path in folder.glob("[!.]*/stream.json") if path.is_file())


def load(name: str, folder: Path | None = None, *, features: bool = True) -> Stream:
    """The stream of that name: imported, or an embedded twin."""
    folder = data_folder(folder)
    if is_twin(name):
        return twin(name)
    if is_name(name) and (folder / name / "stream.json").is_file():
        return open_stream(folder / name, features=features)
    known = manifests()
    if name in known:
        how = f"'lgl-bench data fetch {name}'" if known[name].files else "it has no public download: get the files"
        raise DataError(f"the stream {name} is not in {folder}; {how}, or 'lgl-bench data import {name} --from PATH'")
    raise _unknown(name, folder)


def is_twin(name: str) -> bool:
    """Whether a name is an embedded twin's, as it is or with some of its recipe changed."""
    return plugin_name(name) in twins()


def twin(name: str) -> Stream:
    """An embedded twin, made from its recipe in a moment: `dblp-easy-twin`, `dblp-easy-twin(homophily=0.3)`."""
    expression = parse(name)
    manifest = twins()[expression.name]
    assert manifest.twin is not None
    if expression.arguments:
        raise UsageError(f"'{name}': a twin takes values of its recipe by name, such as homophily=0.3")
    info = StreamInfo(
        name=str(expression),
        source=f"synthetic twin of {manifest.name}, made by lgl-bench",
        licence="Apache-2.0",
        t0=manifest.t0,
    )
    try:
        recipe = Recipe(**{**manifest.twin.model_dump(), **dict(expression.parameters)})
    except ValidationError as error:
        raise UsageError(f"{quoted(name)}: its recipe: {first_problem(error)}") from error
    return generate(recipe, info)


def published_t0(name: str) -> int | None:
    """The t0 that the manifest of a stream, or of a twin's original, has; None if there is none."""
    original = plugin_name(name).removesuffix(TWIN)
    manifest = manifests().get(original)
    return manifest.t0 if manifest else None


def import_stream(
    name: str,
    source: Path,
    folder: Path | None = None,
    *,
    format_name: str | None = None,
    t0: int | str | None = None,
    options: dict[str, str] | None = None,
    force: bool = False,
) -> Stream:
    """Imports a stream into the data folder, checked against its manifest if it has one.

    Args:
        name: What it is called.
        source: Folder or archive.
        folder: The data folder.
        format_name: The layout; the manifest's, or two tables, otherwise.
        t0: Last time of the first training task; "auto" for the one that is proposed.
        options: Of the format.
        force: Whether to replace a stream of that name.
    """
    folder = data_folder(folder)
    manifest = manifests().get(name)
    check_name(name)
    given: dict[str, Any] = dict(options or {})
    chosen = format_name or (manifest.format if manifest else "table")
    if not source.exists():
        raise DataError(f"{source} does not exist; --from names the folder or archive with the data")
    if (folder / name).exists() and not force:
        raise UsageError(f"{folder / name} exists already; give --force to replace it")
    if manifest and chosen == manifest.format:
        check_parts(manifest, source)
        given = {**manifest.options, **given}
    raw = importers.get(chosen)(source, given)
    info = StreamInfo(
        name=name,
        source=(manifest.homepage or manifest.title) if manifest else str(source.name),
        licence=manifest.licence if manifest else "not stated",
        citation=manifest.citation if manifest else "",
        t0=manifest.t0 if manifest and t0 is None else None,
        class_names=manifest.class_names if manifest else (),
    )
    stream = with_t0(build(raw, info), t0)
    if manifest:
        figures = describe(stream)
        check_statistics(manifest, figures)
        check_checksum(manifest, figures["stream_checksum"])
    write_stream(stream, folder / name, force=force)
    return stream


def fetch_stream(
    name: str,
    folder: Path | None = None,
    *,
    offline: bool = False,
    force: bool = False,
    progress: bool = True,
    patient: bool = True,
) -> Stream:
    """Downloads a stream's files and imports them.

    Args:
        name: A stream with a manifest.
        folder: The data folder.
        offline: Whether to use only files downloaded before.
        force: Whether to replace a stream of that name.
        progress: Whether to show a progress bar.
        patient: Whether to try again and wait; otherwise one short try, for a machine that may have no network.
    """
    folder = data_folder(folder)
    known = manifests()
    if name not in known:
        raise (UsageError(f"{name} is embedded, nothing to fetch") if name in twins() else _unknown(name, folder))
    manifest = known[name]
    if not manifest.files:
        raise DataError(
            f"{name} has no public download; get its files and run 'lgl-bench data import {name} --from PATH'"
        )
    if (folder / name).exists() and not force:
        raise UsageError(f"{folder / name} exists already; give --force to replace it")
    downloads = folder / "downloads" / name
    paths = [
        fetch(
            Download(f.name, f.urls, f.sha256),
            downloads,
            offline=offline,
            progress=progress,
            retries=5 if patient else 0,
            timeout=30.0 if patient else 5.0,
        )
        for f in manifest.files
    ]
    return import_stream(name, paths[0] if len(paths) == 1 else downloads, folder, force=force)


def check_name(name: str) -> None:
    """Whether a stream of somebody's own may have that name.

    Raises:
        UsageError: It may not.
    """
    if name in twins() or name.endswith(TWIN):
        raise UsageError(f"'{name}' is the name of an embedded twin; choose another, real data must not pass for one")
    if not is_name(name):
        raise UsageError(
            f"{name!r} cannot be a stream's name; use letters, digits, dashes, dots and underscores, without spaces or "
            f"parts of a path, {_LONGEST_NAME} characters at most"
        )


def _unknown(name: str, folder: Path) -> UnknownNameError:
    known = {*manifests(), *twins(), *imported(folder)}
    return UnknownNameError("stream", name, known, "'lgl-bench data list' shows them all")
